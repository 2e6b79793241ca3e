import type { Driver } from '../../driver/driver.js'
import { SkeinError } from '../../errors/index.js'
import type { Tenant } from '../../keys/index.js'
import type { OutsideTransaction } from '../../model/index.js'
import type { FoundRecord } from '../../plan/outcome.js'
import { query } from '../../plan/query-command.js'
import type { Finding } from '../../relations/contract/finding.js'
import { Verifier } from '../../relations/verify/verifier.js'
import type { Subject, VerifyAccess } from '../../relations/verify/verify-access.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { areArchived, verifyMoved } from './archive-verifier.js'
import { verifyCopies } from './copy-verifier.js'
import { verifyCounts } from './count-verifier.js'
import { verifyLayouts } from './layout-verifier.js'
import { CompanionCountVerifier } from './companion-count-verifier.js'
import { CompanionVerifier } from './companion-verifier.js'
import { subjectOf, verifyAccess, type FinishDelete } from './verify-access.js'
import { strayCompanions } from './stray-companions.js'
import { verifyTerms, type VerifyOptions } from './verify-options.js'

/** Records checked together: their links share batches. */
const GROUP = 100

/** Progress of a run. */
export interface VerifyProgress {
  /** Records that were looked at. */
  readonly records: number
  readonly findings: number
  readonly repaired: number
  /** Disagreements that were not judged, because a record had changed too recently; another run may find them settled. */
  readonly unsettled: number
}

export interface VerifySetOptions extends VerifyOptions, OutsideTransaction {
  /** `'archive'`: checks the records that are archived. */
  readonly from?: 'archive'
  /** Tenant whose records are wanted, where the keys of the class belong to tenants. */
  readonly tenant?: Tenant
  readonly onProgress?: (progress: VerifyProgress) => unknown
}

/** Streams the records of some classes and checks the links that they store. */
export async function* verifySets(
  sets: readonly MappedClass[],
  classes: MappedClasses,
  driver: Driver,
  options: VerifySetOptions,
  finishDelete: FinishDelete,
): AsyncGenerator<Finding> {
  const { tenant, signal, onProgress } = options
  const access = verifyAccess(driver, classes, tenant, { signal }, finishDelete)
  const verifier = new Verifier(access, verifyTerms(options))
  const progress = { records: 0, findings: 0, repaired: 0, unsettled: 0 }
  const note = (finding: Finding): Finding => {
    progress.findings++
    if (finding.state === 'repaired') progress.repaired++
    return finding
  }
  let unsettled = 0
  for (const mapped of sets) {
    for await (const group of groupsOf(mapped, driver, signal)) {
      for await (const finding of checkGroup(group, mapped, classes, tenant, verifier, access)) yield note(finding)
      // Records of an archive are reported from outside of it.
      if (options.from === undefined)
        for await (const finding of verifyMoved(mapped, group, driver, tenant, signal)) yield note(finding)
      progress.records += group.length
      progress.unsettled = unsettled + verifier.unsettled
      await onProgress?.({ ...progress })
    }
    if (mapped.hasCounts)
      for await (const finding of verifyCounts(mapped, driver, options.repair === true, tenant, signal))
        yield note(finding)
    if (mapped.hasCopies)
      for await (const finding of verifyCopies(
        mapped,
        classes.copies!,
        driver,
        options.repair === true,
        tenant,
        signal,
      ))
        yield note(finding)
    for await (const finding of verifyLayouts(mapped, classes, driver, options.repair === true, tenant, signal))
      yield note(finding)
    for await (const finding of strayCompanions(mapped, driver, access, options, tenant)) yield note(finding)
    if (mapped.shards === undefined) continue
    const companions = new CompanionVerifier(mapped, driver, verifyTerms(options), tenant, signal)
    for await (const finding of companions.check()) yield note(finding)
    unsettled += companions.unsettled
    progress.records += companions.records
    progress.unsettled = unsettled + verifier.unsettled
    await onProgress?.({ ...progress })
  }
  // Repairs of other classes have changed companions, too, so these counts come last.
  for (const mapped of sets.filter(({ hasCounts }) => hasCounts)) {
    const counts = new CompanionCountVerifier(mapped, driver, access, verifyTerms(options))
    for await (const finding of counts.check(tenant, signal)) yield note(finding)
    if (counts.unsettled === 0) continue
    unsettled += counts.unsettled
    progress.unsettled = unsettled + verifier.unsettled
    await onProgress?.({ ...progress })
  }
}

async function* groupsOf(
  { model, codec }: MappedClass,
  driver: Driver,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly FoundRecord[]> {
  const { name, namespace, set } = model
  const command = query({ entity: name, namespace, set, bins: codec.binsOf([]) })
  for await (const records of driver.query(command, { signal })) {
    for (let i = 0; i < records.length; i += GROUP) {
      signal?.throwIfAborted()
      yield records.slice(i, i + GROUP)
    }
  }
}

async function* checkGroup(
  records: readonly FoundRecord[],
  mapped: MappedClass,
  classes: MappedClasses,
  tenant: Tenant | undefined,
  verifier: Verifier,
  access: VerifyAccess,
): AsyncGenerator<Finding> {
  const subjects: Subject[] = []
  for (const record of records) {
    const found = subjectIn(record, mapped, classes, tenant)
    if (found === undefined) continue
    if (found instanceof SkeinError) yield unreadable(mapped, record, found)
    else subjects.push(found)
  }
  // A record outside of the archive counts, and not the copy that a move has left.
  const areBack = mapped.model.isArchived
    ? await areArchived(
        mapped.model,
        subjects.map(({ key }) => key),
        (commands) => access.read(commands),
      )
    : []
  yield* verifier.check(subjects.filter((_, i) => areBack[i] !== true))
}

/** The record by its own class; undefined for one of another tenant or of a class that is not asked for. */
function subjectIn(
  { bins }: FoundRecord,
  mapped: MappedClass,
  classes: MappedClasses,
  tenant: Tenant | undefined,
): Subject | SkeinError | undefined {
  const { discriminator, key } = mapped.model
  if (discriminator !== undefined && isOfAnother(bins[discriminator.bin], discriminator.subclasses)) return undefined
  let entity: object
  try {
    entity = mapped.codec.hydrate(bins, new Set(key.properties))
    mapped.keyOfRead(entity, tenant)
  } catch (error) {
    if ((error as SkeinError).code === 'SKEIN_2104') return undefined
    return error as SkeinError
  }
  const own = classes.ofEntity(entity)
  try {
    return subjectOf(own, own.recordKey(own.keyOfRead(entity, tenant), tenant))
  } catch (error) {
    if ((error as SkeinError).code === 'SKEIN_2104') return undefined
    throw error
  }
}

function isOfAnother(value: unknown, subclasses: readonly { readonly value: string | number }[]): boolean {
  return !subclasses.some((each) => each.value === value)
}

function unreadable({ model }: MappedClass, { digest }: FoundRecord, error: SkeinError): Finding {
  return {
    kind: 'unreadable',
    className: model.name,
    key: digest,
    truth: model.name,
    repair: 'none',
    state: 'found',
    message: `A record of ${model.name} does not say its key: ${error.message}`,
    error,
  }
}
