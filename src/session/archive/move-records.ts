import { isDeepStrictEqual } from 'node:util'
import type { Driver } from '../../driver/driver.js'
import type { Tenant } from '../../keys/index.js'
import { ARCHIVING_BIN, DELETING_BIN, hasIndexedMembers, MOVED_BIN } from '../../model/index.js'
import { binEquals, read, remove, write, type Bins } from '../../plan/command.js'
import { writeBin } from '../../plan/operations.js'
import type { StoredRecord } from '../../plan/outcome.js'
import { query } from '../../plan/query-command.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { IndexedBy } from '../../relations/contract/index-lookup.js'
import { foundKey } from '../load/key-of-found.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { verifyAccess } from '../verify/verify-access.js'
import { copyOf } from './copy-record.js'
import { ATTEMPTS, MoveAccess } from './move-access.js'
import { CompanionMover, notNewer } from './move-companions.js'
import { indexedMembers, membersOf, type MovingMembers, type ReadRecord } from './move-members.js'
import { hasCompanions } from './moved-companions.js'
import { hasLinksApart, ReturningLinks } from './returning-links.js'

/** Namespaces between which records are moved. */
interface Direction {
  readonly from: string
  readonly to: string
  /** The way back never overwrites: where both are, the one outside of the archive is the record. */
  readonly isBack?: true
}

/** A record that was read, and is to be moved unless it is where it belongs already. */
interface Found {
  readonly record: ReadRecord
  readonly moving?: Moving
  /** A move that was cut off has left its companions closed, or where they do not belong. */
  readonly isUnfinished?: boolean
}

type Result = 'moved' | 'missing' | 'overtaken'

/** State that the movers of one call share. */
export interface Moves {
  readonly direction: Direction
  readonly classes: MappedClasses
  readonly driver: Driver
  readonly signal?: AbortSignal
  readonly tenant?: Tenant
  /** Told before records are moved; throws where one must not be. */
  readonly before?: (mapped: MappedClass, keys: readonly RecordKey[]) => void
  /** Told of records that were moved. */
  readonly moved?: (mapped: MappedClass, keys: readonly RecordKey[]) => void
}

/** Members that are moved together. */
const STEP = 100

