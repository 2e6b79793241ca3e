import { readProperty } from '../../codec/index.js'
import type { KeyValue } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import { binEquals, read, remove, write } from '../../plan/command.js'
import { tolerating, type Draft } from '../../plan/draft.js'
import { removeBin, writeBin } from '../../plan/operations.js'
import { isWrittenOrMissing, type Outcome } from '../../plan/outcome.js'
import { recordId, userKeyId, type UserKey } from '../../plan/record-key.js'
import { confirming, lettingGo, whileItHolds } from '../write/explain-reads.js'
import { keyBefore, readBefore } from '../write/previous-key.js'
import type { Tracked } from '../contract/tracked.js'
import type { Reader } from '../contract/reader.js'
import type { Cascade } from '../contract/contributor.js'
import { KeyBinStrategy } from './key-bin/key-bin-strategy.js'
import {
  clearId,
  endAt,
  isCreated,
  isNew,
  keepPair,
  keepPartner,
  keysIn,
  pairId,
  parting,
  pointId,
  type End,
  type Parting,
} from './key-pair-ends.js'
import { linkWrite } from '../write/link-bin.js'
import { isInKey } from '../write/ref-in-key.js'
import { isEntity, type Member } from '../contract/member.js'
import type { RefState } from '../state/ref-state.js'
import { retarget } from '../write/guarded-ref-write.js'
import { refStateOf, hasShownChanges } from '../state/state-of.js'
import type { RelationStrategy } from '../contract/relation-strategy.js'
import { keyPairLinks } from '../verify/relation-links.js'
import type { LinkVerification } from '../contract/link-verification.js'
import { CreatedFor } from '../write/record-store.js'
import { createdForLinks } from '../verify/leftover-links.js'

/**
 * Stores a one-to-one relation as keys on both sides; the owner's bin is the truth. Whichever side is changed, both bins are written, and
 * those of former partners are cleared as long as they still point here.
 */
export class KeyPairStrategy implements RelationStrategy {
  readonly relation: string
  readonly model: RelationModel
  readonly bins: readonly string[]
  readonly verification: LinkVerification
  readonly leftovers: LinkVerification | undefined
  readonly #here: EntityModel
  readonly #there: EntityModel
  readonly #inverse: RelationModel
  /** Reads and cascades are those of a lone key bin. */
  readonly #own: KeyBinStrategy
  /** Notes in the records of either class, where the other class owns them. */
  readonly #createdFor: ReadonlyMap<RelationModel, CreatedFor | undefined>

