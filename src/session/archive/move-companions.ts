import { isDeepStrictEqual } from 'node:util'
import { ARCHIVING_BIN, CLOSED_BIN, MOVED_BIN } from '../../model/index.js'
import { binEquals, holds, read, remove, write, type Bins, type Guard, type WriteCommand } from '../../plan/command.js'
import { bin, binExists, le, not, or, value } from '../../plan/expression.js'
import { removeBin, touch, writeBin } from '../../plan/operations.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { CompanionRecords } from '../../relations/contract/relation-strategy.js'
import type { Tracked } from '../../relations/contract/tracked.js'
import { UnmanagedReader } from '../load/unmanaged-reader.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { closedBins, companionKinds, copiedBins, copyOperations, opening } from './moved-companions.js'
import { ATTEMPTS, type MoveAccess } from './move-access.js'

/** Companions that are read and copied together: each may have a megabyte. */
const GROUP = 8

/** A record whose companions move with it. */
export interface MovingOwner {
  readonly from: RecordKey
  readonly to: RecordKey
  readonly bins: Bins
  readonly claim: number
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

/** A copy that an older mover has made, or anything that none has: a mover never replaces what a newer one has copied. */
export const notNewer = (claim: number): Guard =>
  holds(or(not(binExists(MOVED_BIN)), le(bin('int', MOVED_BIN), value(claim))))

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
    for (const owner of owners) if (await this.#copyAll(owner, isClosed)) copied.push(owner)
    return copied
  }

  async #copyAll(owner: MovingOwner, isClosed: boolean): Promise<boolean> {
    for (const group of this.#groups(owner.from, owner.bins))
      if (!(await this.#copyGroup(group, owner, isClosed))) return false
    return true
  }

  async #copyGroup(group: readonly Companion[], owner: MovingOwner, isClosed: boolean): Promise<boolean> {
    let left = group
    for (let attempt = 1; left.length > 0; attempt++) {
      const found = await this.#find(left, owner)
      await this.#removeStale(found, owner)
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

  async #find(group: readonly Companion[], { to: { namespace } }: MovingOwner): Promise<FoundCompanion[]> {
    const { name } = this.#mapped.model
    const places = group.map(({ kind, from }) => ({ kind, from, to: { ...from, namespace } }))
    const records = await this.#access.read(places.flatMap(({ from, to }) => [read(name, from), read(name, to)]))
    return places.map((each, i) => ({ ...each, record: records[2 * i], present: records[2 * i + 1] }))
  }

  /** Deletes copies of companions that are there no longer. */
  async #removeStale(found: readonly FoundCompanion[], { claim }: MovingOwner): Promise<void> {
    const stale = found.filter(({ record, present }) => record === null && present !== null)
    await this.#removeAll(
      stale.map(({ to }) => to),
      [notNewer(claim - 1)],
    )
  }

  #close(from: RecordKey, { bins, generation }: StoredRecord, { claim }: MovingOwner): WriteCommand {
    const closed = Object.entries(closedBins(bins, claim)).map(([name, each]) => writeBin(name, each as Value))
    return write(this.#mapped.model.name, from, closed, {
      exists: 'mustExist',
      ttl: 'keep',
      generation,
      guards: [notNewer(claim)],
    })
  }

  #copyOf(
    { kind, to, record, present, bins }: FoundCompanion & { readonly record: StoredRecord; readonly bins: Bins },
    owner: MovingOwner,
    isClosed: boolean,
  ): WriteCommand {
    const { name, sendKey } = this.#mapped.model
    const reader = new UnmanagedReader(this.#classes, undefined)
    const operations = copyOperations(kind, bins, present?.bins, this.#tracked(owner), reader)
    return write(name, to, operations, {
      exists: 'upsert',
      ttl: record.ttl ?? 'never',
      // One that is open belongs to a record that another mover has brought back, and may have members since.
      guards: isClosed ? [notNewer(owner.claim), holds(binExists(CLOSED_BIN))] : [notNewer(owner.claim)],
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
    copied: readonly { readonly to: RecordKey; readonly bins: Bins }[],
    { claim }: MovingOwner,
  ): Promise<boolean> {
    const { name } = this.#mapped.model
    const copies = await this.#access.read(copied.map(({ to }) => read(name, to)))
    if (copies.some((copy) => copy?.bins[MOVED_BIN] !== claim)) return false
    const wrong = copied.find(({ bins }, i) => !isDeepStrictEqual({ ...bins }, { ...copies[i]!.bins }))
    if (wrong !== undefined) throw this.#access.overtaken(wrong.to)
    return true
  }

  /** Deletes the companions of records that have left, or whatever a move of them has left. */
  async removeFrom(owners: readonly MovingOwner[]): Promise<void> {
    for (const { from, bins, claim } of owners) await this.#removeAll(this.homes(from, bins), [notNewer(claim)])
  }

  /** Deletes the copies of this mover: the record was deleted while it was moved. */
  async removeCopies(owners: readonly MovingOwner[]): Promise<void> {
    for (const { to, bins, claim } of owners) await this.#removeAll(this.homes(to, bins), [binEquals(MOVED_BIN, claim)])
  }

  async #removeAll(keys: readonly RecordKey[], guards: readonly Guard[]): Promise<void> {
    const { name, durableDelete } = this.#mapped.model
    await this.#access.run(keys.map((key) => remove(name, key, { guards, durableDelete })))
  }

  /**
   * Lets others change a record and its companions. The record is touched first and each companion is written: what a mover that was cut off
   * has sent, and arrives late, finds another generation. False where another mover has claimed it, or where a companion is missing that the
   * same move has left in the archive.
   */
  async open(key: RecordKey, bins: Bins, archive: string): Promise<boolean> {
    const { name } = this.#mapped.model
    // Another mover that claims the record meanwhile closes it again, and must not find it opened.
    const asClaimed = { exists: 'mustExist', ttl: 'keep', guards: [claimedBy(bins)] } as const
    const [touched] = await this.#access.run([write(name, key, [touch()], asClaimed)])
    if (touched.state !== 'written') return false
    for (const group of this.#groups(key, bins)) {
      const homes = group.map(({ from }) => from)
      const reads = homes.flatMap((home) => [
        read(name, home, [CLOSED_BIN, MOVED_BIN]),
        read(name, { ...home, namespace: archive }, [MOVED_BIN]),
      ])
      const found = await this.#access.read(reads)
      const isLeft = (i: number): boolean => found[2 * i + 1]?.bins[MOVED_BIN] === bins[MOVED_BIN]
      if (homes.some((_, i) => found[2 * i] === null && isLeft(i))) return false
      const commands = homes.flatMap((home, i) => {
        const record = found[2 * i]
        if (record === null) return []
        const closed = (record.bins[CLOSED_BIN] ?? null) as string | number | null
        return write(name, home, closed === null ? [touch()] : opening(closed), {
          exists: 'mustExist',
          ttl: 'keep',
          guards: [binEquals(CLOSED_BIN, closed), claimedBy(record.bins)],
        })
      })
      await this.#access.run(commands)
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

/** The record is still claimed by the mover that has claimed it when it was read. */
const claimedBy = ({ [MOVED_BIN]: claim }: Bins): Guard => binEquals(MOVED_BIN, (claim ?? null) as number | null)

/** Changed or made since it was read. */
const RETRIED: readonly string[] = ['generation', 'missing']
