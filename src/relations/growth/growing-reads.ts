import {
  CLOSED_BIN,
  COMPANION_CLOSED,
  COMPANION_SHARDS_BIN,
  DELETING_BIN,
  type EntityModel,
  type RelationModel,
} from '../../model/index.js'
import { read, type Bins, type ReadCommand } from '../../plan/command.js'
import type { ReadOperation } from '../../plan/operation.js'
import { readBin } from '../../plan/operations.js'
import type { StoredRecord } from '../../plan/outcome.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import { neverStill } from '../contract/companion-errors.js'
import type { Tracked } from '../contract/tracked.js'
import { beside } from '../write/companion-lifecycle.js'
import { compareKeys, mergeKeys } from '../write/compare-keys.js'
import { keysAmong, PAGE, type LinkBin, type LinkEntry } from '../write/link-bin.js'
import { MembersApart } from '../write/members-apart.js'
import type { GrowingScheme } from './growing-scheme.js'
import type { Mover } from './mover.js'
import { pauseBefore } from './pause-before.js'
import { isMoving, ROOT, samePlacement, type Placement } from './placement.js'
import { readMoving, type ReadAccess } from './read-moving.js'
import type { StoredLinks } from './stored-links.js'

/** Times that records are asked which disagree with their owner: a move may have ended meanwhile. Twice as many where the owner changes each time. */
const TRIES = 5

/** Times that members are read which move all the while, and after how many of them a reader goes on with the move itself. */
const MOST_READS = 20
const HELPS_AFTER = 5

/** Reads to send to a record that holds members; undefined where it has no answer. */
type HomeQuestion = (home: RecordKey, placement: Placement) => readonly ReadOperation[] | undefined

interface HomeAnswer {
  readonly home: RecordKey
  readonly bins: Bins
}

interface Asked {
  readonly home: RecordKey
  readonly operations: readonly ReadOperation[]
}

/** Asks the records that hold members. While members move, all of them are read: only together the records tell which there are. */
export class GrowingReads extends MembersApart {
  readonly #scheme: GrowingScheme
  readonly #mover: Mover
  readonly #property: string
  readonly #stored: StoredLinks
  /** Links that are asked for: ended ones, or those that are there. */
  readonly #kind: LinkEntry[2]

  constructor(
    model: EntityModel,
    relation: RelationModel,
    target: EntityModel,
    layout: LinkBin,
    scheme: GrowingScheme,
    mover: Mover,
    stored: StoredLinks,
    kind?: LinkEntry[2],
  ) {
    super(model, relation, target, layout)
    this.#scheme = scheme
    this.#mover = mover
    this.#property = relation.name
    this.#stored = stored
    this.#kind = kind
  }

  /** Answers of the records that hold members, or undefined while members move. */
  async ask(owner: RecordKey, access: ReadAccess, question: HomeQuestion): Promise<readonly Bins[] | undefined> {
    const answers = await this.askEach(owner, access, question)
    return answers?.map(({ bins }) => bins)
  }

