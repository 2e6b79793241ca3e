import type { SkeinError } from '../../../errors/index.js'
import type { KeyValue } from '../../../keys/index.js'
import { ask, intervalOf } from '../../../plan/collection-expression.js'
import { read } from '../../../plan/command.js'
import { bin, mapCountOf, mapGet, mapIndexOf, value } from '../../../plan/expression.js'
import type { ReadOperation } from '../../../plan/operation.js'
import {
  listGetIndexRange,
  listSize,
  mapGetIndexRange,
  mapGetKeyRange,
  mapSize,
  readExpression,
} from '../../../plan/operations.js'
import type { Bins } from '../../../plan/command.js'
import type { MapKey, Value } from '../../../plan/value.js'
import type { KeyRange } from '../../contract/collection-members.js'
import type { Tracked } from '../../contract/tracked.js'
import type { Reader } from '../../contract/reader.js'
import { readTyped } from '../../contract/stored-keys.js'
import type { PartClass } from './part-class.js'
import type { PartOrder } from './part-order.js'
import type { PartQuestions } from './part-questions.js'
import { partsById, partsByIdIn } from './parts-by-id.js'
import { entriesAfter, entriesFrom, entriesIn } from './stored-entries.js'

const RESULT = '_sk.'

/** Questions to the server about the parts of one record, each of them one command. */
export class PartReads implements PartQuestions {
  readonly #parts: PartClass
  readonly #owner: Tracked
  readonly #reader: Reader

  constructor(parts: PartClass, owner: Tracked, reader: Reader) {
    this.#parts = parts
    this.#owner = owner
    this.#reader = reader
  }

  async get(ids: readonly KeyValue[]): Promise<readonly Value[]> {
    return partsByIdIn(this.#parts, ids, await this.#ask(partsById(this.#parts, ids)))
  }

  /** Number of parts, and how many of these ids are among them. */
  async count(ids: readonly KeyValue[]): Promise<{ readonly all: number; readonly found: number }> {
    const { bin: name, relation } = this.#parts
    const found = readExpression(`${RESULT}found`, mapCountOf(bin('map', relation.sortKeyBin ?? name), ids))
    const bins = await this.#ask(ids.length === 0 ? [mapSize(name)] : [mapSize(name), found])
    return { all: Number(bins[name] ?? 0), found: Number(bins[`${RESULT}found`] ?? 0) }
  }

  /** The places of parts, in order; all of them, or those in a range. */
  async places(range?: KeyRange): Promise<readonly MapKey[]> {
    const { bin: name } = this.#parts
    const bins = await this.#ask([
      range === undefined
        ? mapGetKeyRange(name, null, null, 'key')
        : mapGetIndexRange(name, range.offset, range.count, 'key'),
    ])
    return (bins[name] ?? []) as readonly MapKey[]
  }

  /** Parts by their position; a negative one counts from the end. */
  async slice(index: number, count: number): Promise<readonly Value[]> {
    const { bin: name } = this.#parts
    return ((await this.#ask([mapGetIndexRange(name, index, count, 'value')]))[name] ?? []) as readonly Value[]
  }

  async after(place: MapKey | undefined, count: number): Promise<readonly Value[]> {
    const bins = await this.#ask(entriesFrom(this.#parts.bin, place, count))
    return entriesAfter(entriesIn(bins), place)
      .slice(0, count)
      .map(({ value: stored }) => stored)
  }

  async range(from: MapKey | null, to: MapKey | null): Promise<readonly Value[]> {
    const { bin: name } = this.#parts
    return ((await this.#ask([mapGetKeyRange(name, from, to, 'value')]))[name] ?? []) as readonly Value[]
  }

  async positionOf(id: KeyValue): Promise<number | null> {
    const { bin: name, relation } = this.#parts
    const place = relation.sortKeyBin === undefined ? value(id) : mapGet(bin('map', relation.sortKeyBin), id, 'str')
    const position = (await this.#ask([readExpression(`${RESULT}at`, mapIndexOf(bin('map', name), place))]))[
      `${RESULT}at`
    ]
    return position === undefined || position === null || Number(position) < 0 ? null : Number(position)
  }

  async orderSize({ bin: name }: PartOrder): Promise<number> {
    return Number((await this.#askOrder(name, listSize(name))) ?? 0)
  }

  /** Tuples of an order by their position. */
  async orderSlice({ bin: name }: PartOrder, { offset, count }: KeyRange): Promise<readonly Value[]> {
    return ((await this.#askOrder(name, listGetIndexRange(name, offset, count))) ?? []) as readonly Value[]
  }

  /** Tuples of an order between two of them; null leaves a side open. */
  async orderRange({ bin: name }: PartOrder, begin: Value, end: Value): Promise<readonly Value[]> {
    const result = `${RESULT}order`
    const operation = readExpression(result, ask('listInterval', bin('list', name), intervalOf(begin, end)))
    return ((await this.#askOrder(name, operation, result)) ?? []) as readonly Value[]
  }

  async #askOrder(name: string, operation: ReadOperation, result = name): Promise<Value | undefined> {
    const { model, key } = this.#owner
    const wrong = (): SkeinError => this.#parts.noMap(this.#owner)
    const asked = [{ bin: name, holds: 'list' }] as const
    const record = await readTyped(read(model.name, key, 'none', [operation]), asked, wrong, this.#reader)
    return record?.bins[result]
  }

  async #ask(operations: readonly ReadOperation[]): Promise<Bins> {
    const { model, key } = this.#owner
    const wrong = (): SkeinError => this.#parts.noMap(this.#owner)
    const record = await readTyped(read(model.name, key, 'none', operations), this.#parts.maps, wrong, this.#reader)
    return record?.bins ?? {}
  }
}
