import { readProperty } from '../../../codec/index.js'
import { remove } from '../../../plan/command.js'
import type { Draft } from '../../../plan/draft.js'
import type { Outcome } from '../../../plan/outcome.js'
import { userKeyId, type RecordKey } from '../../../plan/record-key.js'
import { readAgain, stillAt, whileChildOf } from '../../cascade/children.js'
import { leaves } from '../../cascade/restrict.js'
import type { Cascade } from '../../contract/contributor.js'
import type { Reader } from '../../contract/reader.js'
import { restricted } from '../../contract/relation-errors.js'
import type { Tracked } from '../../contract/tracked.js'
import type { RefState } from '../../state/ref-state.js'
import { parentRef, refStateOf } from '../../state/state-of.js'
import { detaching } from '../../write/explain-reads.js'
import { keyBefore, readBefore } from '../../write/link-bin.js'
import { together } from '../../../plan/plan-draft.js'
import type { KeyBinReads } from './key-bin-reads.js'
import type { KeyBinSides } from './key-bin-sides.js'
import type { ListLeaving } from './list-leaving.js'

/** Deletes of a record with the key: the owner's list forgets it, and the other goes too where the relation says so. */
export class KeyBinDeletion {
  readonly #sides: KeyBinSides
  readonly #reads: KeyBinReads
  readonly #leaving: ListLeaving

  constructor(sides: KeyBinSides, reads: KeyBinReads, leaving: ListLeaving) {
    this.#sides = sides
    this.#reads = reads
    this.#leaving = leaving
  }

  /** Deletes an entity that has left a collection which keeps no orphans. */
  reachOrphan(tracked: Tracked, state: RefState, reach: Cascade, reader: Reader): void {
    if (state.stored === null) return
    const isDetaching = (this.#sides.list ?? this.#sides.indexed)!.onDelete === 'detach'
    // An owner that is deleted itself and detaches its members detaches this one, too.
    if (isDetaching && reader.known(this.#sides.target.name, state.stored)?.state === 'removed') return
    reach.remove(tracked.entity, stillAt(state, this.#sides.model, reader))
  }

  /** Deletes the other, or refuses the delete, as the relation says. */
  async reachOnDelete(tracked: Tracked, reach: Cascade, reader: Reader): Promise<void> {
    const { onDelete, inverse } = this.#sides.model
    const state = this.#state(tracked.entity)
    await this.#reads.readUnknown([tracked], [state], reader)
    if (state.key === null) return
    // The other one's own reference, where it has one and not a list.
    const back = this.#sides.target.relations.find(({ name, holds }) => name === inverse && holds === 'ref')
    if (leaves(state.key, { owner: tracked, target: this.#sides.target, inverse: back, reach, reader })) return
    const [other] = await this.#reads.load([tracked], reader)
    if (other === undefined) return
    if (onDelete === 'restrict') throw restricted(tracked, this.#sides.model, reader.keyOf(other.entity)!)
    if (back?.bin === undefined) return reach.remove(other.entity)
    await readAgain(tracked, [other], back, reader)
    const ref = parentRef(other.entity, back)
    // Another session has given it to somebody else, and this record is yet to be told.
    const isElsewhere = ref.isStored && ref.key !== null && !ref.mayBeAt(tracked.entity)
    if (!isElsewhere) reach.remove(other.entity, whileChildOf(tracked, other.entity, back, reader))
  }

  /** The record goes, and its key must leave the list first. */
  async remove(tracked: Tracked, draft: Draft, reader: Reader): Promise<void> {
    const state = this.#state(tracked.entity)
    if (this.#sides.list === undefined) return
    const owners = new Map(state.lists.toLeave)
    for (const owner of [state.stored, state.lists.toJoin]) if (owner != null) owners.set(userKeyId(owner), owner)
    const present = !state.isRead || draft.isInside ? await this.#reads.storedOwner(tracked, reader) : null
    if (present !== null) owners.set(userKeyId(present), present)
    // An owner that goes in the same flush takes its list along; until then it is marked.
    const staying = [...owners.values()].filter(
      (owner) => !draft.isDeleting(reader.recordKey(this.#sides.target, owner)),
    )
    await together(staying.map((owner) => this.#leaving.plan(tracked, state, owner, draft, reader)))
    draft.follow('delete', detaching(tracked, this.#sides.target, this.#sides.list.name))
    const told = new Map([...owners].map(([id, owner]) => [id, reader.recordKey(this.#sides.target, owner)]))
    if (!draft.isTransaction) this.#askLast(tracked, state, told, draft, reader)
  }

  /** Another session may have moved the entity since this session read it: the delete tells. */
  #askLast(
    tracked: Tracked,
    state: RefState,
    told: ReadonlyMap<string, RecordKey>,
    draft: Draft,
    reader: Reader,
  ): void {
    const { model, key } = tracked
    const command = remove(model.name, key, {
      operations: [readBefore(this.#sides.model, this.#sides.target)],
      durableDelete: model.durableDelete,
    })
    const settle = ({ state: end, reason, bins }: Outcome): boolean => {
      const before = keyBefore(this.#sides.model, bins)
      const owner = before === null ? null : reader.fromStored(this.#sides.target, before)
      if (owner !== null && !told.has(userKeyId(owner)))
        void this.#leaving.plan(tracked, state, owner, draft, reader, 'undo')
      // The entity stays, and so does its place in the list that its record names.
      if (reason === 'guard') for (const off of told.values()) this.#sides.upkeep!.check(key, { off }, draft, reader)
      return end === 'written' || reason === 'missing'
    }
    draft.add('delete', command, settle)
  }

  #state(entity: object): RefState {
    return refStateOf(readProperty(entity, this.#sides.model.name) as object)
  }
}
