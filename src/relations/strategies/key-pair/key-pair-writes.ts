import type { RelationModel } from '../../../model/index.js'
import { binEquals, read, write } from '../../../plan/command.js'
import { tolerating, type Draft } from '../../../plan/draft.js'
import { writeBin } from '../../../plan/operations.js'
import type { Outcome } from '../../../plan/outcome.js'
import { userKeyId, type UserKey } from '../../../plan/record-key.js'
import type { Reader } from '../../contract/reader.js'
import type { CreatedFor } from '../../write/record-store.js'
import { confirming, detaching, whileItHolds } from '../../write/explain-reads.js'
import { retarget } from '../../write/guarded-ref-write.js'
import { blindLinkWrite, linkWrite, keyBefore, readBefore } from '../../write/link-bin.js'
import { isInKey } from '../../write/ref-in-key.js'
import { undoUnlessStored } from '../../write/undo-link.js'
import { clearId, endAt, isCreated, isDeletedAsPartner, isNew, pairId, pointId, type End } from './key-pair-ends.js'
import { endState, markPartlySent, settlePaired, settleParted } from './key-pair-states.js'

/** Writes the keys of a pair, and clears those of former pairs as long as they still point back. */
export class KeyPairWrites {
  readonly #relation: RelationModel
  /** Notes in the records of either class, where the other class owns them. */
  readonly #createdFor: ReadonlyMap<RelationModel, CreatedFor | undefined>

  constructor(relation: RelationModel, createdFor: ReadonlyMap<RelationModel, CreatedFor | undefined>) {
    this.#relation = relation
    this.#createdFor = createdFor
  }

