import type { KeyValue } from '../../../keys/index.js'
import { ask, intervalOf } from '../../../plan/collection-expression.js'
import { read, type Bins } from '../../../plan/command.js'
import { bin, mapCount, mapCountOf, mapGet, mapKeySlice } from '../../../plan/expression.js'
import type { ReadOperation } from '../../../plan/operation.js'
import { listGetIndexRange, listSize, mapGetKeyRange, mapSize, readExpression } from '../../../plan/operations.js'
import { recordId, userKeyId, type RecordKey } from '../../../plan/record-key.js'
import type { MapKey, Value } from '../../../plan/value.js'
import { compareValues } from '../../../plan/value-order.js'
import { cut, type KeyRange } from '../../contract/collection-members.js'
import type { Reader } from '../../contract/reader.js'
import type { Tracked } from '../../contract/tracked.js'
import { compareKeys } from '../consolidate/key-order.js'
import type { PartClass } from '../consolidate/part-class.js'
import type { PartOrder } from '../consolidate/part-order.js'
import type { PartQuestions } from '../consolidate/part-questions.js'
import { partsByIdIn, partsById } from '../consolidate/parts-by-id.js'
import { entriesAfter, entriesAt, entriesFrom, entriesIn, type StoredEntry } from '../consolidate/stored-entries.js'
import type { AskedHomes } from './part-homes.js'

const RESULT = '_sk.asked'
const ALL = 2 ** 31 - 1

/** Questions about the children of one owner to all companions that hold some, each of them one batch; the answers are merged. */
export class PartsAcross implements PartQuestions {
  readonly #parts: PartClass
  readonly #homes: AskedHomes
  readonly #owner: Tracked
  readonly #reader: Reader

  constructor(parts: PartClass, homes: AskedHomes, owner: Tracked, reader: Reader) {
    this.#parts = parts
    this.#homes = homes
    this.#owner = owner
    this.#reader = reader
  }

