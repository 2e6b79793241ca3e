import { readProperty } from '../codec/index.js'
import { DELETING_BIN, type EntityModel, type RelationModel } from '../model/index.js'
import { write } from '../plan/command.js'
import type { Draft } from '../plan/draft.js'
import { listCreate, writeBin } from '../plan/operations.js'
import type { Outcome } from '../plan/outcome.js'
import { recordId, type RecordKey } from '../plan/record-key.js'
import type { CollectionState } from './collection-state.js'
import type { Reach, Reader, Tracked } from './contributor.js'
import { linkWrite, listed, listMembers, unlisted } from './key-list-bin.js'
import { loadListed } from './load-listed.js'
import { isEntity, type Member } from './member-set.js'
import { restricted } from './relation-errors.js'
import { collectionStateOf } from './states.js'
import type { CollectionMembers, RelationStrategy } from './strategy.js'
import { linkListLinks } from './verify/relation-links.js'
import type { LinkVerification } from './verify/stored-link.js'

/** One end of a link: the record, and the bin that lists the other end. */
interface End {
  readonly model: EntityModel
  readonly key: RecordKey
  readonly bin: string
  readonly isNew: boolean
}

/** Many to many: an ordered list of the others' keys on each side. Whichever side is changed, both are written. */
export class LinkListsStrategy implements RelationStrategy {
  readonly relation: string
  readonly model: RelationModel
  readonly bins: readonly string[]
  readonly members: CollectionMembers
  readonly verification: LinkVerification
  readonly #owner: EntityModel
  readonly #target: EntityModel
  readonly #inverse: RelationModel | undefined

  constructor(model: RelationModel, owner: EntityModel, target: EntityModel, inverse: RelationModel | undefined) {
    this.relation = model.name
    this.model = model
    this.bins = [model.bin!]
    this.members = listMembers(owner, target, model.bin!)
    this.verification = linkListLinks(model, owner, target, inverse)
    this.#owner = owner
    this.#target = target
    this.#inverse = inverse
  }

  hasChanges({ entity }: Tracked): boolean {
    return this.#state(entity).isChanged
  }

  async reach(tracked: Tracked, reach: Reach, reader: Reader): Promise<void> {
    if (tracked.state === 'removed') return this.#reachOnDelete(tracked, reach, reader)
    for (const member of this.#state(tracked.entity).added.entities) {
      if ((reader.tracked(member)?.state ?? 'new') === 'new') reach.save(member)
    }
  }

  save(tracked: Tracked, draft: Draft, reader: Reader): void {
    const state = this.#state(tracked.entity)
    if (tracked.state === 'new') {
      const create = listCreate(this.model.bin!, 'ordered', true)
      draft.add('write', linkWrite(this.#owner, tracked.key, [create], 'mustNotExist'), isWritten)
    }
    for (const member of state.added) this.#plan('add', tracked, member, state, draft, reader)
    for (const member of state.removed) this.#plan('remove', tracked, member, state, draft, reader)
  }

  /** The others forget it first; until it is gone, the record says that it is on its way. */
  async remove(tracked: Tracked, draft: Draft, reader: Reader): Promise<void> {
    if (this.#inverse === undefined) return
    const keys = await this.members.keys(tracked, reader)
    if (keys.length === 0) return
    if (!draft.isTransaction) {
      const mark = write(this.#owner.name, tracked.key, [writeBin(DELETING_BIN, true)], {
        exists: 'mustExist',
        ttl: 'keep',
      })
      draft.add('mark', mark, isWrittenOrMissing)
    }
    for (const key of keys) {
      const other = reader.recordKey(this.#target, key)
      draft.add(
        'remove references',
        unlisted(this.#target, other, this.#inverse.bin!, tracked.key.key),
        isWrittenOrMissing,
      )
    }
  }

  load(level: readonly Tracked[], reader: Reader, along?: readonly string[]): Promise<readonly Tracked[]> {
    return loadListed(this.model, this.#target, level, reader, along)
  }

  #state(entity: object): CollectionState {
    return collectionStateOf(readProperty(entity, this.relation) as object)
  }

  #plan(
    change: 'add' | 'remove',
    tracked: Tracked,
    member: Member,
    state: CollectionState,
    draft: Draft,
    reader: Reader,
  ): void {
    const { ends, settle } = this.#link(tracked, member, state, reader)
    if (!draft.once(`${change} ${linkId(this.model, ends)}`)) return
    let open = ends.length
    const done = (): boolean => {
      if (--open === 0) settle()
      return true
    }
    ends.forEach((end, i) => {
      const other = ends[1 - i]?.key.key ?? reader.recordKey(this.#target, state.added.keyOfMember(member)!).key
      if (change === 'remove') {
        draft.add('remove references', unlisted(end.model, end.key, end.bin, other), (outcome) =>
          isWrittenOrMissing(outcome) ? done() : false,
        )
        return
      }
      draft.add('add references', listed(end.model, end.key, end.bin, other), (outcome) => {
        if (outcome.state === 'written') return done()
        // One end is gone, so the other must not point to it.
        const back = ends[1 - i]
        if (back && (outcome.reason === 'missing' || outcome.reason === 'guard')) {
          draft.add('undo', unlisted(back.model, back.key, back.bin, end.key.key), isWrittenOrMissing)
        }
        return false
      })
    })
  }

  #link(tracked: Tracked, member: Member, state: CollectionState, reader: Reader): { ends: End[]; settle: () => void } {
    const here: End = { model: this.#owner, key: tracked.key, bin: this.model.bin!, isNew: tracked.state === 'new' }
    const settleHere = (): void => state.settle(member)
    if (this.#inverse === undefined) return { ends: [here], settle: settleHere }
    const key = state.added.keyOfMember(member)!
    const other = isEntity(member) ? reader.tracked(member) : reader.known(this.#target.name, key)
    const there: End = {
      model: this.#target,
      key: reader.recordKey(this.#target, key),
      bin: this.#inverse.bin!,
      isNew: other?.state === 'new',
    }
    const inverse = this.#inverse.name
    const settle = (): void => {
      settleHere()
      if (other) collectionStateOf(readProperty(other.entity, inverse) as object).settle(tracked.entity)
    }
    return { ends: [here, there], settle }
  }

  async #reachOnDelete(tracked: Tracked, reach: Reach, reader: Reader): Promise<void> {
    const { onDelete } = this.model
    if (onDelete === 'detach') return
    const keys = await this.members.keys(tracked, reader)
    if (onDelete === 'restrict' && keys.length > 0) throw restricted(tracked, this.model, keys.length)
    if (onDelete !== 'cascade') return
    for (const other of await reader.find(this.#target, keys)) if (other !== null) reach.remove(other.entity)
  }
}

/** The same text from both sides of a link. */
function linkId(relation: RelationModel, ends: readonly End[]): string {
  const ids = ends.map(({ key, bin }) => `${recordId(key)}#${bin}`)
  return (relation.owner ? ids : ids.reverse()).join(' ~ ')
}

const isWritten = ({ state }: Outcome): boolean => state === 'written'
const isWrittenOrMissing = ({ state, reason }: Outcome): boolean => state === 'written' || reason === 'missing'
