import { cut } from '../contract/collection-members.js'
import type { CollectionMembers, TimedKey } from '../contract/collection-members.js'
import type { TimeRange } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import { read } from '../../plan/command.js'
import type { ReadOperation } from '../../plan/operation.js'
import { readBin } from '../../plan/operations.js'
import { userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { Reader } from '../contract/reader.js'
import type { Tracked } from '../contract/tracked.js'
import type { Answer, CompanionQuestion } from '../write/ask-companions.js'
import { compareKeys, mergeKeys } from '../write/compare-keys.js'
import { keysAmong, type LinkBin } from '../write/link-bin.js'
import { HomeReads } from '../write/home-reads.js'
import { askBuckets, learnBuckets } from './ask-buckets.js'
import type { Bucket, BucketScheme } from './bucket-scheme.js'
import type { LinkDates } from './link-dates.js'

/** A stored key, and the time of its link: its date, or the start of its bucket. */
interface Timed {
  readonly stored: UserKey
  readonly time: number
}

type Asking = Pick<Reader, 'read'>

/** Questions about links in buckets of time. A key does not say when its link was made, so a question about one goes to all buckets. */
export class BucketReads extends HomeReads {
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

  async held(owner: RecordKey, members: readonly UserKey[], reader: Asking): Promise<readonly UserKey[]> {
    const answers = await this.askAll(owner, reader, this.layout.among(this.bin, members))
    return mergeKeys(answers.map(({ record }) => keysAmong(record?.bins[this.bin])))
  }

  /** Buckets that have the member, from the oldest. */
  async holders(owner: RecordKey, member: UserKey, reader: Asking): Promise<readonly RecordKey[]> {
    const answers = await this.askAll(owner, reader, this.layout.among(this.bin, [member]))
    return answers.filter(({ record }) => keysAmong(record?.bins[this.bin]).length > 0).map(({ home }) => home)
  }

  /** Attributes of the newest link to a member. */
  async attributesOf(owner: RecordKey, member: UserKey, reader: Asking): Promise<Value | undefined> {
    const answers = await this.askAll(owner, reader, this.layout.attributesOf!(this.bin, member))
    return answers.map(({ record }) => record?.bins[this.bin]).findLast((carried) => carried != null)
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

  /** All that the owner lists: one that is gone shows when it is read. */
  protected override async toWalk(owner: RecordKey, reader: Reader): Promise<readonly RecordKey[]> {
    return (await this.#buckets(owner, reader)).map(({ home }) => home)
  }

  async #buckets(owner: RecordKey, reader: Reader): Promise<readonly Bucket[]> {
    await learnBuckets(this.model, this.#scheme, [owner], reader)
    return this.#scheme.bucketsIn(owner)
  }
}

/** Each key once, from the oldest; a member that was added again on another day counts on the last. */
function onlyNewest(found: readonly Timed[]): readonly Timed[] {
  const newest = new Map<string, Timed>()
  for (const each of found) {
    const known = newest.get(userKeyId(each.stored))
    if (known === undefined || known.time <= each.time) newest.set(userKeyId(each.stored), each)
  }
  return [...newest.values()].sort((a, b) => a.time - b.time || compareKeys(a.stored, b.stored))
}
