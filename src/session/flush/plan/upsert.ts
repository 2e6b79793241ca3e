import { writeProperty, type Snapshot } from '../../../codec/index.js'
import { write, type Ttl, type WriteCommand } from '../../../plan/command.js'
import { bin } from '../../../plan/expression.js'
import type { Operation } from '../../../plan/operation.js'
import { addToBin, readExpression, removeBin } from '../../../plan/operations.js'
import type { Outcome } from '../../../plan/outcome.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import { checkCopies, isVersionAssigned, versionAssigned } from '../../tracking/assigned-values.js'
import { guardImmutableUpsert } from '../../tracking/immutable-values.js'
import { changesSince } from '../../tracking/record-meanwhile.js'
import type { WriteOptions } from '../../tracking/write-options.js'
import { growthOf, isWorthMeasuring } from '../../../plan/wire-bytes.js'
import { checkKey, RecordWrite, ttlOfNew } from './record-write.js'

const NEW_VERSION = '_sk.version'

/**
 * The write that makes a record what the entity is, whatever was stored. The version still counts up, so that a session which
 * knew the old record notices; bins that are not the class's own values, such as lists of references, stay.
 */
export function planUpsert(managed: ManagedEntity, now: Date): RecordWrite {
  const { entity, key, model, mapped } = managed
  const { codec } = mapped
  checkKey(managed)
  checkCopies(managed)
  if (managed.version !== undefined && isVersionAssigned(managed)) throw versionAssigned(managed)
  const versionBin = mapped.binOf(model.version)
  const ttl = ttlOfNew(managed)
  const operations = overwriting(managed, versionBin, now)
  const command = write(model.name, key, operations, {
    exists: 'upsert',
    guards: guardImmutableUpsert(managed),
    ttl,
    sendKey: model.sendKey,
    watchGeneration: model.generationProperty !== undefined,
    watchSize: isWorthMeasuring(managed, growthOf(operations)),
  })
  return new RecordUpsert(managed, command, codec.snapshot(entity), ttl, now)
}

class RecordUpsert extends RecordWrite {
  readonly #now: Date
  /** Changes that are to be sent only if this write succeeds. */
  #later: WriteOptions[] | undefined
  #recorded: Set<string> | undefined

  constructor(managed: ManagedEntity, command: WriteCommand, snapshot: Snapshot, ttl: Ttl, now: Date) {
    super(managed, command, snapshot, ttl)
    this.#now = now
  }

  protected override versionAfter({ bins }: Outcome): number | undefined {
    const { model, mapped } = this.managed
    if (model.version === undefined) return undefined
    // An answer that was lost and read instead has the version in its own bin.
    return (bins[NEW_VERSION] ?? bins[mapped.binOf(model.version)!]) as number
  }

  /** Records what an update would send in its place: an upsert that is refused leaves no write of whole bins behind. */
  override recordSent(property: string, since: readonly WriteOptions[]): void {
    const { managed } = this
    if (managed.snapshot === undefined || this.#recorded?.has(property) === true) return
    ;(this.#recorded ??= new Set()).add(property)
    this.carryOut(property, changesSince(managed, property, managed.snapshot))
    ;(this.#later ??= []).push(...since)
  }

  override drop(): void {
    this.managed.clearWriteOptions(this.#later)
    this.#later = undefined
  }

  protected override stamp(version: number | undefined): void {
    const { entity, model, mapped } = this.managed
    mapped.codec.stamps.created(entity, this.#now)
    if (model.version !== undefined) writeProperty(entity, model.version, version)
  }
}

function overwriting(
  { mapped, entity, snapshot }: ManagedEntity,
  versionBin: string | undefined,
  now: Date,
): readonly Operation[] {
  const { codec, shards } = mapped
  // A sharded counter of a known record is added to, as by an update.
  // Counts and copies go with what they count and copy, which an upsert may leave as it is.
  const counts = new Set(
    mapped.model.properties.flatMap(({ bin, countOf, copy }) => ((countOf ?? copy) === undefined ? [] : [bin])),
  )
  const keeps = (bin: string): boolean =>
    bin === versionBin || counts.has(bin) || (snapshot !== undefined && shards?.has(bin) === true)
  const own = [...codec.create(entity), ...codec.stamps.creation(entity, now)].filter(
    (operation) => !('bin' in operation && keeps(operation.bin)),
  )
  const written = new Set(own.flatMap((operation) => (operation.kind === 'writeBin' ? [operation.bin] : [])))
  const others = mapped.binsOfSet.filter((name) => !keeps(name) && !written.has(name))
  const version =
    versionBin === undefined ? [] : [addToBin(versionBin, 1), readExpression(NEW_VERSION, bin('int', versionBin))]
  return [...others.map(removeBin), ...own, ...version]
}