/** A record on its way, which its mover has claimed. */
interface Moving {
  readonly from: RecordKey
  readonly to: RecordKey
  readonly bins: Bins
  readonly ttl: number | null
  /** Generation of the record since it was claimed. */
  readonly generation: number
  /** Later claims are larger: an older copy never takes the place of a newer one. */
  readonly claim: number
  /** The record that the copy takes the place of. */
  readonly present: StoredRecord | null
}

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
  /** Members are found by an index. */
  readonly #isIndexed: boolean
  /** Set where records are closed while they are moved: they have companions, or members that an index finds, or links to what stays. */
  readonly #companions: CompanionMover | undefined
  /** Records that leave are closed as well; one that only has links to what stays is not. */
  readonly #isClosedLeaving: boolean
  readonly #links: ReturningLinks | undefined

  constructor(mapped: MappedClass, moves: Moves, belongs: MovingMembers['belongs'] = () => true) {
    this.#mapped = mapped
    this.#moves = moves
    this.#direction = moves.direction
    this.#access = new MoveAccess(moves.driver, mapped.model.name, moves.signal)
    this.#signal = moves.signal
    this.#belongs = belongs
    const { entities } = moves.classes.model
    this.#isIndexed = mapped.kinds.some(({ model }) => hasIndexedMembers(model, entities))
    this.#isClosedLeaving = this.#isIndexed || mapped.kinds.some(({ model }) => hasCompanions(model))
    const { classes, driver, tenant, signal } = moves
    if (mapped.kinds.some(({ model }) => hasLinksApart(model, classes.model)))
      this.#links = new ReturningLinks(classes, this.#access, verifyAccess(driver, classes, tenant, { signal }))
    if (this.#isClosedLeaving || this.#links !== undefined)
      this.#companions = new CompanionMover(mapped, classes, this.#access)
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
      if (left.length > 0 && attempt === ATTEMPTS) throw this.#access.overtaken(keys[left[0]])
    }
    this.#moves.moved?.(
      this.#mapped,
      keys.filter((_, i) => isMoved[i]),
    )
    return isMoved
  }

  async #try(keys: readonly RecordKey[]): Promise<Result[]> {
    const found = await this.#read(keys)
    await this.#moveMembers(found.flatMap((each) => each?.record ?? []))
    for (const each of found) if (each?.isUnfinished === true) await this.#finish(each.record)
    const claimed = await this.#claim(found.flatMap((each) => each?.moving ?? []))
    // Whoever adds one from now on is refused: the record is closed.
    if (this.#isIndexed) for (const each of found) if (each !== undefined) await this.#moveIndexed(each.record)
    const results = new Map<RecordKey['key'], Result>()
    for (const [each, result] of await this.#moveClaimed(claimed)) results.set(each.from.key, result)
    return keys.map(({ key }, i) => {
      if (found[i]?.moving !== undefined) return results.get(key) ?? 'overtaken'
      return this.#direction.isBack && found[i]?.isUnfinished === true ? 'moved' : 'missing'
    })
  }

  async #moveClaimed(claimed: readonly Moving[]): Promise<readonly (readonly [Moving, Result])[]> {
    const { isBack, from } = this.#direction
    const companions = this.#companions
    let ready = companions === undefined ? claimed : await companions.copy(claimed, isBack === true)
    await this.#copy(ready)
    if (companions !== undefined && isBack) {
      for (const { to, bins } of ready) await this.#links?.settle(this.#mapped, to, bins)
      const isOpen = await inTurn(ready, ({ to, bins }) => companions.open(to, bins, from))
      ready = ready.filter((_, i) => isOpen[i])
    }
    const outcomes = await this.#delete(ready)
    await companions?.removeFrom(ready.filter((_, i) => outcomes[i] === 'moved'))
    await companions?.removeCopies(ready.filter((_, i) => outcomes[i] === 'missing'))
    return ready.map((each, i) => [each, outcomes[i]] as const)
  }

  /** Completes what a move was cut off before: opens what has come back, or deletes what has left. */
  async #finish({ key, bins }: ReadRecord): Promise<void> {
    const { isBack, from: namespace } = this.#direction
    const companions = this.#companions!
    const owner = { from: { ...key, namespace }, to: key, bins, claim: Number(bins[MOVED_BIN] ?? 0) }
    if (isBack !== true) return companions.removeFrom([owner])
    await this.#links?.settle(this.#mapped, key, bins)
    let isOpen = await companions.open(key, bins, namespace)
    if (!isOpen) {
      await companions.copy([owner], true)
      isOpen = await companions.open(key, bins, namespace)
    }
    if (!isOpen) throw this.#access.overtaken(key)
    // The record was written when it was opened, so that a mover which has copied it before deletes it no more.
    const { name, durableDelete } = this.#mapped.model
    await this.#access.run([remove(name, owner.from, { guards: [binEquals(MOVED_BIN, owner.claim)], durableDelete })])
    await companions.removeFrom([owner])
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

  async #read(keys: readonly RecordKey[]): Promise<(Found | undefined)[]> {
    const { from, to, isBack } = this.#direction
    const places = keys.map((key) => ({ from: { ...key, namespace: from }, to: { ...key, namespace: to } }))
    const { name } = this.#mapped.model
    const commands = places.flatMap((each) => [read(name, each.from), read(name, each.to)])
    const found = await this.#access.read(commands)
    return places.map((each, i) => {
      const [record, present] = [found[2 * i], found[2 * i + 1]]
      const last = isBack && present !== null ? present : (record ?? present)
      if (last === null || DELETING_BIN in last.bins || !this.#belongs(each.from, last.bins)) return undefined
      if (record === null || (isBack && present !== null)) {
        // A copy of the same move was left behind.
        const isLeft = record !== null && record.bins[MOVED_BIN] === last.bins[MOVED_BIN]
        const isUnfinished = this.#companions !== undefined && (!isBack || isLeft || ARCHIVING_BIN in last.bins)
        return { record: { key: each.to, bins: last.bins }, isUnfinished }
      }
      const before = Math.max(Number(record.bins[MOVED_BIN] ?? 0), Number(present?.bins[MOVED_BIN] ?? 0))
      const moving = { ...each, ...record, claim: Math.max(Date.now(), before + 1), present }
      return { moving, record: { key: each.from, bins: record.bins } }
    })
  }

  /** Marks records as being moved by this mover; those that were changed meanwhile are left out. */
  async #claim(found: readonly Moving[]): Promise<Moving[]> {
    const { name } = this.#mapped.model
    const { isBack } = this.#direction
    const isClosing = this.#isClosedLeaving && isBack !== true
    const outcomes = await this.#access.run(
      found.map(({ from, generation, claim }) =>
        write(name, from, [writeBin(MOVED_BIN, claim), ...(isClosing ? [writeBin(ARCHIVING_BIN, claim)] : [])], {
          exists: 'mustExist',
          ttl: 'keep',
          generation,
          watchGeneration: true,
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

  /** Writes the copies, never over a newer one, and compares them with what was read. */
  async #copy(claimed: readonly Moving[]): Promise<void> {
    const commands = claimed.map((each) => {
      const command = copyOf(
        this.#mapped,
        { bins: each.bins, ttl: each.ttl, generation: 0 },
        each.to,
        each.present,
        this.#moves.classes,
      )
      if (this.#direction.isBack) return { ...command, exists: 'mustNotExist' as const }
      return { ...command, guards: [notNewer(each.claim)] }
    })
    await this.#access.run(commands)
    const { name } = this.#mapped.model
    const copies = await this.#access.read(claimed.map(({ to }) => read(name, to)))
    const wrong = claimed.find(({ bins, claim }, i) => {
      const copy = copies[i]
      return copy?.bins[MOVED_BIN] === claim && !isDeepStrictEqual({ ...bins }, { ...copy.bins })
    })
    if (wrong !== undefined) throw this.#access.overtaken(wrong.to)
  }

  /** A record that is gone was moved by another mover, or deleted: then its copy goes, too. */
  async #delete(claimed: readonly Moving[]): Promise<Result[]> {
    const { name, durableDelete } = this.#mapped.model
    const outcomes = await this.#access.run(
      claimed.map(({ from, generation, claim }) =>
        remove(name, from, { generation, guards: [binEquals(MOVED_BIN, claim)], durableDelete }),
      ),
    )
    const deleted = claimed.filter((_, i) => outcomes[i].reason === 'missing')
    await this.#access.run(
      deleted.map(({ to, claim }) => remove(name, to, { guards: [binEquals(MOVED_BIN, claim)], durableDelete })),
    )
    return outcomes.map(({ state, reason }) =>
      state === 'written' ? 'moved' : reason === 'missing' ? 'missing' : 'overtaken',
    )
  }
}

/** One after another: each may have many companions. */
async function inTurn<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (const one of all) results.push(await work(one))
  return results
}
