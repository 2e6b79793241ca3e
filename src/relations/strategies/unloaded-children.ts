import type { KeyValue } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import { read } from '../../plan/command.js'
import type { Draft, Settle } from '../../plan/draft.js'
import { writeBin } from '../../plan/operations.js'
import { isOvertaken, isWrittenOrMissing, type Outcome } from '../../plan/outcome.js'
import { userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import { confirming, detaching } from '../write/explain-reads.js'
import { keyBefore, readBefore, blindLinkWrite } from '../write/link-bin.js'
import type { CollectionState } from '../state/collection-state.js'
import type { Former } from '../state/lists-to-tell.js'
import type { Tracked } from '../contract/tracked.js'
import type { Reader } from '../contract/reader.js'
import type { MemberStore, OwnerLists } from '../contract/member-store.js'
import { ownerLists } from '../write/owner-lists.js'
import { keepInKey } from '../write/ref-in-key.js'
import { recordOfRef, storedRef, writtenAs, type Member } from '../contract/member.js'
import { progressOf } from '../state/link-progress.js'
import { ListUpkeep } from '../write/list-upkeep.js'
import { together } from '../../plan/plan-draft.js'
import { retarget } from '../write/guarded-ref-write.js'

/** The parent that a child had before it was given to another one. */
interface Before {
  readonly parent: UserKey | null
  /** Another session has given it to the same parent before. */
  readonly isOthers?: boolean
}

/** Takes children that are known by their keys alone into a parent with a list: their bins are written, too. */
export class UnloadedChildren {
  readonly #relation: string
  readonly #own: MemberStore
  readonly #lists: OwnerLists
  readonly #owner: EntityModel
  /** The class of the parents, or those that a child may have one of. */
  readonly #owners: EntityModel
  readonly #target: EntityModel
  readonly #inverse: RelationModel
  /** The child's bin that holds the parent's key. */
  readonly #childBin: string
  readonly #upkeep: ListUpkeep

  constructor(
    model: RelationModel,
    own: MemberStore,
    owners: EntityModel,
    target: EntityModel,
    inverse: RelationModel,
  ) {
    this.#relation = model.name
    this.#own = own
    this.#owner = own.model
    this.#owners = owners
    this.#lists = ownerLists(owners, model, target, { own })
    this.#target = target
    this.#inverse = inverse
    this.#childBin = inverse.bin!
    this.#upkeep = new ListUpkeep(this.#lists, target, inverse, model.through !== undefined)
  }

  /** The child was taken off the list; another session may have put it there again before. */
  taken(child: RecordKey, { key: off }: Tracked, draft: Draft, reader: Reader): void {
    this.#upkeep.check(child, { off }, draft, reader)
  }

  /**
   * Takes a child that is missing off the list, in a transaction: one that another session stores before that stays. The list is read before the
   * child, because no transaction notices a record that comes where it read none; but whoever stores the child writes the list.
   */
  async takeOffMissing(
    owner: RecordKey,
    member: KeyValue,
    draft: Draft,
    reader: Reader,
    settle: Settle,
    done: () => void,
  ): Promise<void> {
    const key = storedRef(this.#target, reader.recordKey(this.#target, member))
    await reader.read([read(this.#owner.name, this.#own.homeOf(owner, key), 'none')])
    const parent = (await this.parentsOf([member], reader)).get(member)
    const isBack = parent !== undefined && userKeyId(parent) === userKeyId(storedRef(this.#inverse, owner))
    if (isBack) draft.beforeSending(done)
    else await this.#own.remove({ owner, member: key }, draft, 'remove references', settle, reader)
  }

  /** The parents they have now. */
  async parentsOf(members: readonly KeyValue[], reader: Reader): Promise<Map<Member, UserKey>> {
    const bin = this.#childBin
    const records = await reader.read(
      members.map((member) => read(this.#target.name, reader.recordKey(this.#target, member), [bin])),
    )
    return new Map(
      members.flatMap((member, i) => {
        const parent = records[i]?.bins[bin] as UserKey | null | undefined
        return parent == null ? [] : [[member, parent]]
      }),
    )
  }

  /** Takes in a child that nobody has loaded: its bin is set, and the parent it had is learnt from the same write, unless it is known. */
  plan(
    tracked: Tracked,
    member: KeyValue,
    state: CollectionState,
    draft: Draft,
    reader: Reader,
    parent: UserKey | undefined,
  ): void | Promise<void> {
    const child = reader.recordKey(this.#target, member)
    const own = storedRef(this.#inverse, tracked.key)
    keepInKey(this.#target, this.#inverse, child, own, reader)
    const change = writeBin(this.#childBin, own)
    const operations = draft.isInside ? [change] : [readBefore(this.#inverse, this.#owners), change]
    const command = blindLinkWrite(this.#target, child, operations)
    draft.follow('remove references', detaching({ model: this.#target, key: child }, this.#owner, this.#relation))
    const isLate = (tracked.state === 'new' || tracked.createsRecord === true) && !draft.isTransaction
    const progress = progressOf(member, 2, state, draft, () => state.confirmAdded(member))
    // An earlier write whose answer was lost may be why the record names this parent.
    const isSent = state.isPartlySent(member)
    let before: Before = { parent: null }
    draft.add(isLate ? 'add references' : 'write', command, (outcome) => {
      const found = keyBefore(this.#inverse, outcome.bins)
      const isSame = found !== null && userKeyId(found) === userKeyId(own)
      before = isSame ? { parent: state.previousParents.of(child) ?? null, isOthers: !isSent } : { parent: found }
      if (outcome.state === 'written' && found !== null)
        void this.leave(tracked, { member: child, parent: found }, state, draft, reader, true)
      return progress(isWritten(outcome), outcome)
    })
    const entry = this.planEntry(tracked, member, state, draft, reader, child, progress, () => before)
    const leaving =
      parent === undefined ? undefined : this.leave(tracked, { member: child, parent }, state, draft, reader)
    return together([entry, leaving])
  }

  /** Puts a child on the list whose bin says already, or will say, that it belongs there. */
  planEntry(
    tracked: Tracked,
    member: Member,
    state: CollectionState,
    draft: Draft,
    reader: Reader,
    child = reader.recordKey(this.#target, state.keyOf(member)!),
    progress = progressOf(member, 1, state, draft, () => state.confirmAdded(member)),
    before: () => Before = () => ({ parent: state.previousParents.of(child) ?? null }),
  ): void | Promise<void> {
    draft.follow('add references', confirming({ model: this.#target, key: child }, `${this.#relation} drops it`))
    const settle = (outcome: Outcome): boolean => {
      // The list that it leaves is changed later, and what is checked then is checked once.
      if (outcome.state === 'written' && !state.previousParents.has(child))
        this.#upkeep.check(child, { on: tracked.key }, draft, reader)
      if (isOvertaken(outcome)) this.#restoreParent(tracked, member, child, before(), state, draft, reader)
      return progress(isWritten(outcome), outcome)
    }
    const isReplaced = state.isReplaced(member)
    const entry = { owner: tracked.key, member: child.key, isReplaced, ...writtenAs(tracked) }
    return this.#own.add(entry, draft, 'add references', settle, reader)
  }

  /** Noted until it is done: once the child says otherwise, nobody else remembers where it was. A transaction that is undone leaves it there. */
  leave(
    tracked: Tracked,
    former: Former,
    state: CollectionState,
    draft: Draft,
    reader: Reader,
    isLearntFromReply = false,
  ): void | Promise<void> {
    const { member, parent } = former
    if (userKeyId(parent) === userKeyId(storedRef(this.#inverse, tracked.key))) return
    if (!draft.isInside) state.previousParents.note(former)
    const from = recordOfRef(this.#owners, parent)
    const settle = (outcome: Outcome): boolean => {
      const isDone = isWrittenOrMissing(outcome)
      if (outcome.state === 'written') this.#upkeep.check(member, { off: from, on: tracked.key }, draft, reader)
      if (isDone) state.previousParents.done(former)
      return isDone
    }
    const planning = isLearntFromReply ? undefined : reader
    return this.#lists
      .at(from)
      .remove({ owner: from, member: member.key }, draft, 'remove references', settle, planning)
  }

  /** The parent is gone, so the child goes back to the one it had, whose list still has it; another session does that where it made the change. */
  #restoreParent(
    tracked: Tracked,
    member: Member,
    child: RecordKey,
    { parent, isOthers }: Before,
    state: CollectionState,
    draft: Draft,
    reader: Reader,
  ): void {
    const back = (): void => {
      state.previousParents.forget(child)
      state.turnedBack(member)
    }
    if (isOthers === true) return back()
    const own = storedRef(this.#inverse, tracked.key)
    const from = parent === null ? undefined : recordOfRef(this.#owners, parent)
    draft.add('undo', retarget(this.#target, child, this.#childBin, own, parent), (outcome) => {
      if (!isWritten(outcome) && !isOvertaken(outcome)) return false
      back()
      if (from === undefined) return true
      if (isWritten(outcome)) this.#upkeep.putOn(child, from, draft, reader)
      // Others have deleted or moved the child meanwhile, and do not know of the parent that still lists it.
      else this.#upkeep.check(child, { on: from }, draft, reader)
      return true
    })
  }
}

const isWritten = ({ state }: Outcome): boolean => state === 'written'
