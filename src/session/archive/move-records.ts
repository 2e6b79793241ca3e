import { setTimeout as pause } from 'node:timers/promises'
import type { Driver } from '../../driver/driver.js'
import type { Tenant } from '../../keys/index.js'
import { ARCHIVING_BIN, DELETING_BIN, hasIndexedMembers, MOVED_BIN } from '../../model/index.js'
import { read, write } from '../../plan/command.js'
import { writeBin } from '../../plan/operations.js'
import { query } from '../../plan/query-command.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { IndexedBy } from '../../relations/contract/index-lookup.js'
import { foundKey } from '../load/key-of-found.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { verifyAccess } from '../verify/verify-access.js'
import { finishReturn, leftInArchive, type Returned } from './finish-return.js'
import { finishSplits } from './finish-splits.js'
import { ATTEMPTS, MoveAccess } from './move-access.js'
import { CompanionMover } from './move-companions.js'
import { claimedBy } from './move-guards.js'
import { indexedMembers, membersOf, type MovingMembers, type ReadRecord } from './move-members.js'
import { hasCompanions, hasGrowing } from './moved-companions.js'
import { claimAfter, claimOf, type Direction, type Moving, type Result } from './moving-record.js'
import { RecordCopies } from './record-copies.js'
import { hasLinksApart, ReturningLinks } from './returning-links.js'

/** A record that was read, and is to be moved unless it is where it belongs already. */
interface Found {
  readonly record: ReadRecord
  readonly moving?: Moving
  /** A move that was cut off has left the record closed, or something where it does not belong. */
  readonly unfinished?: Returned
  /** The record has come back, and nothing of it is in the archive, except for companions that may be left there. */
  readonly returned?: Returned
}

/** State that the movers of one call share. */
export interface Moves {
  readonly direction: Direction
  readonly classes: MappedClasses
  readonly driver: Driver
  readonly signal?: AbortSignal
  readonly tenant?: Tenant
  /** Called before records are moved; throws where one must not be. */
  readonly before?: (mapped: MappedClass, keys: readonly RecordKey[]) => void
  /** Called with the records that were moved. */
  readonly moved?: (mapped: MappedClass, keys: readonly RecordKey[]) => void
}

/** Members that are moved together. */
const STEP = 100

/**
 * Moves records to another namespace. Each is claimed and copied, the copy is read and compared, and only then the record is deleted, while
 * it still is what was copied. What moves along with a record goes before it: whoever adds a member meanwhile changes the record, which is
 * then read again. Whenever this is cut off, each record is there, or its copy is, or both are, and moving it again completes it. Returns
 * which of the keys were moved.
 */
export class RecordMover {
  readonly #mapped: MappedClass
  readonly #moves: Moves
  readonly #direction: Direction
  readonly #access: MoveAccess
  readonly #signal: AbortSignal | undefined
  readonly #belongs: MovingMembers['belongs']
  /** Records move with others that name them. */
  readonly #isMember: boolean
  /** Members are found by an index. */
  readonly #isIndexed: boolean
  /** Set where records are closed while they are moved: they have companions, or members that an index finds, or links to what stays. */
  readonly #companions: CompanionMover | undefined
  /** Records that leave are closed as well; one that only has links to what stays is not. */
  readonly #isClosedLeaving: boolean
  readonly #links: ReturningLinks | undefined
  readonly #copies: RecordCopies

  constructor(mapped: MappedClass, moves: Moves, belongs?: MovingMembers['belongs']) {
    this.#mapped = mapped
    this.#moves = moves
    this.#direction = moves.direction
    this.#access = new MoveAccess(moves.driver, mapped.model.name, moves.signal)
    this.#signal = moves.signal
    this.#belongs = belongs ?? (() => true)
    this.#isMember = belongs !== undefined
    const { entities } = moves.classes.model
    this.#isIndexed = mapped.kinds.some(({ model }) => hasIndexedMembers(model, entities))
    this.#isClosedLeaving = this.#isIndexed || mapped.kinds.some(({ model }) => hasCompanions(model))
    const { classes, driver, tenant, signal } = moves
    if (mapped.kinds.some(({ model }) => hasLinksApart(model, classes.model)))
      this.#links = new ReturningLinks(classes, this.#access, verifyAccess(driver, classes, tenant, { signal }))
    if (this.#isClosedLeaving || this.#links !== undefined)
      this.#companions = new CompanionMover(mapped, classes, this.#access)
    this.#copies = new RecordCopies(mapped, classes, this.#access, moves.direction, this.#companions)
  }

  async move(keys: readonly RecordKey[]): Promise<boolean[]> {
    this.#moves.before?.(this.#mapped, keys)
    const isMoved = keys.map(() => false)
    let left = keys.map((_, i) => i)
    for (let attempt = 1; left.length > 0; attempt++) {
      this.#signal?.throwIfAborted()
      const results = await this.#try(left.map((i) => keys[i]))
      left.forEach((i, n) => (isMoved[i] = results[n] === 'moved'))
      left = left.filter((_, n) => results[n] === 'overtaken')
      if (left.length === 0) break
      if (attempt === ATTEMPTS) throw this.#access.overtaken(keys[left[0]])
      // Movers that wait alike would overtake each other again.
      await pause(Math.random() * 2 ** attempt)
    }
    this.#moves.moved?.(
      this.#mapped,
      keys.filter((_, i) => isMoved[i]),
    )
    return isMoved
  }

