import { keyChanged, readProperty, writeProperty, type Loaded, type Snapshot } from '../../../codec/index.js'
import { type DeleteCommand, type Ttl, type WriteCommand, write, writeBins } from '../../../plan/command.js'
import { accumulates, afterDoubt, binsAddedTo, binsReplaced } from '../../../plan/effects.js'
import type { Outcome } from '../../../plan/outcome.js'
import { badTtl, cannotExpire } from '../../context/session-errors.js'
import { ownOptions } from '../../counters/own-changes.js'
import { identityOf } from '../../tracking/identity-map.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import { StoredState } from '../../tracking/stored-state.js'
import type { WriteOptions } from '../../tracking/write-options.js'
import type { Change } from '../../../records/change.js'
import { checkDerived } from '../../tracking/assigned-values.js'
import { recorded } from '../../tracking/record-meanwhile.js'
import type { SentWrite } from '../../tracking/sent-write.js'
import { growthOf, isLarge, isWorthMeasuring } from '../../../plan/wire-bytes.js'

/** A command for an entity's own record, and how the entity takes over its outcome. */
export interface PlannedRecord {
  readonly command: WriteCommand | DeleteCommand
  /** True when what was wanted is done. */
  settle(outcome: Outcome): boolean
}

/** A write of the entity's own record, which shows nothing on it by itself. An object and not a set of closures, because each save makes one. */
export class RecordWrite implements PlannedRecord, SentWrite {
  readonly managed: ManagedEntity
  readonly command: WriteCommand
  /** Taken when the command was made: the entity may have been changed again since. */
  readonly sent: Snapshot
  readonly #loaded: Loaded
  readonly #ttl: Ttl
  readonly #growth: number
  /** Options that the command carries out; calls may add others while it is under way. */
  #options: readonly WriteOptions[] | undefined
  /** True once what it adds counts as written, though the answer was lost. */
  #isReported = false
  #recorded: Set<string> | undefined
  /** Time to live that the entity's own property showed when the command was made. */
  readonly #shownTtl: unknown

  constructor(managed: ManagedEntity, command: WriteCommand, snapshot: Snapshot, ttl: Ttl, growth = 0) {
    this.managed = managed
    this.command = command
    this.sent = snapshot
    this.#loaded = managed.loaded
    this.#ttl = ttl
    this.#growth = growth
    this.#options = managed.mapped.shards === undefined ? managed.writeOptions : ownOptions(managed)
    const { ttlProperty } = managed.model
    this.#shownTtl = ttlProperty === undefined ? undefined : readProperty(managed.entity, ttlProperty)
  }

  /** Version of the record after this write. */
  protected versionAfter(_outcome: Outcome): number | undefined {
    return this.managed.version
  }

  /** Shows the version and times of this write on the entity. */
  protected stamp(_version: number | undefined): void {}

