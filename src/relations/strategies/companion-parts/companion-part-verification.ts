import type { KeyValue } from '../../../keys/index.js'
import { COMPANION_SHARDS_BIN } from '../../../model/index.js'
import { binEquals, write, type Bins, type WriteCommand } from '../../../plan/command.js'
import { bin, mapCount } from '../../../plan/expression.js'
import type { WriteOperation } from '../../../plan/operation.js'
import {
  atKey,
  listAppendUnique,
  listCreate,
  listRemoveValues,
  mapCreate,
  mapPut,
  mapPutMissing,
  mapRemoveKeys,
  mapRemoveValues,
} from '../../../plan/operations.js'
import { recordId, type RecordKey } from '../../../plan/record-key.js'
import type { InsideVerification, MisplacedPart, PartsApart } from '../../contract/inside-verification.js'
import { NOT_MARKED } from '../../write/companion-commands.js'
import type { PartClass } from '../consolidate/part-class.js'
import { PartVerification, type FoundPart } from '../consolidate/part-verification.js'
import type { PartHomes } from './part-homes.js'

/** Children in companion records: each companion is checked as one record of children, and that each child is in its own. */
export class CompanionPartVerification extends PartVerification implements InsideVerification, PartsApart {
  readonly property: string
  readonly schemeBins: readonly string[]
  readonly #parts: PartClass
  readonly #homes: PartHomes

  constructor(parts: PartClass, homes: PartHomes) {
    super(parts)
    this.#parts = parts
    this.#homes = homes
    this.property = parts.relation.name
    this.schemeBins = [homes.scheme.subkeys]
  }

  get apart(): PartsApart {
    return this
  }

  learn(owner: RecordKey, bins: Bins): void {
    this.#homes.scheme.learn(owner, bins[this.#homes.scheme.subkeys])
  }

  homes(owner: RecordKey): readonly RecordKey[] {
    return this.#homes.scheme.homes(owner)
  }

  reopening(home: RecordKey): WriteCommand {
    return this.#homes.commands.unmark(home)
  }

  misplacedIn(bins: Bins, from: RecordKey, owner: RecordKey): readonly MisplacedPart[] {
    return this.partsIn(bins).flatMap((found): MisplacedPart[] => {
      const home = this.#homes.homeOf(owner, found.id, found.rightPlace)
      if (recordId(home) === recordId(from)) return []
      const { sortKeyBin } = this.#parts.relation
      return [
        {
          id: found.id,
          route: this.#homes.routeOf(found.id, found.rightPlace),
          home,
          holds: mapCount(bin('map', sortKeyBin ?? this.#parts.bin), found.id),
          puts: this.#puts(found),
          removal: this.#removal(found),
        },
      ]
    })
  }

  telling(owner: RecordKey, made: readonly RecordKey[]): WriteCommand {
    return this.#homes.commands.tell(owner, this.#homes.scheme.shardsOf(owner), made)
  }

  addition(parts: readonly MisplacedPart[], owner: RecordKey, isHomeThere: boolean): WriteCommand {
    const [{ home, route }] = parts
    const shards = this.#homes.scheme.shardsOf(owner)
    const puts = parts.flatMap((part) => part.puts)
    if (!isHomeThere) return this.#homes.made(owner, home, shards, route, [...this.#creation(), ...puts])
    const guards = [binEquals(COMPANION_SHARDS_BIN, shards), NOT_MARKED]
    return write(this.#homes.model.name, home, puts, { exists: 'mustExist', ttl: 'keep', guards })
  }

  #creation(): readonly WriteOperation[] {
    return [
      ...this.#parts.maps.map(({ bin: name }) => mapCreate(name, 'ordered', true)),
      ...this.#parts.orders.map(({ bin: name }) => listCreate(name, 'ordered', true)),
    ]
  }

  #puts({ id, rightPlace, part, refs, tuples }: FoundPart): readonly WriteOperation[] {
    const { bin: name, relation, codec, orders } = this.#parts
    const { sortKeyBin } = relation
    return [
      mapPut(name, rightPlace, codec.encode(part, 1)),
      ...(sortKeyBin === undefined ? [] : [mapPut(sortKeyBin, id, rightPlace)]),
      ...this.#pointers(refs, (inverse, to) => [
        mapPutMissing(inverse, to, []),
        listAppendUnique(inverse, [id], [atKey(to)]),
      ]),
      ...orders.flatMap((order, i) => (tuples[i] === undefined ? [] : [listAppendUnique(order.bin, [tuples[i]])])),
    ]
  }

  #removal({ id, place, refs, tuples }: FoundPart): readonly WriteOperation[] {
    const { bin: name, relation, orders } = this.#parts
    const { sortKeyBin } = relation
    return [
      mapRemoveKeys(name, [place]),
      ...(sortKeyBin === undefined ? [] : [mapRemoveKeys(sortKeyBin, [id])]),
      ...this.#pointers(refs, (inverse, to) => [
        mapPutMissing(inverse, to, []),
        listRemoveValues(inverse, [id], 'none', [atKey(to)]),
        mapRemoveValues(inverse, [[]]),
      ]),
      ...orders.flatMap((order, i) => (tuples[i] === undefined ? [] : [listRemoveValues(order.bin, [tuples[i]])])),
    ]
  }

  #pointers(
    refs: FoundPart['refs'],
    operations: (inverse: string, to: KeyValue) => readonly WriteOperation[],
  ): readonly WriteOperation[] {
    const { inverseIndexes = [] } = this.#parts.relation
    return inverseIndexes.flatMap(({ bin: inverse }, i) => {
      const to = refs[i]
      return to === null ? [] : operations(inverse, to)
    })
  }
}
