import { readProperty } from '../../../codec/index.js'
import type { KeyValue } from '../../../keys/index.js'
import type { EntityModel, RelationModel } from '../../../model/index.js'
import { remove } from '../../../plan/command.js'
import type { Draft } from '../../../plan/draft.js'
import { isWrittenOrMissing, type Outcome } from '../../../plan/outcome.js'
import { userKeyId, type UserKey } from '../../../plan/record-key.js'
import { detaching } from '../../write/explain-reads.js'
import { keyBefore, readBefore } from '../../write/link-bin.js'
import type { Tracked } from '../../contract/tracked.js'
import type { Reader } from '../../contract/reader.js'
import type { Cascade } from '../../contract/contributor.js'
import { KeyBinStrategy } from '../key-bin/key-bin-strategy.js'
import { clearId, keepPair, keepPartner, keysIn, parting, type End, type Parting } from './key-pair-ends.js'
import { isEntity, type Member } from '../../contract/member.js'
import type { RefState } from '../../state/ref-state.js'
import { refStateOf, hasShownChanges } from '../../state/state-of.js'
import type { RelationStrategy } from '../../contract/relation-strategy.js'
import { keyPairLinks } from '../../verify/relation-links.js'
import type { LinkVerification } from '../../contract/link-verification.js'
import { CreatedFor } from '../../write/record-store.js'
import { createdForLinks } from '../../verify/leftover-links.js'
import { partInside } from './key-pair-inside.js'
import { KeyPairWrites } from './key-pair-writes.js'

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
  readonly #writes: KeyPairWrites

  constructor(model: RelationModel, owner: EntityModel, target: EntityModel, inverse: RelationModel) {
    this.relation = model.name
    this.model = model
    this.bins = [model.bin!]
    this.#here = owner
    this.#there = target
    this.#inverse = inverse
    this.verification = keyPairLinks(model, owner, target, inverse)
    this.leftovers = createdForLinks(model, owner, target, { ownBin: inverse.bin })
    const createdFor = new Map([
      [model, CreatedFor.of(owner, model, target)],
      [inverse, CreatedFor.of(target, inverse, owner)],
    ])
    this.#writes = new KeyPairWrites(model, createdFor)
    this.#own = new KeyBinStrategy(model, owner, target, undefined)
  }

  /** An entity has one partner, so the session must know whom the other one has now, loaded or not. */
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
    // Neither side keeps a list.
    draft.beforeSending(() => state.lists.note({ toJoin: undefined, toLeave }))
    const partings = [...toLeave.values()].map((former) => parting(this.#otherEnd(former, reader), here))
    for (const { from } of partings) keepPartner(from, here, reader)
    if (!state.isStored && to === undefined && state.stored !== null)
      partings.push(parting(here, this.#otherEnd(state.stored, reader)))
    const pair = state.isStored || to === undefined ? [] : [here, to]
    if (pair.length > 0) this.#writes.link(here, to!, draft, reader)
    // In a transaction those they were paired with are known before anything is written.
    if (draft.isInside) return this.#partInside(partings, pair, draft, reader)
    for (const { from, to: former } of partings) this.#writes.clear(from, former, draft, reader)
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
    for (const { from, to } of partings) this.#writes.clear(from, to, draft, reader)
    draft.follow('delete', detaching(here, this.#there, this.#inverse.name))
    if (!draft.isTransaction) this.#askLast(tracked, partings, draft, reader)
  }

  /** Another session may have paired the record since this session read it: the delete tells. */
  #askLast(tracked: Tracked, partings: readonly Parting[], draft: Draft, reader: Reader): void {
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
        this.#writes.clear(from, here, draft, reader, 'undo')
      // The entity stays, and so does its partner.
      if (outcome.reason === 'guard')
        for (const { from: former, to } of partings) this.#writes.pairAgain(former, to, draft, reader)
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

  #state(entity: object): RefState {
    return refStateOf(readProperty(entity, this.relation) as object)
  }

  #partInside(partings: Parting[], ends: readonly End[], draft: Draft, reader: Reader): Promise<void> {
    return partInside(partings, ends, (end, key) => this.#partnerOf(end, key, reader), draft, reader)
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