  knows(property: string): boolean {
    if (this.#loaded === undefined || this.#loaded.has(property)) return true
    const part = this.#loaded.parts?.get(property)
    return part !== undefined && this.managed.loaded?.parts?.get(property) === part
  }

  recordSent(property: string, _since: readonly WriteOptions[]): void {
    const { managed, command } = this
    const known = new Set(this.#options?.map(({ change }) => change?.operation))
    const operations = (command.operations as readonly Change['operation'][]).filter((operation) => {
      if (known.has(operation) || (this.#isReported && accumulates(operation))) return false
      return managed.mapped.codec.propertiesIn(new Set([operation.bin])).includes(property)
    })
    this.carryOut(
      property,
      operations.map((operation) => recorded(property, operation)),
    )
  }

  /** Records changes of a property that this write carries out. */
  protected carryOut(property: string, changes: readonly WriteOptions[]): void {
    ;(this.#recorded ??= new Set()).add(property)
    for (const option of changes) this.managed.addWriteOptions(option)
    this.#options = [...(this.#options ?? []), ...changes]
  }

  /** Does nothing for most writes: no change depends on their success alone. */
  drop(): void {}

  settle(outcome: Outcome): boolean {
    this.managed.endWrite()
    if (outcome.state === 'written') this.confirm(outcome)
    else this.drop()
    if (outcome.state === 'inDoubt') this.#doubt(outcome)
    if (outcome.state === 'notWritten') this.#forgetRemoved()
    return outcome.state === 'written'
  }

  /** Removed while it was to be created, which has failed: what is stored under its key, if anything, is not this entity's. */
  #forgetRemoved(): void {
    const { managed } = this
    if (managed.state === 'removed' && managed.snapshot === undefined) managed.home.remove(managed)
  }

  confirm(outcome: Outcome): void {
    const { managed } = this
    const { stored } = managed
    const snapshot = this.#taken()
    const version = this.versionAfter(outcome)
    const ttl = this.#ttlAfter()
    const unmeasured = outcome.size === undefined ? (stored?.unmeasured ?? 0) + this.#growth : 0
    managed.clearWriteOptions(this.#options)
    managed.written(
      stored?.written(snapshot, version, ttl, unmeasured) ??
        new StoredState(snapshot, undefined, version, ttl, unmeasured),
    )
    // An entity that cannot show what was written, such as a frozen one, is written all the same.
    this.stamp(version)
    this.#showMeta(outcome)
  }

  /** Time to live that the record has now; what the namespace's default is worth, only the next load can tell. */
  #ttlAfter(): number | null | undefined {
    const ttl = this.#ttl
    if (this.managed.model.ttlProperty === undefined || ttl === 'keep') return this.managed.ttl
    return ttl === 'never' ? null : ttl === 'default' ? undefined : ttl
  }

  #showMeta({ generation }: Outcome): void {
    const { entity, model, ttl } = this.managed
    const { generationProperty, ttlProperty } = model
    if (generationProperty !== undefined && generation !== undefined)
      writeProperty(entity, generationProperty, generation)
    if (ttlProperty === undefined || this.#ttl === 'keep') return
    // A value that was set since the command was made is for the next one.
    if (readProperty(entity, ttlProperty) === this.#shownTtl) writeProperty(entity, ttlProperty, ttl ?? null)
  }

  /** The snapshot of this write, and what a load has completed since. */
  #taken(): Snapshot {
    const { managed } = this
    if (this.#loaded !== undefined && managed.loaded !== this.#loaded && managed.snapshot !== undefined) {
      managed.mapped.codec.keepRead(managed.snapshot, this.sent, this.#loaded, managed.loaded)
    }
    // A sharded counter is known to its companions' writes alone.
    if (managed.mapped.shards !== undefined && managed.snapshot !== undefined)
      managed.mapped.codec.advance(this.sent, managed.snapshot, managed.mapped.shards.bins)
    return this.sent
  }

  /** A write that may happen once only is looked up by the next flush, one that adds up is never sent again; any other is, or is looked up if it was changed since. */
  #doubt({ command }: Outcome): void {
    const { managed } = this
    const { codec } = managed.mapped
    const next = afterDoubt(command)
    const { ttlProperty } = managed.model
    const wasChanged = ttlProperty !== undefined && (this.#shownTtl ?? undefined) !== (managed.ttl ?? undefined)
    const isTtlSent = wasChanged || changedTtl(managed) !== undefined
    if (isTtlSent && managed.stored !== undefined) managed.learn(managed.stored.withUnknownTtl())
    if (next === 'report' && managed.snapshot !== undefined) {
      this.#isReported = true
      codec.advance(managed.snapshot, this.sent, binsAddedTo(command))
      managed.clearWriteOptions(
        this.#options?.filter(({ change }) => change !== undefined && accumulates(change.operation)),
      )
    }
    const isLeft = next === 'readBack' || managed.overwrite || codec.propertiesIn(binsReplaced(command)).length > 0
    // The outcome's command is looked up, because it may have been merged with others.
    if (isLeft)
      managed.putInDoubt({
        command,
        write: this,
        sent: this.sent,
        recorded: (this.#recorded ??= new Set()),
        isTtlSent,
        confirm: (outcome) => this.confirm(outcome),
      })
  }
}

/** A whole record is written under the key that the session knows the entity by, so its key properties must still say so. */
export function checkKey({ mapped, entity, key, home, model }: ManagedEntity): void {
  if (mapped.codec.key.isShown(entity, key.key)) return
  const now = mapped.codec.key.keyOf(entity)
  if (identityOf(mapped.recordKey(now, home.tenant).key) !== identityOf(key.key)) throw keyChanged(model, key.key, now)
}

// The longest that the server takes.
const TEN_YEARS = 315_360_000

/** The expiry a whole record gets: asked for by this save, by the entity, by its class, in this order. */
export function ttlOfNew(managed: ManagedEntity): Ttl {
  const { ttlProperty, ttl } = managed.model
  const own = ttlProperty === undefined ? undefined : ownTtl(managed, ttlProperty)
  return checkTtl(managed, managed.requestedTtl ?? own ?? ttl.seconds)
}

/** Nothing in the property of a new entity asks for nothing. */
function ownTtl(managed: ManagedEntity, property: string): Ttl | undefined {
  return shownTtl(managed, property) ?? (managed.ttl === undefined ? undefined : 'never')
}

/** The expiry an update gives: it stays as it is unless this save, the entity or its class says otherwise. */
export function ttlOfUpdate(managed: ManagedEntity): Ttl {
  if (managed.requestedTtl !== undefined) return checkTtl(managed, managed.requestedTtl)
  const changed = changedTtl(managed)
  if (changed !== undefined) return checkTtl(managed, changed)
  const { seconds, onUpdate } = managed.model.ttl
  return onUpdate === 'refresh' ? seconds : 'keep'
}

/** True when a write is wanted for the expiry alone. */
export const wantsTtl = (managed: ManagedEntity): boolean =>
  managed.requestedTtl !== undefined || changedTtl(managed) !== undefined

/** Time to live that the entity's own property asks for; undefined while it shows what is stored. */
export function changedTtl(managed: ManagedEntity): Ttl | undefined {
  const { ttlProperty } = managed.model
  if (ttlProperty === undefined) return undefined
  const now = shownTtl(managed, ttlProperty)
  return now === (managed.ttl ?? undefined) ? undefined : (now ?? 'never')
}

/** Time to live in the entity's property; null and undefined say that the record never expires. */
export function shownTtl(managed: ManagedEntity, property: string): number | undefined {
  return (readProperty(managed.entity, property) as number | null | undefined) ?? undefined
}

export function checkTtl({ mapped }: Pick<ManagedEntity, 'mapped'>, ttl: Ttl): Ttl {
  if (ttl === 'keep' || ttl === 'default' || ttl === 'never') return ttl
  if (mapped.shards !== undefined) throw cannotExpire(mapped)
  if (Number.isInteger(ttl) && ttl >= 1 && ttl <= TEN_YEARS) return ttl
  throw badTtl(mapped, ttl)
}

/** The write that creates the record of a new entity. */
export function planInsert(managed: ManagedEntity, now: Date): RecordWrite {
  checkKey(managed)
  if (managed.mapped.hasDerived) checkDerived(managed)
  const ttl = ttlOfNew(managed)
  const { mapped, entity } = managed
  const command = creationOf(managed, ttl, now)
  return new RecordInsert(managed, command, mapped.codec.snapshot(entity), ttl, now)
}

function creationOf(managed: ManagedEntity, ttl: Ttl, now: Date): WriteCommand {
  const { entity, key, model, mapped } = managed
  const { codec } = mapped
  const { name, sendKey, generationProperty } = model
  const watchGeneration = generationProperty !== undefined
  const stamps = codec.stamps.isEmpty ? [] : codec.stamps.creation(entity, now)
  const bins = codec.createBins(entity)
  if (bins !== undefined && stamps.length === 0) {
    return writeBins(name, key, bins, {
      exists: 'mustNotExist',
      ttl,
      sendKey,
      watchGeneration,
      watchSize: isLarge(bins),
    })
  }
  const operations = [...codec.create(entity), ...stamps]
  const watchSize = isWorthMeasuring(managed, growthOf(operations))
  return write(name, key, operations, { exists: 'mustNotExist', ttl, sendKey, watchGeneration, watchSize })
}

class RecordInsert extends RecordWrite {
  readonly #now: Date

  constructor(managed: ManagedEntity, command: WriteCommand, snapshot: Snapshot, ttl: Ttl, now: Date) {
    super(managed, command, snapshot, ttl)
    this.#now = now
  }

  protected override versionAfter(): number | undefined {
    return this.managed.model.version === undefined ? undefined : 1
  }

  /** A creation that fails is sent again as the entity is then. */
  override recordSent(): void {}

  protected override stamp(): void {
    const { mapped, entity } = this.managed
    const { stamps } = mapped.codec
    if (!stamps.isEmpty) stamps.created(entity, this.#now)
  }
}
