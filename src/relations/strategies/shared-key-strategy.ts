import { readProperty, type EntityKey } from '../../codec/index.js'
import { describeKey, type KeyValue } from '../../keys/index.js'
import { SkeinError } from '../../errors/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import { read, remove, type Bins } from '../../plan/command.js'
import type { Draft } from '../../plan/draft.js'
import { isWrittenOrMissing } from '../../plan/outcome.js'
import { userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Tracked } from '../contract/tracked.js'
import type { Reader } from '../contract/reader.js'
import type { Cascade } from '../contract/contributor.js'
import { isCreation, isEntity, isNew, type Member } from '../contract/member.js'
import { findAndReachLeaving } from '../cascade/children.js'
import { markDeleting } from '../write/delete-marker.js'
import { lookingAgain } from '../write/explain-reads.js'
import { held, linkWrite } from '../write/link-bin.js'
import { askOwner } from '../write/owner-there.js'
import { ownerGone, restricted } from '../contract/relation-errors.js'
import type { RefState } from '../state/ref-state.js'
import { refStateOf } from '../state/state-of.js'
import type { RelationStrategy } from '../contract/relation-strategy.js'
import type { LinkVerification } from '../contract/link-verification.js'
import { CreatedFor } from '../write/record-store.js'
import { createdForLinks, sameKeyEnd } from '../verify/leftover-links.js'

/**
 * The other lives under the same user key, in another set or namespace: nothing is stored for the relation itself. It is read in the
 * same batch as this entity, and saved as the record of its own that it is.
 */
export class SharedKeyStrategy implements RelationStrategy {
  readonly relation: string
  readonly model: RelationModel
  readonly bins: readonly string[] = []
  readonly leftovers: LinkVerification | undefined
  readonly #target: EntityModel
  readonly #targetKey: EntityKey
  /** The relation that leads back here. */
  readonly #inverse: RelationModel | undefined
  /** Notes in the target's record, where we own it. */
  readonly #forUs: CreatedFor | undefined
  /** Notes in our record, where the target owns us. */
  readonly #forTarget: CreatedFor | undefined

  constructor(model: RelationModel, owner: EntityModel, target: EntityModel, targetKey: EntityKey) {
    this.relation = model.name
    this.model = model
    this.#target = target
    this.#targetKey = targetKey
    this.#inverse = target.relations.find(({ name }) => name === model.inverse)
    this.leftovers = createdForLinks(model, owner, target, { held: (key) => sameKeyEnd(owner, key) })
    this.#forUs = CreatedFor.of(owner, model, target)
    this.#forTarget = this.#inverse && CreatedFor.of(target, this.#inverse, owner)
  }

  listed(_stored: Bins, { key }: RecordKey): readonly UserKey[] {
    return [key]
  }

  hasChanges({ entity }: Tracked): boolean {
    const { target, binding } = this.#state(entity)
    return isEntity(target) && isNew(target, binding!.reader)
  }

  async cascade(tracked: Tracked, reach: Cascade, reader: Reader): Promise<void> {
    if (tracked.state === 'removed') return this.#reachOnDelete(tracked, reach, reader)
    const { target } = this.#state(tracked.entity)
    if (!isEntity(target) || !isNew(target, reader)) return
    this.accept(tracked, target, reader)
    reach.save(target)
  }