  constructor(model: RelationModel, owner: EntityModel, target: EntityModel, inverse: RelationModel) {
    this.relation = model.name
    this.model = model
    this.bins = [model.bin!]
    this.#here = owner
    this.#there = target
    this.#inverse = inverse
    this.verification = keyPairLinks(model, owner, target, inverse)
    this.leftovers = createdForLinks(model, owner, target, { ownBin: inverse.bin })
    this.#createdFor = new Map([
      [model, CreatedFor.of(owner, model, target)],
      [inverse, CreatedFor.of(target, inverse, owner)],
    ])
    this.#own = new KeyBinStrategy(model, owner, target, undefined)
  }

  /** Nobody has two partners, so the session must know whom the other one has now, loaded or not. */
  accept(_owner: Tracked, target: Member | null, reader: Reader): void {
    if (target === null || isEntity(target) || this.#there.discriminator !== undefined) return
    reader.unread(this.#there, target)
  }

  hasChanges({ entity }: Tracked): boolean {
    return hasShownChanges(this.#state(entity))
  }

  cascade(tracked: Tracked, reach: Cascade, reader: Reader): void | Promise<void> {
    return this.#own.cascade(tracked, reach, reader)
  }

  save(tracked: Tracked, draft: Draft, reader: Reader): void | Promise<void> {
    const state = this.#state(tracked.entity)
    // Of what is upserted, or was not read, nobody knows whom it is paired with now.
    if (!tracked.overwrite && !state.isBlind) return this.#plan(tracked, state, draft, reader)
    return keysIn([this.#thisEnd(tracked)], reader).then(([stored]) => {
      state.knowStored(stored === undefined ? null : reader.fromStored(this.#there, stored))
      return this.#plan(tracked, state, draft, reader)
    })
  }

  #plan(tracked: Tracked, state: RefState, draft: Draft, reader: Reader): void | Promise<void> {
    const here = this.#thisEnd(tracked)
    const to = state.key === null ? undefined : this.#otherEnd(state.key, reader)
    if (!state.isStored) keepPair(here, to, reader)
    // Noted until it is done: once the record says otherwise, nobody else remembers whom it was paired with.
    const { toLeave } = state.lists.whenMoved(state.key, state.stored)
    // Nobody keeps a list.
    draft.beforeSending(() => state.lists.note({ toJoin: undefined, toLeave }))
    const partings = [...toLeave.values()].map((former) => parting(this.#otherEnd(former, reader), here))
    for (const { from } of partings) keepPartner(from, here, reader)
    if (!state.isStored && to === undefined && state.stored !== null)
      partings.push(parting(here, this.#otherEnd(state.stored, reader)))
    const pair = state.isStored || to === undefined ? [] : [here, to]
    if (pair.length > 0) this.#link(here, to!, draft, reader)
    // In a transaction those they were paired with are known before anything is written.
    if (draft.isInside) return this.#partInside(partings, pair, draft, reader)
    for (const { from, to: former } of partings) this.#clear(from, former, draft, reader)
  }

  /** The record goes; the other must not point to it any more. */
  async remove(tracked: Tracked, draft: Draft, reader: Reader): Promise<void> {
    const state = this.#state(tracked.entity)
    const here = this.#thisEnd(tracked)
    if (!state.isRead) await this.load([tracked], reader)
    const toLeave = new Map(state.lists.toLeave)
    if (state.stored !== null) toLeave.set(userKeyId(state.stored), state.stored)
    draft.beforeSending(() => state.lists.note({ toJoin: undefined, toLeave }))
    const partings = [...toLeave.values()].map((former) => parting(this.#otherEnd(former, reader), here))
    if (draft.isInside) return this.#partInside(partings, [here], draft, reader)
    for (const { from, to } of partings) this.#clear(from, to, draft, reader)
    draft.follow('delete', lettingGo(here, this.#there, this.#inverse.name))
    if (!draft.isTransaction) this.#askLast(tracked, draft, reader)
  }

  /** Somebody may have paired the record since this session read it: the delete tells. */
  #askLast(tracked: Tracked, draft: Draft, reader: Reader): void {
    const { model, key } = tracked
    const command = remove(model.name, key, {
      operations: [readBefore(this.model, this.#there)],
      durableDelete: model.durableDelete,
    })
    const here = this.#thisEnd(tracked)
    const settle = (outcome: Outcome): boolean => {
      const partner = keyBefore(this.model, outcome.bins)
      const from = partner === null ? undefined : this.#partnerOf(here, partner, reader)
      if (from !== undefined && !draft.isPlanned(clearId('remove references', from, here)))
        this.#clear(from, here, draft, reader, 'undo')
      return isWrittenOrMissing(outcome)
    }
    draft.add('delete', command, settle)
  }

  targetKey(owner: Tracked, reader: Reader): Promise<KeyValue | null> {
    return this.#own.targetKey(owner, reader)
  }

  load(level: readonly Tracked[], reader: Reader, along?: readonly string[]): Promise<readonly Tracked[]> {
    return this.#own.load(level, reader, along)
  }

  #link(a: End, b: End, draft: Draft, reader: Reader): void {
    const [owner, other] = this.model.owner ? [a, b] : [b, a]
    if (!draft.once(`pair ${pairId(owner, other)}`)) return
    const isInCreation = isNew(other) && !isNew(owner)
    const isStoredAgain = isNew(other) && other.tracked?.key.isReused === true
    if (!isNew(owner)) draft.follow('add references', confirming(owner, `${other.relation.name} is cleared`))
    // The one that is written last sees whether the first is still there, and stays.
    const settle = (first: End) => (outcome: Outcome) => {
      const last = first === owner ? other : owner
      if (outcome.reason === 'missing') this.#takeBack(first, last, before, draft, reader)
      else if (outcome.state === 'written' && !isNew(owner)) {
        this.#confirm(owner, other, draft, reader)
        // Another session that knew its key may have deleted it as soon as it was stored.
        if (isStoredAgain) this.#confirm(other, owner, draft, reader)
      }
    }
    let before: UserKey | null = null
    const noteBefore = (end: End) => (outcome: Outcome) => void (before = keyBefore(end.relation, outcome.bins))
    const stage = isNew(other) && !draft.isTransaction ? 'add references' : 'write'
    this.#point(owner, other, stage, draft, reader, isInCreation ? settle(other) : noteBefore(owner))
    this.#point(
      other,
      owner,
      isInCreation ? 'write' : 'add references',
      draft,
      reader,
      isInCreation ? noteBefore(other) : settle(owner),
    )
  }

  /** The second record is gone: the first points again where it did before, as long as it is named there. */
  #takeBack(first: End, gone: End, before: UserKey | null, draft: Draft, reader: Reader): void {
    if (before === null || userKeyId(before) === userKeyId(gone.key.key) || draft.isTransaction)
      return this.#clear(first, gone, draft, reader, 'undo')
    const former = endAt(gone, before)
    const command = retarget(first.model, first.key, first.relation.bin!, gone.key.key, before)
    draft.addApart('undo', command, (outcome) => {
      if (outcome.state !== 'written' && outcome.reason !== 'missing' && outcome.reason !== 'guard') return false
      this.#part(first, gone, reader)
      if (outcome.state !== 'written') return true
      this.#settle(first, former, reader)
      this.#stateOf(first, reader)?.lists.left(reader.fromStored(former.model, before))
      this.#confirm(former, first, draft, reader)
      return true
    })
  }

  /** Clears those that still point back, as the transaction sees them: the given ones, and whoever these ends are paired with now. */
  async #partInside(partings: Parting[], ends: readonly End[], draft: Draft, reader: Reader): Promise<void> {
    const stored = ends.filter((end) => !isCreated(end))
    // Others of the same plan may have looked at it already.
    const open = partings.filter(({ from, to }) => draft.once(clearId('inside', from, to)))
    const [now, partners] = await Promise.all([
      keysIn(
        open.map(({ from }) => from),
        reader,
      ),
      keysIn(stored, reader),
    ])
    open.forEach((each, i) => this.#clearInside(each, now[i], draft, reader))
    const seen = new Set(partings.map(({ from }) => recordId(from.key)))
    const unseen = stored.flatMap((end, i) => {
      const partner = partners[i]
      const other = ends.find((each) => each !== end)
      if (partner === undefined || (other !== undefined && userKeyId(partner) === userKeyId(other.key.key))) return []
      const from = this.#partnerOf(end, partner, reader)
      return seen.has(recordId(from.key)) ? [] : [parting(from, end)]
    })
    if (unseen.length > 0) await this.#partInside(unseen, [], draft, reader)
  }

  /** Keeps to one write per record: if it is linked again in the same transaction, that write replaces its key. */
  #clearInside({ from, to }: Parting, now: UserKey | undefined, draft: Draft, reader: Reader): void {
    const isPaired = now !== undefined && userKeyId(now) === userKeyId(to.key.key)
    if (!isPaired || isInKey(from.model, from.relation)) return draft.beforeSending(() => this.#part(from, to, reader))
    const change = draft.isPlanned(pointId(from)) ? [] : [removeBin(from.relation.bin!)]
    draft.add('remove references', linkWrite(from.model, from.key, change), ({ state }) => {
      if (state === 'written') this.#part(from, to, reader)
      return state === 'written'
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
    if (!isBlind) draft.follow('remove references', lettingGo(from, to.model, to.relation.name))
    const command = isInCreation
      ? linkWrite(from.model, from.key, [change], 'mustNotExist')
      : linkWrite(from.model, from.key, operations)
    const createdFor = this.#createdFor.get(to.relation)
    if (!isInCreation && isCreated(from)) createdFor?.note(from.tracked, to.key, draft)
    if (!isInCreation && from.tracked !== undefined) createdFor?.linked(from.tracked, stage, draft)
    draft.add(stage, command, (outcome) => {
      then?.(outcome)
      if (outcome.state !== 'notWritten' && !draft.isTransaction) this.#begin(to, reader)
      if (outcome.state !== 'written') return false
      this.#settle(from, to, reader)
      const before = keyBefore(from.relation, outcome.bins)
      if (before !== null && userKeyId(before) !== userKeyId(to.key.key)) {
        // Clears the key in the former partner's record.
        const own = this.#stateOf(from, reader)
        const former = reader.fromStored(to.model, before)
        own?.lists.mustLeave(former)
        this.#clear(endAt(to, before), from, draft, reader)
      }
      return true
    })
  }

  /** Apart from other changes of the record, which must not fail only because somebody else has linked it anew. */
  #clear(
    from: End,
    to: End,
    draft: Draft,
    reader: Reader,
    stage: 'undo' | 'remove references' = 'remove references',
  ): void {
    if (!draft.once(clearId(stage, from, to)) && stage !== 'undo') return
    // Without what is part of its key nobody could read the record.
    if (isInKey(from.model, from.relation)) return draft.beforeSending(() => this.#part(from, to, reader))
    const bin = from.relation.bin!
    const settle = tolerating(['missing', 'guard'], (isDone, { state }) => {
      if (state === 'inDoubt') this.#begin(to, reader)
      if (!isDone) return
      this.#part(from, to, reader)
      draft.once(`done ${clearId(stage, from, to)}`)
      if (state === 'written' && to.tracked?.state !== 'removed') this.#pairAgain(from, to, draft, reader)
    })
    const command = retarget(from.model, from.key, bin, to.key.key, null)
    draft.follow(stage, whileItHolds(from))
    if (!draft.isTransaction) draft.addApart(stage, command, settle)
    // Only a survey of what a transaction will write: it is planned again inside.
    else draft.add(stage, command, settle)
  }

  /** Another session may have paired the two again before this one has cleared the first: that points to the second again. */
  #pairAgain(from: End, to: End, draft: Draft, reader: Reader): void {
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
          this.#settle(from, to, reader)
          this.#confirm(to, from, draft, reader)
        }
        return state === 'written' || reason === 'missing' || reason === 'guard'
      })
    })
  }

  /** Marks the pair as partly sent: once the partner's record may have the change, its own must get it too. */
  #begin(end: End, reader: Reader): void {
    const state = this.#stateOf(end, reader)
    state?.notePartlySent(!state.isStored)
  }

  /** The record no longer says so, or never did. */
  #part(from: End, to: End, reader: Reader): void {
    this.#settle(from, undefined, reader, to)
    const key = reader.fromStored(from.model, from.key.key)
    const state = this.#stateOf(to, reader)
    if (state === undefined) return
    state.lists.left(key)
    state.notePartlySent(!state.isStored && !state.isAt(key))
  }

  /** Two sessions may pair one owner at the same time: the other of the one that was overtaken is cleared. */
  #confirm(owner: End, other: End, draft: Draft, reader: Reader): void {
    if (draft.isInside) return
    const bin = owner.relation.bin!
    draft.check(read(owner.model.name, owner.key, [bin]), (record) => {
      const now = record?.bins[bin] as UserKey | undefined
      if (now === undefined || userKeyId(now) !== userKeyId(other.key.key))
        this.#clear(other, owner, draft, reader, 'undo')
    })
  }

  /** Updates the entity, if this session has it, to what its record holds now. */
  #settle(end: End, to: End | undefined, reader: Reader, former?: End): void {
    const state = this.#stateOf(end, reader)
    if (state === undefined) return
    if (to !== undefined) state.confirmPair(reader.fromStored(to.model, to.key.key))
    else if (state.stored !== null && userKeyId(state.stored) === userKeyId(former!.key.key)) state.confirmPair(null)
    else state.confirmPair(state.stored)
  }

  /** Undefined where this session does not have its entity. */
  #stateOf({ key, model, relation }: End, reader: Reader): RefState | undefined {
    const known = reader.known(model.name, reader.fromStored(model, key.key))
    return known === undefined ? undefined : refStateOf(readProperty(known.entity, relation.name) as object)
  }

  #state(entity: object): RefState {
    return refStateOf(readProperty(entity, this.relation) as object)
  }

  #thisEnd(tracked: Tracked): End {
    return { model: this.#here, relation: this.model, key: tracked.key, tracked }
  }

  /** Partner of one of the two ends; it has the class of the other end. */
  #partnerOf(end: End, key: UserKey, reader: Reader): End {
    const isHere = end.relation === this.model
    const [model, relation] = isHere ? [this.#there, this.#inverse] : [this.#here, this.model]
    return { model, relation, key: reader.recordKey(model, reader.fromStored(model, key)), tracked: undefined }
  }

  #otherEnd(key: KeyValue, reader: Reader): End {
    const tracked = reader.known(this.#there.name, key)
    return { model: this.#there, relation: this.#inverse, key: reader.recordKey(this.#there, key), tracked }
  }
}