  async get(ids: readonly KeyValue[]): Promise<readonly Value[]> {
    const answers = await this.#askAbout(ids, (here) => partsById(this.#parts, here))
    return answers.flatMap(({ bins, here }) => partsByIdIn(this.#parts, here, bins))
  }

  async count(ids: readonly KeyValue[]): Promise<{ readonly all: number; readonly found: number }> {
    const { bin: name, relation } = this.#parts
    const isThere = bin('map', relation.sortKeyBin ?? name)
    const found = (here: readonly KeyValue[]): ReadOperation[] =>
      here.length === 0 ? [] : [readExpression(RESULT, mapCountOf(isThere, here))]
    const answers = await this.#askAbout(ids, (here) => [mapSize(name), ...found(here)], true)
    return {
      all: sum(answers.map(({ bins }) => bins[name])),
      found: sum(answers.map(({ bins }) => bins[RESULT])),
    }
  }

  async places(range: KeyRange = { offset: 0, count: ALL }): Promise<readonly MapKey[]> {
    const { index, count } = firstOrLast(range)
    const slice = mapKeySlice(bin('map', this.#parts.bin), index, count)
    const answers = await this.#ask([readExpression(RESULT, slice)])
    const places = answers.flatMap((bins) => (bins[RESULT] ?? []) as readonly MapKey[])
    return cut(places.sort(compareKeys), range)
  }

  async slice(offset: number, count: number): Promise<readonly Value[]> {
    const range = { offset, count }
    const wanted = firstOrLast(range)
    const entries = await this.#entries(entriesAt(this.#parts.bin, wanted.index, wanted.count))
    return cut(entries, range).map(({ value }) => value)
  }

  async after(place: MapKey | undefined, count: number): Promise<readonly Value[]> {
    const entries = await this.#entries(entriesFrom(this.#parts.bin, place, count))
    return entriesAfter(entries, place)
      .slice(0, count)
      .map(({ value }) => value)
  }

  async range(from: MapKey | null, to: MapKey | null): Promise<readonly Value[]> {
    const { bin: name } = this.#parts
    const answers = await this.askBetween(from, to, [mapGetKeyRange(name, from, to, 'value')])
    return answers.flatMap((bins) => (bins[name] ?? []) as readonly Value[])
  }

  /** The places of children by their ids, where they have one. */
  async placesOf(ids: readonly KeyValue[]): Promise<ReadonlyMap<string, MapKey>> {
    const places = bin('map', this.#parts.relation.sortKeyBin!)
    const questions = ids.map((id, i) => readExpression(`${RESULT}${i}`, mapGet(places, id, 'str')))
    const found = new Map<string, MapKey>()
    for (const bins of await this.#ask(questions))
      ids.forEach((id, i) => {
        const place = bins[`${RESULT}${i}`]
        if (place != null) found.set(userKeyId(id), place as MapKey)
      })
    return found
  }

  /** The child's place first, where only its companion knows it; then how many each companion has before that. */
  async positionOf(id: KeyValue): Promise<number | null> {
    const { bin: name, relation } = this.#parts
    const { sortKeyBin } = relation
    const question =
      sortKeyBin === undefined ? mapCount(bin('map', name), id) : mapGet(bin('map', sortKeyBin), id, 'str')
    const found = await this.#askAbout([id], () => [readExpression(RESULT, question)])
    const answer = found.find(({ bins }) => bins[RESULT] != null)?.bins[RESULT]
    if (answer === undefined || answer === 0) return null
    const place = sortKeyBin === undefined ? id : (answer as string)
    const answers = await this.#ask([mapGetKeyRange(name, null, place, 'count')])
    return sum(answers.map((bins) => bins[name]))
  }

  async orderSize({ bin: name }: PartOrder): Promise<number> {
    return sum((await this.#ask([listSize(name)])).map((bins) => bins[name]))
  }

  async orderSlice(order: PartOrder, range: KeyRange): Promise<readonly Value[]> {
    const { index, count } = firstOrLast(range)
    return cut(await this.#tuples(order, listGetIndexRange(order.bin, index, count), order.bin), range)
  }

  orderRange(order: PartOrder, begin: Value, end: Value): Promise<readonly Value[]> {
    const interval = ask('listInterval', bin('list', order.bin), intervalOf(begin, end))
    return this.#tuples(order, readExpression(RESULT, interval), RESULT)
  }

  async #tuples(order: PartOrder, operation: ReadOperation, result: string): Promise<readonly Value[]> {
    const answers = await this.#ask([operation])
    const tuples = answers.flatMap((bins) => (bins[result] ?? []) as readonly Value[])
    return tuples.map((tuple) => order.normal(tuple)).sort(compareValues)
  }

  async #entries(operations: readonly ReadOperation[]): Promise<readonly StoredEntry[]> {
    const answers = await this.#ask(operations)
    return answers.flatMap((bins) => entriesIn(bins)).sort((a, b) => compareKeys(a.place, b.place))
  }

  /** Answers of companions that may hold children between two places. */
  protected askBetween(
    _from: MapKey | null,
    _to: MapKey | null,
    operations: readonly ReadOperation[],
  ): Promise<readonly Bins[]> {
    return this.#ask(operations)
  }

  /** True when a companion may hold the child with this id. */
  protected isAt(home: RecordKey, id: KeyValue): boolean {
    return recordId(this.#homes.homeOf(this.#owner.key, id, id)) === recordId(home)
  }

  /** Answers of all companions that are there. */
  async #ask(operations: readonly ReadOperation[]): Promise<readonly Bins[]> {
    const answers = await this.#askHomes((home) => ({ home, operations }))
    return answers.map(({ bins }) => bins)
  }

  /** Asks the companions of these ids, each about its own; or all companions. */
  #askAbout(
    ids: readonly KeyValue[],
    operations: (here: readonly KeyValue[]) => readonly ReadOperation[],
    isAll = false,
  ): Promise<readonly { readonly bins: Bins; readonly here: readonly KeyValue[] }[]> {
    return this.#askHomes((home) => {
      const here = ids.filter((id) => this.isAt(home, id))
      return here.length === 0 && !isAll ? undefined : { here, operations: operations(here) }
    })
  }

  async #askHomes<Q extends { readonly operations: readonly ReadOperation[] }>(
    question: (home: RecordKey) => Q | undefined,
  ): Promise<readonly (Q & { readonly bins: Bins })[]> {
    const { model, key } = this.#owner
    const asked = new Map<string, Q>()
    const [answers] = await this.#homes.ask([key], this.#reader, (home) => {
      const each = question(home)
      if (each === undefined) return undefined
      asked.set(recordId(home), each)
      return read(model.name, home, 'none', each.operations)
    })
    return answers.flatMap(({ home, record }) =>
      record === null ? [] : [{ ...asked.get(recordId(home))!, bins: record.bins }],
    )
  }
}

/** The part of each companion that may be in a range of all: so many from its beginning, or from its end. */
function firstOrLast({ offset, count }: KeyRange): { readonly index: number; readonly count: number } {
  return offset < 0 ? { index: offset, count: -offset } : { index: 0, count: Math.min(offset + count, ALL) }
}

const sum = (counts: readonly (Value | undefined)[]): number =>
  counts.reduce<number>((all, count) => all + Number(count ?? 0), 0)
