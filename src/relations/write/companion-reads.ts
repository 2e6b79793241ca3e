import type { KeyValue } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import { read } from '../../plan/command.js'
import type { ReadOperation } from '../../plan/operation.js'
import type { StoredRecord } from '../../plan/outcome.js'
import { userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import { cut, type CollectionMembers, type KeyRange } from '../contract/collection-members.js'
import type { FoundPage, FoundStep, Reader } from '../contract/reader.js'
import { storedKeys, type KeysPlace } from '../contract/stored-keys.js'
import type { Tracked } from '../contract/tracked.js'
import { askCompanions, type Answer, type CompanionQuestion } from './ask-companions.js'
import { compareKeys, mergeKeys } from './compare-keys.js'
import type { CompanionScheme } from './companion-scheme.js'
import { keysAmong, PAGE, type LinkBin } from './link-bin.js'
import { readCursor, showCursor } from './member-cursor.js'

/** Members of one companion read at a time by a stream. */
const STEP = 256

/** More than one record holds. */
const ALL = 2 ** 31 - 1

/** Asks companion records. The owner is read in the same batch: if it has another number of shards than is known here, those are asked. */
export class CompanionReads implements CollectionMembers {
  readonly #model: EntityModel
  readonly #target: EntityModel
  readonly #relation: RelationModel
  readonly #layout: LinkBin
  readonly #scheme: CompanionScheme
  readonly #bin: string

  constructor(
    model: EntityModel,
    relation: RelationModel,
    target: EntityModel,
    layout: LinkBin,
    scheme: CompanionScheme,
  ) {
    this.#model = model
    this.#relation = relation
    this.#target = target
    this.#layout = layout
    this.#scheme = scheme
    this.#bin = relation.bin!
  }

  /** Asks those companions of each owner for which there is a question. */
  ask(
    owners: readonly RecordKey[],
    reader: Pick<Reader, 'read'>,
    question: CompanionQuestion,
  ): Promise<readonly (readonly Answer[])[]> {
    return askCompanions(this.#model, this.#scheme, owners, reader, question)
  }

  async count({ key }: Tracked, reader: Reader): Promise<number> {
    const [answers] = await this.#askAll(key, reader, this.#layout.reads.size(this.#bin))
    return answers.reduce((sum, { record }) => sum + Number(record?.bins[this.#bin] ?? 0), 0)
  }

  async countOf({ key }: Tracked, keys: readonly KeyValue[], reader: Reader): Promise<number> {
    const stored = keys.map((each) => reader.recordKey(this.#target, each).key)
    return (await this.held(key, stored, reader)).length
  }

  async held(owner: RecordKey, members: readonly UserKey[], reader: Pick<Reader, 'read'>): Promise<readonly UserKey[]> {
    const [answers] = await this.ask([owner], reader, (home) => {
      const here = members.filter((member) => isKey(this.#scheme.homeOf(owner, member).key, home.key))
      if (here.length === 0) return undefined
      return read(this.#model.name, home, 'none', [this.#layout.among(this.#bin, here)])
    })
    return answers.flatMap(({ record }) => keysAmong(record?.bins[this.#bin]))
  }

  async keys(owner: Tracked, reader: Reader, range?: KeyRange): Promise<readonly KeyValue[]> {
    const { offset, count } = range ?? { offset: 0, count: ALL }
    // A place from the end is known only when all are.
    const upTo = offset < 0 ? ALL : Math.min(offset + count, ALL)
    const [answers] = await this.#askAll(owner.key, reader, this.#layout.page(this.#bin, upTo))
    const merged = mergeKeys(answers.map(({ record }) => pageIn(record)))
    return storedKeys(this.#placeOf(owner), this.#target, () => cut(merged, { offset, count }), reader)
  }

  readonly byPosition = {
    page: async (owner: Tracked, reader: Reader, count: number, after?: string): Promise<FoundPage> => {
      const from = after === undefined ? undefined : readCursor(after)
      const { keys, isLast } = await this.#pageOf(owner, reader, count, from)
      const found = await this.#find(owner, keys, reader)
      return { found, next: isLast ? undefined : showCursor(keys.at(-1)!) }
    },
    stream: (owner: Tracked, reader: Reader): AsyncIterable<FoundStep> => this.#stream(owner, reader),
  }

  /** Keys of one companion after another, so many at a time, from each key on. */
  async *walk(owner: Tracked, reader: Reader, count: number): AsyncGenerator<readonly UserKey[]> {
    const [answers] = await this.ask([owner.key], reader, (home) => read(this.#model.name, home, 'none'))
    for (const { home, record } of answers) {
      if (record === null) continue
      let last: UserKey | undefined
      for (;;) {
        const [page] = await reader.read([
          read(this.#model.name, home, 'none', [this.#layout.page(this.#bin, count + 1, last)]),
        ])
        const found = pageIn(page)
        const keys = (last !== undefined && found.length > 0 && isKey(found[0], last) ? found.slice(1) : found).slice(
          0,
          count,
        )
        if (keys.length > 0) yield keys
        if (found.length <= count) break
        last = keys.at(-1)
      }
    }
  }

  /** Keys of one companion after another, again and again from the first, until it has none. */
  async *firsts(owner: Tracked, reader: Reader, count: number): AsyncGenerator<readonly UserKey[]> {
    const [answers] = await this.ask([owner.key], reader, (home) => read(this.#model.name, home, 'none'))
    for (const { home, record } of answers) {
      while (record !== null) {
        const [page] = await reader.read([read(this.#model.name, home, 'none', [this.#layout.page(this.#bin, count)])])
        const keys = pageIn(page)
        if (keys.length === 0) break
        yield keys
      }
    }
  }

  keysOf(owner: Tracked, keys: readonly UserKey[], reader: Reader): KeyValue[] {
    return storedKeys(this.#placeOf(owner), this.#target, () => keys, reader)
  }

  /** A page in the order of all members: what of each companion can be in it is read, and merged. */
  async #pageOf(
    owner: Tracked,
    reader: Reader,
    count: number,
    from: UserKey | undefined,
  ): Promise<{ readonly keys: readonly UserKey[]; readonly isLast: boolean }> {
    // The key that the page before ended with may be read again, and one more tells whether there is a next page.
    const [answers] = await this.#askAll(owner.key, reader, this.#layout.page(this.#bin, count + 2, from))
    const merged = mergeKeys(answers.map(({ record }) => pageIn(record)))
    const rest = from === undefined ? merged : merged.filter((key) => compareKeys(key, from) > 0)
    return { keys: rest.slice(0, count), isLast: rest.length <= count }
  }

  async *#stream(owner: Tracked, reader: Reader): AsyncGenerator<FoundStep> {
    const { target } = this.#relation
    for await (const stored of this.walk(owner, reader, STEP)) {
      const keys = this.keysOf(owner, stored, reader)
      const known = new Set(keys.map((key) => reader.known(target, key)))
      const found = (await reader.find(this.#target, keys)).filter((member) => member !== null)
      yield { found, fresh: found.filter((member) => !known.has(member)), leaving: [] }
    }
  }

  async #find(owner: Tracked, stored: readonly UserKey[], reader: Reader): Promise<Tracked[]> {
    const found = await reader.find(this.#target, this.keysOf(owner, stored, reader))
    const present = found.filter((member) => member !== null)
    await reader.load(present)
    return present
  }

  #askAll(owner: RecordKey, reader: Reader, operation: ReadOperation): Promise<readonly (readonly Answer[])[]> {
    return this.ask([owner], reader, (home) => read(this.#model.name, home, 'none', [operation]))
  }

  #placeOf({ key }: Tracked): KeysPlace {
    return { model: this.#model, key, property: this.#relation.name }
  }
}

const pageIn = (record: StoredRecord | null): readonly UserKey[] => (record?.bins[PAGE] ?? []) as readonly UserKey[]

const isKey = (a: UserKey, b: UserKey): boolean => userKeyId(a) === userKeyId(b)
