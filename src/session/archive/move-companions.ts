import { isDeepStrictEqual } from 'node:util'
import { ARCHIVING_BIN, CLOSED_BIN, COMPANION_JOINED_BIN, MOVED_BIN } from '../../model/index.js'
import { binEquals, holds, read, remove, write, type Bins, type Guard, type WriteCommand } from '../../plan/command.js'
import { binExists, not } from '../../plan/expression.js'
import { removeBin, touch, writeBin } from '../../plan/operations.js'
import type { StoredRecord } from '../../plan/outcome.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { CompanionRecords } from '../../relations/contract/relation-strategy.js'
import type { Tracked } from '../../relations/contract/tracked.js'
import { UnmanagedReader } from '../load/unmanaged-reader.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { closedBins, companionKinds, copiedBins, copyOperations } from './moved-companions.js'
import { ATTEMPTS, type MoveAccess } from './move-access.js'
import { claimedBy, IS_CLOSED, notNewer } from './move-guards.js'
import { openingsOf } from './open-companions.js'

/** Companions that are read and copied together: each may have a megabyte. */
const GROUP = 8

/** A record whose companions move with it. */
interface MovingOwner {
  readonly from: RecordKey
  readonly to: RecordKey
  readonly bins: Bins
  readonly claim: number
  /** The record that the copy takes the place of; its companions may be others. */
  readonly present?: StoredRecord | null
  /** Set where it has come back, and is claimed where it is now. */
  readonly isReturned?: true
}

/** A record that an owner may have beside it. */
interface Companion {
  readonly kind: CompanionRecords
  readonly from: RecordKey
}

/** A companion as it was read, and what is in its place where it goes. */
interface FoundCompanion extends Companion {
  readonly to: RecordKey
  readonly record: StoredRecord | null
  readonly present: StoredRecord | null
}

type IsToCopy = (found: FoundCompanion) => boolean

/**
 * Moves the companion records of records that are moved. Each is closed first: it takes no changes, and whoever is refused asks the owner, which
 * is marked as being archived. They are copied before their owner and deleted after it, so that an owner has all of its companions beside it.
 */
export class CompanionMover {
  readonly #mapped: MappedClass
  readonly #classes: MappedClasses
  readonly #access: MoveAccess

  constructor(mapped: MappedClass, classes: MappedClasses, access: MoveAccess) {
    this.#mapped = mapped
    this.#classes = classes
    this.#access = access
  }

