import { keyChanged, readProperty, writeProperty, type Loaded, type Snapshot } from '../../../codec/index.js'
import type { DeleteCommand, Ttl, WriteCommand } from '../../../plan/command.js'
import type { Outcome } from '../../../plan/outcome.js'
import { accumulates, afterDoubt, binsAddedTo, binsReplaced } from '../../../plan/after-doubt.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import { identityOf } from '../../tracking/record-map.js'
import { changedTtl } from './ttl.js'
import { clearWriteOptions, type WriteOptions } from '../../tracking/write-options.js'

/** A command for an entity's own record, and how the entity takes over what became of it. */
export interface PlannedRecord {
  readonly command: WriteCommand | DeleteCommand
  /** True when what was wanted is done. */
  settle(outcome: Outcome): boolean
}

/** A write of the entity's own record. An object and not a set of closures, because each save makes one. */
export abstract class RecordWrite implements PlannedRecord {
  readonly managed: ManagedEntity
  readonly command: WriteCommand
  /** Taken when the command was made: the entity may have been changed again since. */
  readonly #snapshot: Snapshot
  readonly #loaded: Loaded
  readonly #ttl: Ttl
  readonly #growth: number
  /** What the command grants; others may wish for more while it is under way. */
  readonly #wishes: readonly WriteOptions[] | undefined
  /** What the entity's own property said of the time to live. */
  readonly #shownTtl: unknown

  constructor(managed: ManagedEntity, command: WriteCommand, snapshot: Snapshot, ttl: Ttl, growth = 0) {
    this.managed = managed
    this.command = command
    this.#snapshot = snapshot
    this.#loaded = managed.loaded
    this.#ttl = ttl
    this.#growth = growth
    this.#wishes = managed.writeOptions
    const { ttlProperty } = managed.model
    this.#shownTtl = ttlProperty === undefined ? undefined : readProperty(managed.entity, ttlProperty)
  }

  /** Shows the version and times of this write on the entity. */
  protected abstract stamp(outcome: Outcome): void

  settle(outcome: Outcome): boolean {
    if (outcome.state === 'written') this.confirm(outcome)
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
    if (managed.state === 'new') managed.state = 'stored'
    managed.snapshot = this.#taken()
    clearWriteOptions(managed, this.#wishes)
    managed.doubt = undefined
    managed.unmeasured = outcome.size === undefined ? managed.unmeasured + this.#growth : 0
    this.stamp(outcome)
    showMeta(managed, outcome, this.#ttl, this.#shownTtl)
  }

  /** The snapshot of this write, and what a load has completed since. */
  #taken(): Snapshot {
    const { managed } = this
    if (this.#loaded !== undefined && managed.loaded !== this.#loaded && managed.snapshot !== undefined) {
      managed.mapped.codec.keepRead(managed.snapshot, this.#snapshot, this.#loaded, managed.loaded)
    }
    return this.#snapshot
  }

  /** What may happen once only is looked up by the next flush; what adds up is never sent again; all else is, or is looked up if it was changed since. */
  #doubt({ command }: Outcome): void {
    const { managed } = this
    const { codec } = managed.mapped
    const next = afterDoubt(command)
    // What is stored is not known any more, and equals nothing.
    const { ttlProperty } = managed.model
    const wasChanged = ttlProperty !== undefined && (this.#shownTtl ?? undefined) !== (managed.ttl ?? undefined)
    if (wasChanged || changedTtl(managed) !== undefined) managed.ttl = NaN
    if (next === 'report' && managed.snapshot !== undefined) {
      codec.advance(managed.snapshot, this.#snapshot, binsAddedTo(command))
      clearWriteOptions(
        managed,
        this.#wishes?.filter(({ change }) => change !== undefined && accumulates(change.operation)),
      )
    }
    const isLeft = next === 'readBack' || managed.overwrite || codec.propertiesIn(binsReplaced(command)).length > 0
    // It may have been merged with others, so it is the outcome's command that is looked up.
    if (isLeft) managed.doubt = { command, sent: this.#snapshot, confirm: (outcome) => this.confirm(outcome) }
  }
}

function showMeta(managed: ManagedEntity, outcome: Outcome, ttl: Ttl, shown: unknown): void {
  const { generationProperty, ttlProperty } = managed.model
  if (generationProperty !== undefined && outcome.generation !== undefined) {
    writeProperty(managed.entity, generationProperty, outcome.generation)
  }
  if (ttlProperty === undefined || ttl === 'keep') return
  // What the namespace's default is worth, only the next load can tell.
  managed.ttl = ttl === 'never' ? null : ttl === 'default' ? undefined : ttl
  // What was set since the command was made is for the next one.
  if (readProperty(managed.entity, ttlProperty) !== shown) return
  writeProperty(managed.entity, ttlProperty, managed.ttl ?? null)
}

/** A whole record is written under the key that the session knows the entity by, so its key properties must still say so. */
export function checkKey({ mapped, entity, key, home, model }: ManagedEntity): void {
  const { properties } = model.key
  if (properties.length === 1 && readProperty(entity, properties[0]) === key.key) return
  const now = mapped.codec.key.keyOf(entity)
  if (identityOf(mapped.recordKey(now, home.tenant).key) !== identityOf(key.key)) throw keyChanged(model, key.key, now)
}