  /** Answers with the record that each of them is of. */
  async askEach(
    owner: RecordKey,
    access: ReadAccess,
    question: HomeQuestion,
  ): Promise<readonly HomeAnswer[] | undefined> {
    let areFree = false
    for (let tries = 0; tries < 2 * TRIES; tries++) {
      await pauseBefore(tries - TRIES)
      const placement = this.#scheme.of(owner)
      const homes = this.#scheme.homes(owner, placement.shards)
      const asked = homes.flatMap((home) => {
        const operations = question(home, placement)
        return operations === undefined ? [] : [{ home, operations }]
      })
      const isRoot = placement.shards === ROOT
      const records = await access.read(this.#commands(owner, isRoot, asked))
      const now = this.#scheme.learn(owner, records[0]?.bins ?? {})
      if (isMoving(now)) return undefined
      const answers = isRoot ? records : records.slice(1)
      if (!samePlacement(now, placement)) continue
      const odd = isRoot ? [] : asked.filter((_, i) => shardsOf(answers[i]) !== placement.shards)
      const areMissing = answers.every((one) => isOf(one, placement))
      if (odd.length === 0 || ((areMissing || tries >= TRIES) && (areFree || this.#mayBeMissing(owner, access)))) {
        if (odd.length > 0 && areFree) this.#scheme.noteMissing(owner)
        return answers.map((record, i) => ({ home: asked[i].home, bins: record?.bins ?? {} }))
      }
      // A companion that is being prepared has its members still.
      if (now.move !== undefined) return undefined
      areFree = !(await this.#areHeld([owner, ...odd.map(({ home }) => home)], access))
    }
    return undefined
  }

  /** The owner is read along with its companions. */
  #commands(owner: RecordKey, isRoot: boolean, asked: readonly Asked[]): ReadCommand[] {
    const about = this.#scheme.names.map(readBin)
    if (isRoot) return asked.map(({ home, operations }) => this.#read(home, [...operations, ...about]))
    const companions = asked.map(({ home, operations }) => this.#read(home, [...operations, ...this.#aboutCompanion]))
    return [this.#read(owner, about), ...companions]
  }

  get #aboutCompanion(): readonly ReadOperation[] {
    const names = [COMPANION_SHARDS_BIN, ...(this.model.archive === undefined ? [] : [CLOSED_BIN])]
    return names.map(readBin)
  }

  /** True where companions that are missing were never made: no transaction can be about to make them, or it was asked before. */
  #mayBeMissing(owner: RecordKey, { direct, isInside }: ReadAccess): boolean {
    // Inside a transaction a record that another one holds cannot be read.
    return (
      isInside === true ||
      direct === undefined ||
      direct.mostWrites(owner.namespace) === 0 ||
      this.#scheme.hasMissing(owner)
    )
  }

  /** True where a transaction that has moved members is not completed: some records show what they were before. */
  async #areHeld(keys: readonly RecordKey[], { direct }: ReadAccess): Promise<boolean> {
    if (direct === undefined || direct.mostWrites(keys[0].namespace) === 0) return false
    return (await direct.areHeld(this.model.name, keys)).includes(true)
  }

  /** All members, as one bin would hold them. */
  async whole(owner: RecordKey, access: ReadAccess): Promise<Value> {
    for (let tries = 0; tries < MOST_READS; tries++) {
      await pauseBefore(tries)
      if (tries >= HELPS_AFTER) await this.#help(owner, access)
      const settled = await this.ask(owner, access, () => [readBin(this.bin)])
      if (settled !== undefined) return this.merged(settled.map((bins) => bins[this.bin]))
      const moving = await readMoving(owner, this.#place, access)
      if (moving !== undefined) return this.layout.binOf(moving.filter(([, , kind]) => kind === this.#kind))
    }
    throw neverStill(this.model, owner.key, this.#property)
  }

  stored(owners: readonly RecordKey[], access: ReadAccess): Promise<readonly Value[]> {
    return Promise.all(owners.map((owner) => this.whole(owner, access)))
  }

  async there(owner: RecordKey, access: ReadAccess): Promise<readonly RecordKey[]> {
    const [root] = await access.read([read(this.model.name, owner, this.#scheme.names)])
    if (root !== null) this.#scheme.learn(owner, root.bins)
    const homes = beside(owner, this.#scheme)
    const records = await access.read(homes.map((home) => read(this.model.name, home, 'none')))
    return homes.filter((_, i) => records[i] !== null)
  }

  /** Goes on with a move that whoever began it may have left; what keeps it from ending shows when members are read again. */
  async #help(owner: RecordKey, { direct }: ReadAccess): Promise<void> {
    if (direct !== undefined) await this.#mover.finish(owner, direct).catch(() => undefined)
  }

  get #place(): Parameters<typeof readMoving>[1] {
    return { model: this.model, stored: this.#stored, scheme: this.#scheme }
  }

  async count({ key }: Tracked, reader: ReadAccess): Promise<number> {
    const settled = await this.ask(key, reader, () => [this.layout.reads.size(this.bin)])
    if (settled === undefined) return (await this.#allKeys(key, reader)).length
    return settled.reduce((sum, bins) => sum + Number(bins[this.bin] ?? 0), 0)
  }

  async held(owner: RecordKey, members: readonly UserKey[], reader: ReadAccess): Promise<readonly UserKey[]> {
    const settled = await this.ask(owner, reader, (home, { shards }) => {
      const id = recordId(home)
      const here = members.filter((member) => recordId(this.#scheme.homeOf(owner, member, shards)) === id)
      return here.length === 0 ? undefined : [this.layout.among(this.bin, here), readBin(DELETING_BIN)]
    })
    // A record that is being deleted has none: its delete may have looked for links already.
    if (settled !== undefined)
      return settled.flatMap((bins) => (bins[DELETING_BIN] == null ? keysAmong(bins[this.bin]) : []))
    const all = await this.#allKeys(owner, reader)
    return all.filter((key) => members.some((member) => compareKeys(member, key) === 0))
  }

  /** Attributes of the link to one member. */
  async attributesOf(owner: RecordKey, member: UserKey, reader: ReadAccess): Promise<Value | undefined> {
    const settled = await this.ask(owner, reader, (home, { shards }) =>
      recordId(home) === recordId(this.#scheme.homeOf(owner, member, shards))
        ? [this.layout.attributesOf!(this.bin, member)]
        : undefined,
    )
    if (settled !== undefined) return settled[0][this.bin]
    const all = this.layout.entriesIn(await this.whole(owner, reader), this.target)
    return all.find(([key]) => compareKeys(key, member) === 0)?.[1]
  }

  /** Keys in their order, so many at a time; those that move meanwhile are shown once. */
  async *walk(owner: RecordKey, reader: ReadAccess, count: number): AsyncGenerator<readonly UserKey[]> {
    let last: UserKey | undefined
    for (;;) {
      const pages = await this.#pages(owner, reader, count + 1, last)
      // Of a record that has more, nothing is known beyond its page.
      const ends = pages.filter(({ length }) => length > count).map((page) => page.at(-1)!)
      const bound = ends.sort(compareKeys).at(0)
      const keys = mergeKeys(pages).filter(
        (key) =>
          (last === undefined || compareKeys(key, last) > 0) && (bound === undefined || compareKeys(key, bound) <= 0),
      )
      for (let i = 0; i < keys.length; i += count) yield keys.slice(i, i + count)
      if (bound === undefined) return
      last = bound
    }
  }

  /** First keys again and again, until there are none: those who ask take them out. */
  async *firsts(owner: RecordKey, reader: ReadAccess, count: number): AsyncGenerator<readonly UserKey[]> {
    for (;;) {
      const keys = await this.firstKeys(owner, reader, count)
      if (keys.length === 0) return
      for (let i = 0; i < keys.length; i += count) yield keys.slice(i, i + count)
    }
  }

  protected async firstKeys(
    owner: RecordKey,
    reader: ReadAccess,
    count: number,
    from?: UserKey,
  ): Promise<readonly UserKey[]> {
    return mergeKeys(await this.#pages(owner, reader, count, from))
  }

  /** The first keys of each record, or those from a key on; while members move, all keys as they are in no record. */
  async #pages(
    owner: RecordKey,
    reader: ReadAccess,
    count: number,
    from?: UserKey,
  ): Promise<readonly (readonly UserKey[])[]> {
    const settled = await this.ask(owner, reader, () => [this.layout.page(this.bin, count, from)])
    if (settled !== undefined) return settled.map((bins) => (bins[PAGE] ?? []) as readonly UserKey[])
    const all = await this.#allKeys(owner, reader)
    return [from === undefined ? all : all.filter((key) => compareKeys(key, from) >= 0)]
  }

  async #allKeys(owner: RecordKey, reader: ReadAccess): Promise<readonly UserKey[]> {
    return mergeKeys([this.layout.keysIn(await this.whole(owner, reader), this.target)])
  }

  #read(key: RecordKey, operations: readonly ReadOperation[]): ReadCommand {
    return read(this.model.name, key, 'none', operations)
  }
}

/** Of a companion that is not there nothing is known to be wrong: nothing was ever added to it. */
const isOf = (record: StoredRecord | null, { shards }: Placement): boolean =>
  record === null || shardsOf(record) === shards

/** Number that a companion says; one that moves to the archive with its owner keeps in another bin what it said before. */
function shardsOf(record: StoredRecord | null): Value | undefined {
  const shards = record?.bins[COMPANION_SHARDS_BIN]
  return shards === COMPANION_CLOSED ? record!.bins[CLOSED_BIN] : shards
}