  /**
   * Closes the companions of claimed records and copies them; beside an owner that is not there yet the copies are closed, too. Returns the
   * owners whose companions are all copied: of the others a newer mover has claimed some.
   */
  async copy<Owner extends MovingOwner>(owners: readonly Owner[], isClosed: boolean): Promise<Owner[]> {
    const copied: Owner[] = []
    for (const owner of owners) if (await this.#copyAll(owner, isClosed, () => true)) copied.push(owner)
    return copied
  }

  /** Copies companions again beside a record that has come back and is still closed, except those that its mover has opened already. */
  async complete(owner: MovingOwner): Promise<void> {
    const isToCopy = ({ present }: FoundCompanion): boolean =>
      present === null || CLOSED_BIN in present.bins || !(MOVED_BIN in present.bins)
    await this.#copyAll(owner, true, isToCopy)
  }

  async #copyAll(owner: MovingOwner, isClosed: boolean, isToCopy: IsToCopy): Promise<boolean> {
    for (const group of this.#groups(owner.from, owner.bins))
      if (!(await this.#copyGroup(group, owner, isClosed, isToCopy))) return false
    await this.#removeUnused(owner)
    return true
  }

  async #copyGroup(
    group: readonly Companion[],
    owner: MovingOwner,
    isClosed: boolean,
    isToCopy: IsToCopy,
  ): Promise<boolean> {
    let left = group
    for (let attempt = 1; left.length > 0; attempt++) {
      const found = (await this.#find(left, owner)).filter(isToCopy)
      // Asked after they were read: another mover that has claimed the owner since writes to each of them before it lets others change them.
      if (!(await this.#isClaimed(owner))) return false
      await this.#removeStale(found, owner, isClosed)
      const there = found.flatMap((each) => (each.record === null ? [] : [{ ...each, record: each.record }]))
      const outcomes = await this.#access.run(there.map(({ from, record }) => this.#close(from, record, owner)))
      const closed = there.filter((_, i) => outcomes[i].state === 'written')
      const copied = closed.map((each) => ({ ...each, bins: copiedBins(each.record.bins, owner.claim, isClosed) }))
      await this.#access.run(copied.map((each) => this.#copyOf(each, owner, isClosed)))
      if (outcomes.some(({ reason }) => reason === 'guard') || !(await this.#areCopied(copied, owner))) return false
      left = there.filter((_, i) => RETRIED.includes(outcomes[i].reason!))
      if (left.length > 0 && attempt === ATTEMPTS) throw this.#access.overtaken(owner.from)
    }
    return true
  }

  async #find(
    group: readonly Companion[],
    { from: owner, bins: stored, to: { namespace } }: MovingOwner,
  ): Promise<FoundCompanion[]> {
    const { name } = this.#mapped.model
    const places = group.map(({ kind, from }) => ({ kind, from, to: { ...from, namespace } }))
    const found = await this.#access.readSettled(
      places.map(({ from }) => read(name, from)),
      places.map(({ to }) => read(name, to)),
    )
    return places.map((each, i) => {
      const record = found[i]
      const settled = record && { ...record, bins: each.kind.settled?.(owner, stored, record.bins) ?? record.bins }
      return { ...each, record: settled, present: found[places.length + i] }
    })
  }

  async #isClaimed({ from, to, claim, isReturned }: MovingOwner): Promise<boolean> {
    const [record] = await this.#access.read([read(this.#mapped.model.name, isReturned ? to : from, [MOVED_BIN])])
    return record?.bins[MOVED_BIN] === claim
  }

  /** Deletes companions of the copy that this one takes the place of, where the record has them in other places by now. */
  async #removeUnused({ to, bins, claim, present }: MovingOwner): Promise<void> {
    if (present == null) return
    const used = new Set(this.homes(to, bins).map(recordId))
    const unused = this.homes(to, present.bins).filter((home) => !used.has(recordId(home)))
    await this.#removeAll(unused, [notNewer(claim - 1)])
  }

  /** Deletes copies of companions that are there no longer; an open one was made since another mover has brought the record back. */
  async #removeStale(found: readonly FoundCompanion[], { claim }: MovingOwner, isClosed: boolean): Promise<void> {
    const stale = found.filter(({ record, present }) => record === null && present !== null)
    await this.#removeAll(
      stale.map(({ to }) => to),
      isClosed ? [notNewer(claim - 1), IS_CLOSED] : [notNewer(claim - 1)],
    )
  }

  #close(from: RecordKey, { bins, generation }: StoredRecord, { claim }: MovingOwner): WriteCommand {
    const closed = Object.entries(closedBins(bins, claim)).map(([name, each]) => writeBin(name, each as Value))
    return write(this.#mapped.model.name, from, closed, {
      exists: 'mustExist',
      ttl: 'keep',
      generation,
      // A companion that was deleted and made anew, by splits since, may have the same generation.
      guards: [notNewer(claim), binEquals(COMPANION_JOINED_BIN, (bins[COMPANION_JOINED_BIN] ?? null) as number | null)],
    })
  }

  #copyOf(
    { kind, to, record, present, bins }: FoundCompanion & { readonly record: StoredRecord; readonly bins: Bins },
    owner: MovingOwner,
    isClosed: boolean,
  ): WriteCommand {
    const { name, sendKey } = this.#mapped.model
    if (isClosed && kind.added !== undefined && isStray(present)) {
      const state = Object.entries(closedBins(bins, owner.claim)).map(([each, stored]) =>
        writeBin(each, stored as Value),
      )
      const guards = [holds(not(binExists(MOVED_BIN)))]
      return write(name, to, [...kind.added(bins), ...state], {
        exists: 'mustExist',
        ttl: record.ttl ?? 'never',
        guards,
      })
    }
    const reader = new UnmanagedReader(this.#classes, undefined)
    const operations = copyOperations(kind, bins, present?.bins, this.#tracked(owner), reader)
    return write(name, to, operations, {
      exists: 'upsert',
      ttl: record.ttl ?? 'never',
      // An open companion belongs to a record that another mover has brought back, and may have members since.
      guards: isClosed ? [notNewer(owner.claim), IS_CLOSED] : [notNewer(owner.claim)],
      sendKey,
    })
  }

  #tracked({ from: key, bins }: MovingOwner): Tracked {
    const entity = this.#mapped.codec.hydrate(bins)
    const { model } = this.#classes.ofEntity(entity)
    return { entity, model, key, state: 'gone', isUnread: false, deleteGuards: [] }
  }

  /** False where a newer mover has copied some. */
  async #areCopied(
    copied: readonly Pick<FoundCompanion & { readonly bins: Bins }, 'kind' | 'to' | 'bins' | 'present'>[],
    { claim }: MovingOwner,
  ): Promise<boolean> {
    const { name } = this.#mapped.model
    const copies = await this.#access.read(copied.map(({ to }) => read(name, to)))
    if (copies.some((copy) => copy?.bins[MOVED_BIN] !== claim)) return false
    const isAdded = ({ kind, present }: (typeof copied)[number]): boolean =>
      kind.added !== undefined && isStray(present)
    const wrong = copied.find(
      (each, i) => !isAdded(each) && !isDeepStrictEqual({ ...each.bins }, { ...copies[i]!.bins }),
    )
    if (wrong !== undefined) throw this.#access.overtaken(wrong.to)
    return true
  }

  /**
   * Deletes the companions of records that have left, or whatever a move of them has left. Outside of the archive those that are open stay: the
   * record has come back.
   */
  async removeFrom(owners: readonly MovingOwner[], isBack: boolean): Promise<void> {
    const open = isBack ? [] : [IS_CLOSED]
    for (const { from, bins, claim } of owners)
      await this.#removeAll(this.homes(from, bins), [notNewer(claim), ...open])
  }

  /** Deletes the copies of this mover: the record was deleted while it was moved, or another mover was faster, which may have opened some. */
  async removeCopies(owners: readonly MovingOwner[], areClosed = false): Promise<void> {
    for (const { to, bins, claim } of owners) {
      const own = binEquals(MOVED_BIN, claim)
      await this.#removeAll(this.homes(to, bins), areClosed ? [own, IS_CLOSED] : [own])
    }
  }

  async #removeAll(keys: readonly RecordKey[], guards: readonly Guard[]): Promise<void> {
    const { name, durableDelete } = this.#mapped.model
    await this.#access.run(keys.map((key) => remove(name, key, { guards, durableDelete })))
  }

  /**
   * Lets others change a record and its companions. The record is touched first and each companion is written: what a mover that was cut off
   * has sent, and arrives late, finds another generation. False where another mover has claimed it, or where a companion is missing that the
   * move with the claim `since`, or a later one, has left in the archive.
   */
  async open(key: RecordKey, bins: Bins, archive: string, since: number): Promise<boolean> {
    const { name } = this.#mapped.model
    // Another mover that claims the record meanwhile closes it again, and must not find it opened.
    const asClaimed = { exists: 'mustExist', ttl: 'keep', guards: [claimedBy(bins)] } as const
    const [touched] = await this.#access.run([write(name, key, [touch()], asClaimed)])
    if (touched.state !== 'written') return false
    const groups = this.#groups(key, bins).map((group) => group.map(({ from }) => from))
    const openings = (group: readonly RecordKey[]): ReturnType<typeof openingsOf> =>
      openingsOf(group, { bins, archive, since }, name, this.#access)
    // All must be there before the first is opened.
    for (const group of groups) if ((await openings(group)) === undefined) return false
    for (const group of groups) {
      const commands = await openings(group)
      if (commands === undefined) return false
      const outcomes = await this.#access.run(commands)
      if (outcomes.some(({ reason }) => reason === 'missing')) return false
    }
    const [opened] = await this.#access.run([write(name, key, [removeBin(ARCHIVING_BIN)], asClaimed)])
    return opened.state === 'written'
  }

  /** Companions that a record may have. */
  homes(owner: RecordKey, bins: Bins): readonly RecordKey[] {
    return this.#kinds(bins).flatMap((kind) => kind.of(owner, bins))
  }

  #groups(owner: RecordKey, bins: Bins): readonly (readonly Companion[])[] {
    const all = this.#kinds(bins).flatMap((kind) => kind.of(owner, bins).map((from) => ({ kind, from })))
    return Array.from({ length: Math.ceil(all.length / GROUP) }, (_, i) => all.slice(i * GROUP, (i + 1) * GROUP))
  }

  #kinds(bins: Bins): readonly CompanionRecords[] {
    return companionKinds(this.#classes.ofEntity(this.#mapped.codec.hydrate(bins)))
  }
}

/** Made by a writer while its owner was away, and counted in by others since. */
const isStray = (present: StoredRecord | null): boolean =>
  present !== null && !(CLOSED_BIN in present.bins) && !(MOVED_BIN in present.bins)

/** Changed or made since it was read. */
const RETRIED: readonly string[] = ['generation', 'missing']
