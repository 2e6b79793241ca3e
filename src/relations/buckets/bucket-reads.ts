import { cut } from '../contract/collection-members.js'
import type { CollectionMembers, TimedKey } from '../contract/collection-members.js'
import type { TimeRange } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import { read } from '../../plan/command.js'
import type { ReadOperation } from '../../plan/operation.js'
import { readBin } from '../../plan/operations.js'
import type { StoredRecord } from '../../plan/outcome.js'
import { userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { Reader } from '../contract/reader.js'
import type { Tracked } from '../contract/tracked.js'
import type { Answer, CompanionQuestion } from '../write/ask-companions.js'
import { compareKeys, mergeKeys } from '../write/compare-keys.js'
import { keysAmong, PAGE, type LinkBin } from '../write/link-bin.js'
import { MembersApart } from '../write/members-apart.js'
import { askBuckets, learnBuckets } from './ask-buckets.js'
import type { Bucket, BucketScheme } from './bucket-scheme.js'
import type { LinkDates } from './link-dates.js'

/** A stored key, and the time of its link: its date, or the begin of its bucket. */
interface Timed {
  readonly stored: UserKey
  readonly time: number
}

type Asking = Pick<Reader, 'read'>

/** Questions about links in buckets of time. A key does not say when: what asks for one asks all buckets. */
export class BucketReads extends MembersApart {
  readonly #scheme: BucketScheme
  readonly #dates: LinkDates

  constructor(
    model: EntityModel,
    relation: RelationModel,
    target: EntityModel,
    layout: LinkBin,
    scheme: BucketScheme,
    dates: LinkDates,
  ) {
    super(model, relation, target, layout)
    this.#scheme = scheme
    this.#dates = dates
  }

  readonly byTime: CollectionMembers['byTime'] = {
    window: async (owner, reader, range) => this.#keysOf(owner, await this.#window(owner.key, reader, range), reader),
    nearest: async (owner, reader, count, end) =>
      this.#keysOf(owner, await this.#nearest(owner.key, reader, count, end), reader),
    timeOf: (attributes) =>
      this.#dates.on === undefined ? Date.now() : attributes && this.#dates.timeAmong(attributes),
  }

  /** Asks those buckets of each owner for which there is a question. */
  ask(
    owners: readonly RecordKey[],
    reader: Asking,
    question: CompanionQuestion,
  ): Promise<readonly (readonly Answer[])[]> {
    return askBuckets(this.model, this.#scheme, owners, reader, question)
  }

  async count({ key }: Tracked, reader: Reader): Promise<number> {
    const answers = await this.#askAll(key, reader, this.layout.reads.size(this.bin))
    return answers.reduce((sum, { record }) => sum + Number(record?.bins[this.bin] ?? 0), 0)
  }

  async held(owner: RecordKey, members: readonly UserKey[], reader: Asking): Promise<readonly UserKey[]> {
    const answers = await this.#askAll(owner, reader, this.layout.among(this.bin, members))
    return mergeKeys(answers.map(({ record }) => keysAmong(record?.bins[this.bin])))
  }

  /** Buckets that have the member, from the oldest. */
  async holders(owner: RecordKey, member: UserKey, reader: Asking): Promise<readonly RecordKey[]> {
    const answers = await this.#askAll(owner, reader, this.layout.among(this.bin, [member]))
    return answers.filter(({ record }) => keysAmong(record?.bins[this.bin]).length > 0).map(({ home }) => home)
  }

  /** Attributes of the newest link to a member. */
  async attributesOf(owner: RecordKey, member: UserKey, reader: Asking): Promise<Value | undefined> {
    const answers = await this.#askAll(owner, reader, this.layout.attributesOf!(this.bin, member))
    return answers.map(({ record }) => record?.bins[this.bin]).findLast((carried) => carried != null)
  }

  protected async firstKeys(
    owner: RecordKey,
    reader: Reader,
    count: number,
    from?: UserKey,
  ): Promise<readonly UserKey[]> {
    const answers = await this.#askAll(owner, reader, this.layout.page(this.bin, count, from))
    return mergeKeys(answers.map(({ record }) => pageIn(record)))
  }

  /** Keys of one bucket after another, so many at a time, from each key on. */
  async *walk(owner: RecordKey, reader: Reader, count: number): AsyncGenerator<readonly UserKey[]> {
    for (const { home } of await this.#buckets(owner, reader)) {
      let last: UserKey | undefined
      for (;;) {
        const found = await this.#page(home, reader, count + 1, last)
        const isAgain = last !== undefined && found.length > 0 && userKeyId(found[0]) === userKeyId(last)
        const keys = (isAgain ? found.slice(1) : found).slice(0, count)
        if (keys.length > 0) yield keys
        if (found.length <= count) break
        last = keys.at(-1)
      }
    }
  }

  /** Keys of one bucket after another, again and again from the first, until it has none. */
  async *firsts(owner: RecordKey, reader: Reader, count: number): AsyncGenerator<readonly UserKey[]> {
    for (const { home } of await this.#buckets(owner, reader)) {
      for (;;) {
        const keys = await this.#page(home, reader, count)
        if (keys.length === 0) break
        yield keys
      }
    }
  }

  /** Links of the buckets that the range touches; where links have dates, those of the range alone. */
  async #window(owner: RecordKey, reader: Reader, { from, to }: TimeRange): Promise<readonly Timed[]> {
    const [begin, end] = [from.getTime(), to.getTime()]
    const buckets = (await this.#buckets(owner, reader)).filter(
      (bucket) => bucket.end > begin && bucket.start < end && begin < end,
    )
    const found = await this.#read(buckets, reader, readBin(this.bin))
    const isWithin = ({ time }: Timed): boolean => this.#dates.on === undefined || (time >= begin && time < end)
    return onlyNewest(found.filter(isWithin))
  }

  /** Links of one bucket, of two more, of four more, until there are enough. */
  async #nearest(owner: RecordKey, reader: Reader, count: number, end: 'first' | 'last'): Promise<readonly Timed[]> {
    const inOrder = await this.#buckets(owner, reader)
    const buckets = end === 'last' ? inOrder.toReversed() : inOrder
    // Only dates tell which links of a bucket are the first or last.
    const { on } = this.#dates
    const operation =
      on === undefined ? this.layout.reads.slice(this.bin, end === 'last' ? -count : 0, count) : readBin(this.bin)
    let found: readonly Timed[] = []
    for (let at = 0, step = 1; at < buckets.length && found.length < count; at += step, step *= 2)
      found = onlyNewest([...found, ...(await this.#read(buckets.slice(at, at + step), reader, operation))])
    return cut(found, end === 'last' ? { offset: -count, count } : { offset: 0, count })
  }

  async #read(buckets: readonly Bucket[], reader: Reader, operation: ReadOperation): Promise<readonly Timed[]> {
    const records = await reader.read(buckets.map(({ home }) => read(this.model.name, home, 'none', [operation])))
    return records.flatMap((record, i) => this.#timed(record?.bins[this.bin], buckets[i].start))
  }

  /** Keys alone, or the bin as it is stored. */
  #timed(stored: Value | undefined, start: number): readonly Timed[] {
    if (stored === undefined || stored === null) return []
    if (Array.isArray(stored)) return (stored as readonly UserKey[]).map((key) => ({ stored: key, time: start }))
    const entries = this.layout.entriesIn(stored, this.target)
    if (this.#dates.on === undefined) return entries.map(([key]) => ({ stored: key, time: start }))
    return entries.map(([key, carried]) => ({ stored: key, time: this.#dates.timeIn(carried) ?? start }))
  }

  #keysOf(owner: Tracked, found: readonly Timed[], reader: Reader): readonly TimedKey[] {
    const keys = this.keysOf(
      owner,
      found.map(({ stored }) => stored),
      reader,
    )
    return found.map(({ time }, i) => ({ key: keys[i], time }))
  }

  async #buckets(owner: RecordKey, reader: Reader): Promise<readonly Bucket[]> {
    await learnBuckets(this.model, this.#scheme, [owner], reader)
    return this.#scheme.bucketsIn(owner)
  }

  async #page(home: RecordKey, reader: Reader, count: number, from?: UserKey): Promise<readonly UserKey[]> {
    const [page] = await reader.read([read(this.model.name, home, 'none', [this.layout.page(this.bin, count, from)])])
    return pageIn(page)
  }

  async #askAll(owner: RecordKey, reader: Asking, operation: ReadOperation): Promise<readonly Answer[]> {
    const [answers] = await this.ask([owner], reader, (home) => read(this.model.name, home, 'none', [operation]))
    return answers
  }
}

const pageIn = (record: StoredRecord | null): readonly UserKey[] => (record?.bins[PAGE] ?? []) as readonly UserKey[]

/** From the oldest, each key once; who was added again on another day counts on the last. */
function onlyNewest(found: readonly Timed[]): readonly Timed[] {
  const newest = new Map<string, Timed>()
  for (const each of found) {
    const known = newest.get(userKeyId(each.stored))
    if (known === undefined || known.time <= each.time) newest.set(userKeyId(each.stored), each)
  }
  return [...newest.values()].sort((a, b) => a.time - b.time || compareKeys(a.stored, b.stored))
}
