import { readProperty } from '../../../codec/index.js'
import type { KeyValue } from '../../../keys/index.js'
import { remove, type WriteCommand } from '../../../plan/command.js'
import type { Draft } from '../../../plan/draft.js'
import { readExpression } from '../../../plan/operations.js'
import { isWrittenOrMissing } from '../../../plan/outcome.js'
import { recordId, type RecordKey, type UserKey } from '../../../plan/record-key.js'
import { findAndReachLeaving } from '../../cascade/children.js'
import { firstForbidding } from '../../cascade/restrict.js'
import type { Cascade } from '../../contract/contributor.js'
import type { EndedLinks } from '../../contract/ended-links.js'
import { recordOfRef } from '../../contract/member.js'
import type { Drain, Fate } from '../../contract/drain.js'
import type { Reader } from '../../contract/reader.js'
import { restricted } from '../../contract/relation-errors.js'
import type { Tracked } from '../../contract/tracked.js'
import type { CollectionState } from '../../state/collection-state.js'
import { collectionStateOf } from '../../state/state-of.js'
import { lookingAgain } from '../../write/explain-reads.js'
import { together } from '../../../plan/plan-draft.js'
import { heldHere, heldThere, type LinkListSides } from './link-list-sides.js'

/** Deletes of a record with links: the others forget it, or go too where the relation says so. */
export class LinkListsDeletion {
  readonly #sides: LinkListSides

  readonly #ended: EndedLinks | undefined

  constructor(sides: LinkListSides, ended?: EndedLinks) {
    this.#sides = sides
    this.#ended = ended
  }

  /** Deletes the members, detaches them or refuses the delete, as the relation says. */
  async reachOnDelete(tracked: Tracked, keys: readonly KeyValue[], reach: Cascade, reader: Reader): Promise<void> {
    const { onDelete } = this.#sides.model
    if (onDelete !== 'restrict' && keys.length > reach.room) return reach.drain(this.#drain(tracked, reader))
    if (onDelete === 'detach') return
    if (onDelete === 'restrict') {
      const state = this.#state(tracked.entity)
      const forbidding = { owner: tracked, target: this.#sides.target, inverse: undefined, reach, reader }
      const listed = keys.filter((key) => !state.isRemoved(key))
      const member = await firstForbidding(listed, forbidding)
      if (member !== undefined) throw restricted(tracked, this.#sides.model, member)
      return
    }
    for (const other of await findAndReachLeaving(this.#sides.target, keys, reach, reader)) reach.remove(other.entity)
  }

  #drain(owner: Tracked, reader: Reader): Drain {
    const keyOf = (key: KeyValue): RecordKey => reader.recordKey(this.#sides.target, key)
    const trim = (keys: readonly KeyValue[]): readonly WriteCommand[] =>
      this.#sides.store.trim(
        owner.key,
        keys.map((key) => heldHere(this.#sides, keyOf(key))),
      )
    const release = (key: KeyValue): WriteCommand | undefined => {
      const at = { owner: keyOf(key), member: heldThere(this.#sides, owner.key) }
      return this.#sides.otherLists?.at(at.owner).removal(at)
    }
    return {
      owner,
      className: this.#sides.owner.name,
      property: this.#sides.model.name,
      target: this.#sides.target,
      fate: this.#sides.model.onDelete === 'cascade' ? { kind: 'delete' } : this.#detaching(owner, release, reader),
      chunks: (count) => this.#sides.store.drained(owner, reader, count),
      survey: (count) => this.#sides.store.surveyed(owner, reader, count),
      trim,
    }
  }

  /** Members that keep their links apart are changed as any others are: only so a link is found wherever they keep it. */
  #detaching(
    owner: Tracked,
    release: (key: KeyValue) => WriteCommand | undefined,
    reader: Reader,
  ): Exclude<Fate, { kind: 'delete' }> {
    if (this.#sides.otherLists?.isApart !== true) return { kind: 'release', release }
    const key = reader.keyOf(owner.entity, this.#sides.model.knownAs)!
    const inverse = this.#sides.inverse!.name
    const change = (members: readonly Tracked[]): Promise<readonly Tracked[]> => {
      for (const { entity } of members) collectionStateOf(readProperty(entity, inverse) as object).remove(key)
      return Promise.resolve(members)
    }
    return { kind: 'change', change }
  }

  /** The others forget it first; until it is gone, the record says that its delete has begun. */
  async remove(tracked: Tracked, draft: Draft, reader: Reader): Promise<void> {
    if (this.#sides.inverse === undefined) {
      if (this.#sides.store.isApart) await this.#sides.store.close(tracked, draft, reader)
      return
    }
    const [linked, ended = []] = await Promise.all([
      this.#sides.store.members.keys(tracked, reader),
      this.#ended?.keys(tracked, reader),
    ])
    const keys = [...linked, ...ended]
    const others = keys.map((key) => reader.recordKey(this.#sides.target, key))
    if (!draft.isTransaction) this.#askLast(tracked, others, draft)
    if (keys.length === 0 && !this.#sides.store.isApart) return
    draft.follow('mark', lookingAgain(tracked, this.#sides.model))
    const told = new Set(others.map(recordId))
    const closing = this.#sides.store.close(tracked, draft, reader, (members) =>
      this.#forgetMore(tracked, members, told, draft),
    )
    await together([
      closing,
      ...others.map((other) => this.#forget(tracked, other, draft, 'remove references', reader)),
    ])
  }

  /** Another session may have linked it after its list was read, and before it was marked or deleted: the delete tells. */
  #askLast(tracked: Tracked, others: readonly RecordKey[], draft: Draft): void {
    const { model, key } = tracked
    const [bin] = this.#sides.store.bins
    if (bin === undefined) return
    const told = new Set(others.map(recordId))
    const name = `_sk.links${this.#sides.model.index}`
    const operations = [readExpression(name, this.#sides.bin.keys(bin))]
    const command = remove(model.name, key, { operations, durableDelete: model.durableDelete })
    draft.add('delete', command, (outcome) => {
      for (const held of (outcome.bins[name] ?? []) as readonly UserKey[]) {
        const other = recordOfRef(this.#sides.target, held)
        if (!told.has(recordId(other))) void this.#forget(tracked, other, draft, 'undo')
      }
      return isWrittenOrMissing(outcome)
    })
  }

  /** Another session may have linked it after its list was read; now that it is marked, no more can come. */
  #forgetMore(tracked: Tracked, members: readonly UserKey[], told: ReadonlySet<string>, draft: Draft): void {
    for (const held of members) {
      const other = recordOfRef(this.#sides.target, held)
      if (!told.has(recordId(other))) void this.#forget(tracked, other, draft, 'remove references')
    }
  }

  #forget(
    { key }: Tracked,
    owner: RecordKey,
    draft: Draft,
    stage: 'remove references' | 'undo',
    reader?: Reader,
  ): void | Promise<void> {
    const at = { owner, member: heldThere(this.#sides, key) }
    return this.#sides.otherLists?.at(owner).remove(at, draft, stage, isWrittenOrMissing, reader)
  }

  #state(entity: object): CollectionState {
    return collectionStateOf(readProperty(entity, this.#sides.model.name) as object)
  }
}