  /** Points the two records to each other. */
  link(a: End, b: End, draft: Draft, reader: Reader): void {
    const [owner, other] = this.#relation.owner ? [a, b] : [b, a]
    if (!draft.once(`pair ${pairId(owner, other)}`)) return
    const isInCreation = isNew(other) && !isNew(owner)
    const isStoredAgain = isNew(other) && other.tracked?.key.isReused === true
    if (!isNew(owner)) draft.follow('add references', confirming(owner, `${other.relation.name} is cleared`))
    // The one that is written last sees whether the first is still there, and stays.
    const settle = (first: End) => (outcome: Outcome) => {
      const last = first === owner ? other : owner
      if (outcome.reason === 'missing' || outcome.reason === 'guard') this.#rollback(first, last, before, draft, reader)
      else if (outcome.state === 'written' && !isNew(owner)) {
        this.#confirm(owner, other, draft, reader)
        // Another session that knew its key may have deleted it as soon as it was stored.
        if (isStoredAgain) this.#confirm(other, owner, draft, reader)
      }
    }
    let before: UserKey | null = null
    const noteBefore = (end: End) => (outcome: Outcome) => void (before = keyBefore(end.relation, outcome.bins))
    const isOwnerLate = isNew(other) && !draft.isTransaction && !isHeldByKey(owner)
    const stage = isOwnerLate ? 'add references' : 'write'
    if (!draft.isTransaction)
      for (const [end, to] of [
        [owner, other],
        [other, owner],
      ])
        if (isHeldByKey(end) && isNew(to)) undoUnlessStored(end.tracked!, end.relation, to.tracked!, draft, reader)
    this.#point(owner, other, stage, draft, reader, isInCreation ? settle(other) : noteBefore(owner))
    this.#point(
      other,
      owner,
      isInCreation || isHeldByKey(other) ? 'write' : 'add references',
      draft,
      reader,
      isInCreation ? noteBefore(other) : settle(owner),
    )
  }

  /** The second record is gone: the first points again where it did before, as long as it is named there. */
  #rollback(first: End, gone: End, before: UserKey | null, draft: Draft, reader: Reader): void {
    if (before === null || userKeyId(before) === userKeyId(gone.key.key) || draft.isTransaction)
      return this.clear(first, gone, draft, reader, 'undo')
    const former = endAt(gone, before)
    const command = retarget(first.model, first.key, first.relation.bin!, gone.key.key, before)
    draft.addApart('undo', command, (outcome) => {
      if (outcome.state !== 'written' && outcome.reason !== 'missing' && outcome.reason !== 'guard') return false
      settleParted(first, gone, reader)
      if (outcome.state !== 'written') return true
      settlePaired(first, former, reader)
      endState(first, reader)?.lists.left(reader.fromStored(former.model, before))
      this.#confirm(former, first, draft, reader)
      return true
    })
  }

  #point(
    from: End,
    to: End,
    stage: 'write' | 'add references',
    draft: Draft,
    reader: Reader,
    then?: (outcome: Outcome) => void,
  ): void {
    draft.once(pointId(from))
    const change = writeBin(from.relation.bin!, to.key.key)
    const isInCreation = isCreated(from) && (stage === 'write' || draft.isTransaction)
    const isBlind = isCreated(from) || draft.isInside
    const operations = isBlind ? [change] : [readBefore(from.relation, to.model), change]
    if (!isBlind) draft.follow('remove references', detaching(from, to.model, to.relation.name))
    const command = isInCreation
      ? linkWrite(from.model, from.key, [change], 'mustNotExist')
      : from.tracked === undefined
        ? blindLinkWrite(from.model, from.key, operations)
        : linkWrite(from.model, from.key, operations)
    const createdFor = this.#createdFor.get(to.relation)
    if (!isInCreation && isCreated(from)) createdFor?.note(from.tracked, to.key, draft)
    if (!isInCreation && from.tracked !== undefined) createdFor?.linked(from.tracked, stage, draft)
    draft.add(stage, command, (outcome) => {
      then?.(outcome)
      if (outcome.state !== 'notWritten' && !draft.isTransaction) markPartlySent(to, reader)
      if (outcome.state !== 'written') return false
      settlePaired(from, to, reader)
      const before = keyBefore(from.relation, outcome.bins)
      if (before !== null && userKeyId(before) !== userKeyId(to.key.key)) {
        // Clears the key in the former partner's record.
        const own = endState(from, reader)
        const former = reader.fromStored(to.model, before)
        own?.lists.mustLeave(former)
        this.clear(endAt(to, before), from, draft, reader)
      }
      return true
    })
  }

  /** Apart from other changes of the record, which must not fail only because somebody else has linked it anew. */
  clear(
    from: End,
    to: End,
    draft: Draft,
    reader: Reader,
    stage: 'undo' | 'remove references' = 'remove references',
  ): void {
    if (stage !== 'undo' && isDeletedAsPartner(from)) {
      // A soft delete leaves the record, which must not point to one that is gone.
      if (!draft.isDeleting(from.key)) this.clear(from, to, draft, reader, 'undo')
      return
    }
    // The one that goes last leads to the other: a delete that is cut off between the two finds it again.
    if (stage !== 'undo' && draft.isDeleting(from.key) && isDeletedAsPartner(to)) return
    if (!draft.once(clearId(stage, from, to)) && stage !== 'undo') return
    // Without what is part of its key nobody could read the record.
    if (isInKey(from.model, from.relation)) return draft.beforeSending(() => settleParted(from, to, reader))
    const bin = from.relation.bin!
    const settle = tolerating(['missing', 'guard'], (isDone, { state }) => {
      if (state === 'inDoubt') markPartlySent(to, reader)
      if (!isDone) return
      settleParted(from, to, reader)
      draft.once(`done ${clearId(stage, from, to)}`)
      if (state === 'written' && to.tracked?.state !== 'removed') this.pairAgain(from, to, draft, reader)
    })
    const command = retarget(from.model, from.key, bin, to.key.key, null)
    draft.follow(stage, whileItHolds(from))
    if (!draft.isTransaction) draft.addApart(stage, command, settle)
    // Only a survey of what a transaction will write: it is planned again inside.
    else draft.add(stage, command, settle)
  }

  /** Another session may have paired the two again before this one has cleared the first: that points to the second again. */
  pairAgain(from: End, to: End, draft: Draft, reader: Reader): void {
    const back = clearId('remove references', to, from)
    draft.check(read(to.model.name, to.key, [to.relation.bin!]), (record) => {
      const now = record?.bins[to.relation.bin!] as UserKey | undefined
      if (now === undefined || userKeyId(now) !== userKeyId(from.key.key)) return
      // The second is to be cleared as well, and is not yet.
      if (draft.isPlanned(back) && !draft.isPlanned(`done ${back}`)) return
      const bin = from.relation.bin!
      const options = { exists: 'mustExist', ttl: 'keep', guards: [binEquals(bin, null)] } as const
      const command = write(from.model.name, from.key, [writeBin(bin, to.key.key)], options)
      draft.add('undo', command, ({ state, reason }) => {
        if (state === 'written') {
          settlePaired(from, to, reader)
          this.#confirm(to, from, draft, reader)
        }
        return state === 'written' || reason === 'missing' || reason === 'guard'
      })
    })
  }

  /** Two sessions may pair one owner at the same time: the other of the one that was overtaken is cleared. */
  #confirm(owner: End, other: End, draft: Draft, reader: Reader): void {
    if (draft.isInside) return
    const bin = owner.relation.bin!
    draft.check(read(owner.model.name, owner.key, [bin]), (record) => {
      const now = record?.bins[bin] as UserKey | undefined
      if (now === undefined || userKeyId(now) !== userKeyId(other.key.key))
        this.clear(other, owner, draft, reader, 'undo')
    })
  }
}

/** True for a new record whose key contains that of its partner: it is stored with it, because nobody could read it otherwise. */
const isHeldByKey = (end: End): boolean => isCreated(end) && isInKey(end.model, end.relation)
