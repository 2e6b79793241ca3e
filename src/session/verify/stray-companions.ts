import type { Driver } from '../../driver/driver.js'
import { describeKey, type Tenant } from '../../keys/index.js'
import type { RelationModel } from '../../model/index.js'
import { read } from '../../plan/command.js'
import { query } from '../../plan/query-command.js'
import { showKey } from '../../plan/record-key.js'
import type { Finding } from '../../relations/contract/finding.js'
import { ABOUT_RECORD, readingOf } from '../../relations/verify/read-ends.js'
import type { VerifyAccess } from '../../relations/verify/verify-access.js'
import { companionIn, COMPANION_KEY_BINS, type Companion } from '../load/key-of-found.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { areArchived, leftByMove } from './archive-verifier.js'
import { dropCompanion } from './drop-companion.js'
import { unusedCompanions } from './unused-companions.js'
import { verifyTerms, type VerifyOptions } from './verify-options.js'

/** Records looked at together. */
const GROUP = 100

/** Finds companion records of a class whose owners are gone: those have expired, or were deleted past Skein. */
export async function* strayCompanions(
  mapped: MappedClass,
  driver: Driver,
  access: VerifyAccess,
  options: VerifyOptions,
  tenant: Tenant | undefined,
): AsyncGenerator<Finding> {
  const { name, namespace } = mapped.model
  const relations = new Map(
    mapped.kinds.flatMap(({ relations }) =>
      relations.flatMap((strategy) =>
        strategy.model.companions === undefined ? [] : [[strategy.model.companions.set, strategy] as const],
      ),
    ),
  )
  const bins = COMPANION_KEY_BINS
  for (const [set, { model: relation, growing, store }] of relations) {
    for await (const records of driver.query(query({ entity: name, namespace, set, bins }), {
      signal: options.signal,
    })) {
      for (let i = 0; i < records.length; i += GROUP) {
        const group = records.slice(i, i + GROUP).flatMap((record) => companionIn(record, set, mapped, tenant) ?? [])
        yield* checkGroup(group, relation, mapped, access, options)
        const members = growing ?? store?.growing
        if (members !== undefined) yield* unusedCompanions(group, relation, members, mapped, access, options)
      }
    }
  }
}

async function* checkGroup(
  group: readonly Companion[],
  relation: RelationModel,
  { model }: MappedClass,
  access: VerifyAccess,
  options: VerifyOptions,
): AsyncGenerator<Finding> {
  const { repair, settle } = verifyTerms(options)
  const readRoots = (some: readonly Companion[]) => access.read(some.map(({ root }) => read(model.name, root, 'none')))
  const roots = await readRoots(group)
  const suspects = group.filter((_, i) => roots[i] === null)
  if (suspects.length === 0) return
  const held = await access.areHeld(
    suspects.flatMap(({ key, root }) => [key, root].map((each) => ({ entity: model.name, key: each }))),
  )
  const released = suspects.filter((_, i) => !held[2 * i] && !held[2 * i + 1])
  const still = await readRoots(released)
  const alone = released.filter((_, i) => still[i] === null)
  // A delete takes companions away before their owner: one that is still there was left behind.
  const again = await access.read(alone.map(({ key }) => read(model.name, key, 'none', ABOUT_RECORD)))
  const archived = await areArchived(
    model,
    alone.map(({ root }) => root),
    (commands) => access.read(commands),
  )
  for (const [i, { key, root }] of alone.entries()) {
    const { exists, age, generation } = readingOf(again[i])
    if (!exists || age < settle) continue
    const shown = access.showKey(model, root.key)
    if (archived[i]) {
      yield leftByMove(model, relation.name, shown, key)
      continue
    }
    const result = repair ? await dropCompanion(key, generation, model, access) : ({ state: 'found' } as const)
    yield {
      kind: 'companionWithoutRoot',
      className: model.name,
      property: relation.name,
      key: shown,
      truth: model.name,
      repair: 'remove',
      message: `${showKey(key)} holds ${relation.name} of ${model.name} ${describeKey(shown)}, which has no record.`,
      ...result,
    }
  }
}