  async #try(keys: readonly RecordKey[]): Promise<Result[]> {
    const found = await this.#readSettled(keys)
    await this.#moveMembers(found.flatMap((each) => each?.record ?? []))
    const isFinished = await inTurn(
      found,
      async (each) => each?.unfinished !== undefined && this.#finish(each.unfinished),
    )
    await this.#companions?.removeFrom(
      found.flatMap((each) => (each?.returned ? [{ ...each.returned, claim: claimOf(each.returned.bins) }] : [])),
      true,
    )
    const claimed = await this.#claim(found.flatMap((each) => each?.moving ?? []))
    // An add from now on is refused: the record is closed.
    if (this.#isIndexed) for (const each of found) if (each !== undefined) await this.#moveIndexed(each.record)
    const results = new Map<RecordKey['key'], Result>()
    for (const [each, result] of await this.#moveClaimed(claimed)) results.set(each.from.key, result)
    return keys.map(({ key }, i) => {
      if (found[i]?.moving !== undefined) return results.get(key) ?? 'overtaken'
      if (this.#direction.isBack !== true || found[i]?.unfinished === undefined) return 'missing'
      return isFinished[i] ? 'moved' : 'overtaken'
    })
  }

  async #moveClaimed(claimed: readonly Moving[]): Promise<readonly (readonly [Moving, Result])[]> {
    const { isBack, from } = this.#direction
    const companions = this.#companions
    let ready: readonly Moving[] = claimed
    if (companions !== undefined) {
      const copied = new Set(await companions.copy(claimed, isBack === true))
      ready = claimed.filter((each) => copied.has(each))
      // Another mover has claimed the record, or it was deleted, and then nobody else would find them.
      await companions.removeCopies(
        claimed.filter((each) => !copied.has(each)),
        isBack === true,
      )
    }
    ready = await this.#copies.write(ready)
    if (companions !== undefined && isBack) {
      for (const { to, bins } of ready) await this.#links?.settle(this.#mapped, to, bins)
      const isOpen = await inTurn(ready, ({ to, bins, claim }) => companions.open(to, bins, from, claim))
      ready = ready.filter((_, i) => isOpen[i])
    }
    const outcomes = await this.#copies.delete(ready)
    const moved = ready.filter((_, i) => outcomes[i] === 'moved')
    await companions?.removeFrom(moved, isBack === true)
    return ready.map((each, i) => [each, outcomes[i]] as const)
  }

  /** Completes what a move was cut off before: opens what has come back, or deletes what has left. */
  async #finish(unfinished: Returned): Promise<boolean> {
    const { to, bins } = unfinished
    const companions = this.#companions
    if (this.#direction.isBack !== true) {
      await companions?.removeFrom([{ ...unfinished, claim: claimOf(bins) }], false)
      return true
    }
    await this.#links?.settle(this.#mapped, to, bins)
    return finishReturn(unfinished, this.#mapped.model, companions, this.#access)
  }

  /** Moves members that a move has left behind, where only one of the two is there. */
  async #moveMembers(records: readonly ReadRecord[]): Promise<void> {
    for (const { mapped, keys, belongs } of membersOf(this.#mapped, records, this.#moves.classes)) {
      const mover = new RecordMover(mapped, this.#moves, belongs)
      for (let i = 0; i < keys.length; i += STEP) await mover.move(keys.slice(i, i + STEP))
    }
  }

  /** Moves members that an index finds where they leave. */
  async #moveIndexed(record: ReadRecord): Promise<void> {
    const { classes, driver, tenant } = this.#moves
    const { from: namespace } = this.#direction
    const find = async function* (lookup: IndexedBy): AsyncGenerator<readonly RecordKey[]> {
      const { model, index, value } = lookup
      const { name, bin, on } = index
      const target = classes.of(model.name)
      const bins = [...target.codec.binsOf([])]
      const command = query({ entity: model.name, namespace, set: model.set, index: { name, bin, on, value }, bins })
      for await (const records of driver.query(command))
        yield records.flatMap((each) => foundKey(target, each, tenant)?.record ?? [])
    }
    for await (const { mapped, keys, belongs } of indexedMembers(this.#mapped, record, classes, find)) {
      const mover = new RecordMover(mapped, this.#moves, belongs)
      for (let i = 0; i < keys.length; i += STEP) await mover.move(keys.slice(i, i + STEP))
    }
  }

  /** Reads records whose members do not move. */
  async #readSettled(keys: readonly RecordKey[]): Promise<(Found | undefined)[]> {
    const { classes, driver } = this.#moves
    const isGrowing = this.#mapped.kinds.some(({ model }) => hasGrowing(model))
    for (let attempt = 1; ; attempt++) {
      const found = await this.#read(keys)
      const leaving = found.flatMap((each) => (each?.moving === undefined ? [] : [each.record]))
      if (!isGrowing || !(await finishSplits(leaving, this.#mapped, classes, driver))) return found
      if (attempt === ATTEMPTS) throw this.#access.overtaken(leaving[0].key)
    }
  }

  async #read(keys: readonly RecordKey[]): Promise<(Found | undefined)[]> {
    const { from, to, isBack } = this.#direction
    const places = keys.map((key) => ({ from: { ...key, namespace: from }, to: { ...key, namespace: to } }))
    const { name } = this.#mapped.model
    const [sources, targets] = (['from', 'to'] as const).map((side) => places.map((each) => read(name, each[side])))
    // A list that a transaction has written may name a member that it has not brought yet.
    const found = this.#isMember
      ? await this.#access.readSettled(sources, targets)
      : await this.#access.read([...sources, ...targets])
    return places.map((each, i) => {
      const [record, present] = [found[i], found[places.length + i]]
      const last = isBack && present !== null ? present : (record ?? present)
      if (last === null || DELETING_BIN in last.bins || !this.#belongs(each.from, last.bins)) return undefined
      if (record === null || (isBack && present !== null)) {
        const found = { record: { key: each.to, bins: last.bins } }
        const left = isBack ? leftInArchive(last.bins, record, this.#companions !== undefined) : {}
        const isUnfinished = isBack
          ? ARCHIVING_BIN in last.bins || left.left !== undefined
          : this.#companions !== undefined
        const returned = { ...each, bins: last.bins, ...left }
        if (isUnfinished) return { ...found, unfinished: returned }
        return isBack && record === null && MOVED_BIN in last.bins ? { ...found, returned } : found
      }
      const claim = claimAfter(record.bins, present?.bins)
      const moving = { ...each, ...record, claim, present }
      return { moving, record: { key: each.from, bins: record.bins } }
    })
  }

  /** Marks records as being moved by this mover; those that were changed meanwhile are left out. */
  async #claim(found: readonly Moving[]): Promise<Moving[]> {
    const { name } = this.#mapped.model
    const { isBack } = this.#direction
    const isClosing = this.#isClosedLeaving && isBack !== true
    const outcomes = await this.#access.run(
      found.map(({ from, bins, generation, claim }) =>
        write(name, from, [writeBin(MOVED_BIN, claim), ...(isClosing ? [writeBin(ARCHIVING_BIN, claim)] : [])], {
          exists: 'mustExist',
          ttl: 'keep',
          generation,
          watchGeneration: true,
          // A record that was moved there and back has generations from the start, and maybe the same one again.
          guards: [claimedBy(bins)],
        }),
      ),
    )
    return found.flatMap((each, i) => {
      const { state, generation } = outcomes[i]
      if (state !== 'written' || generation === undefined) return []
      const { [ARCHIVING_BIN]: _, ...bins } = each.bins
      const closed = this.#companions !== undefined && isBack === true ? { [ARCHIVING_BIN]: each.claim } : {}
      return [{ ...each, generation, bins: { ...bins, [MOVED_BIN]: each.claim, ...closed } }]
    })
  }
}

/** Moves one after another: each may have many companions. */
async function inTurn<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (const one of all) results.push(await work(one))
  return results
}