  /** Ties a new entity to the owner whose delete cascades to it, so that it is deleted even if that delete is in flight. */
  save(tracked: Tracked, draft: Draft, reader: Reader): void {
    const { target } = this.#state(tracked.entity)
    if (isEntity(target)) this.#forUs?.note(reader.tracked(target), tracked.key, draft)
    if (target !== null)
      this.#forTarget?.note(tracked, reader.recordKey(this.#target, reader.keyOf(tracked.entity)!), draft)
    if (!isCreation(tracked) || target === null || this.#inverse?.onDelete !== 'cascade') return
    const owner = reader.known(this.#target.name, reader.keyOf(tracked.entity)!)
    if (owner?.state === 'new') return draft.tie(tracked.key, owner.key)
    const key = reader.recordKey(this.#target, reader.keyOf(tracked.entity)!)
    if (draft.isInside) return draft.add('write', held(this.#target, key), ({ state }) => state === 'written')
    draft.add('write', linkWrite(tracked.model, tracked.key, [], 'mustNotExist'), (outcome) => {
      if (outcome.state !== 'written') return false
      askOwner(this.#target, key, draft, reader, (error) => this.#rollback(tracked, draft, reader, error))
      return true
    })
  }

  #rollback(tracked: Tracked, draft: Draft, reader: Reader, error: SkeinError | undefined): void {
    const { model, key } = tracked
    const why = error ?? ownerGone(this.#target, reader.keyOf(tracked.entity)!)
    draft.add('undo', remove(model.name, key, { durableDelete: model.durableDelete }), ({ state }) => {
      if (state === 'written') reader.startAnew(tracked)
      return why
    })
  }

  /** Until it is gone, the record says that nobody may join it. */
  remove(tracked: Tracked, draft: Draft): void {
    if (this.model.onDelete !== 'cascade') return
    draft.follow('mark', lookingAgain(tracked, this.model))
    if (!draft.isTransaction) draft.add('mark', markDeleting(tracked), isWrittenOrMissing)
  }

  /** A new entity without a key takes this one's; any other key would be another entity's. */
  accept(tracked: Tracked, target: Member | null, reader: Reader): void {
    const own = reader.keyOf(tracked.entity)!
    const { target: before } = this.#state(tracked.entity)
    if (target === null) {
      if (isEntity(before) && !isNew(before, reader) && reader.tracked(before)?.state !== 'removed')
        throw this.#cannotDetach(tracked)
      return
    }
    const key = isEntity(target) ? reader.keyOf(target) : target
    if (key === null) this.#targetKey.assign(target as object, own)
    else if (userKeyId(key) !== userKeyId(own)) throw this.#otherKey(tracked, describeKey(key))
  }

  meet(owner: Tracked, other: Tracked | null): void {
    const state = this.#state(owner.entity)
    // An unsaved target set in this session stays.
    if (state.isRead && isEntity(state.target)) return
    state.meet(other?.entity ?? null)
    const { inverse } = this.model
    if (other === null || inverse === undefined) return
    refStateOf(readProperty(other.entity, inverse) as object).meet(owner.entity)
  }

  /** The key is the same; only its own record tells whether there is one. */
  targetKey({ model, key }: Tracked, reader: Reader): Promise<KeyValue> {
    return Promise.resolve(reader.fromStored(model, key.key))
  }

  async load(level: readonly Tracked[], reader: Reader, along?: readonly string[]): Promise<readonly Tracked[]> {
    const unknown = level.filter(({ entity }) => !this.#state(entity).isRead)
    const keys = unknown.map(({ entity }) => reader.keyOf(entity)!)
    const found = await reader.find(this.#target, keys, along)
    unknown.forEach((owner, i) => this.meet(owner, found[i]))
    return level.flatMap(({ entity }) => {
      const { target } = this.#state(entity)
      return isEntity(target) ? (reader.tracked(target) ?? []) : []
    })
  }

  async #reachOnDelete(tracked: Tracked, reach: Cascade, reader: Reader): Promise<void> {
    const { onDelete } = this.model
    if (onDelete === 'detach') return
    // Joining an owner touches its record: the transaction that reads it here notices.
    if (reader.isInside) await reader.read([read(tracked.model.name, tracked.key, 'none')])
    const [other] = await findAndReachLeaving(this.#target, [reader.keyOf(tracked.entity)!], reach, reader)
    if (other === undefined) return
    if (onDelete === 'restrict') throw restricted(tracked, this.model, reader.keyOf(tracked.entity)!)
    reach.remove(other.entity)
  }

  #state(entity: object): RefState {
    return refStateOf(readProperty(entity, this.relation) as object)
  }

  #otherKey({ model, key }: Tracked, found: string): SkeinError {
    const message = `${this.#target.name} ${found} cannot be the ${this.relation} of ${model.name} ${describeKey(key.key)}: they share one key.`
    return new SkeinError('SKEIN_2405', message, {
      className: model.name,
      property: this.relation,
      key: key.key,
      fix: `Leave the key of the new ${this.#target.name} out, or give it the same one.`,
    })
  }

  #cannotDetach({ model, key }: Tracked): SkeinError {
    const message = `${model.name} ${describeKey(key.key)} and its ${this.relation} share one key, so neither can be detached from the other.`
    return new SkeinError('SKEIN_2406', message, {
      className: model.name,
      property: this.relation,
      key: key.key,
      fix: `Delete the ${this.#target.name}: session.delete(${this.#target.name}, ${describeKey(key.key)}).`,
    })
  }
}
