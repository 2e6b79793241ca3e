import { describeKey, type KeyValue } from '../../../keys/index.js'
import type { Bins } from '../../../plan/command.js'
import { bin, binExists, mapKeySlice, mapValueSlice } from '../../../plan/expression.js'
import type { ReadOperation } from '../../../plan/operation.js'
import { mapCreate, mapMove, mapPut, mapRemoveKeys, readExpression } from '../../../plan/operations.js'
import { userKeyId } from '../../../plan/record-key.js'
import type { MapKey, Value } from '../../../plan/value.js'
import type { InsideFault, InsideRef, InsideVerification } from '../../contract/inside-verification.js'
import { compareKeys } from './key-order.js'
import { wrongEntries } from './index-faults.js'
import { entriesOf, type IndexEntry } from './indexed-refs.js'
import { misplacedChildren } from './misplaced-children.js'
import type { PartClass } from './part-class.js'
import { wrongTuples, type PartTuples } from './order-faults.js'
import { pointersOf } from './part-pointers.js'

const ALL = 2 ** 31 - 1

interface Entry {
  readonly key: MapKey
  readonly value: Value
}

/** A part that can be read, where it is and where it should be. */
export interface FoundPart extends PartTuples {
  readonly part: object
  readonly place: MapKey
  readonly rightPlace: MapKey
  /** Entries that inverse indexes should have of it. */
  readonly entries: readonly IndexEntry[]
  /** The record that its id leads to, where ids say one. */
  readonly parent: KeyValue | undefined
}

/** Parts against the keys they are under and what is kept beside them: the places of their ids, and the maps of what they point to. The parts are the truth. */
export class PartVerification implements InsideVerification {
  readonly reads: readonly ReadOperation[]
  readonly #parts: PartClass

  constructor(parts: PartClass) {
    this.#parts = parts
    this.reads = this.#bins
      .flatMap((name) => [
        readExpression(this.#resultName(name, 'there'), binExists(name)),
        readExpression(this.#resultName(name, 'keys'), mapKeySlice(bin('map', name), 0, ALL)),
        readExpression(this.#resultName(name, 'values'), mapValueSlice(bin('map', name), 0, ALL)),
      ])
      .concat(parts.orders.map((order, i) => readExpression(this.#orderResult(i), bin('list', order.bin))))
  }

  faultsIn(bins: Bins, own: KeyValue): readonly InsideFault[] {
    const found: FoundPart[] = []
    const faults: InsideFault[] = this.#noMaps(bins)
    const misplaced: InsideFault[] = []
    for (const entry of this.#entries(bins, this.#parts.bin) ?? []) {
      try {
        const part = this.#read(entry)
        found.push(part)
        misplaced.push(...this.#misplacedIn(entry, part.id))
      } catch (error) {
        faults.push(this.#unreadable(entry, error as Error))
      }
    }
    // Other faults may only follow from a part that cannot be read.
    if (faults.length > 0) return faults
    faults.push(...this.#ofOthers(found, own), ...this.#misplaced(found), ...misplaced)
    if (faults.some(({ kind }) => kind === 'duplicatePart')) return faults
    const { sortKeyBin, inverseIndexes = [] } = this.#parts.relation
    if (sortKeyBin !== undefined) faults.push(...this.#wrongPlaces(found, sortKeyBin, bins))
    this.#parts.orders.forEach((order, i) =>
      faults.push(...wrongTuples(found, order, i, bins[this.#orderResult(i)], this.#parts)),
    )
    inverseIndexes.forEach(({ bin: name }, i) =>
      faults.push(...wrongEntries(found, i, this.#entries(bins, name), this.#parts)),
    )
    return faults
  }

  refsIn(bins: Bins): readonly InsideRef[] {
    if (this.#parts.codec.model.relations.length === 0) return []
    return (this.#entries(bins, this.#parts.bin) ?? []).flatMap(({ key, value }) => {
      try {
        return pointersOf(this.#parts.codec.decode(value), key, this.#parts)
      } catch {
        // Reported as unreadable by `faultsIn`.
        return []
      }
    })
  }

  /** The parts in a record that can be read. */
  protected partsIn(bins: Bins): readonly FoundPart[] {
    return (this.#entries(bins, this.#parts.bin) ?? []).flatMap((entry) => {
      try {
        return [this.#read(entry)]
      } catch {
        return []
      }
    })
  }

  get #bins(): readonly string[] {
    return this.#parts.maps.map((each) => each.bin)
  }

  /** Bins that are there, and of which no entries can be read, are not maps. */
  #noMaps(bins: Bins): InsideFault[] {
    const { name: property } = this.#parts.relation
    return this.#bins.flatMap((name): InsideFault[] => {
      const isThere = bins[this.#resultName(name, 'there')]
      if ((isThere !== true && isThere !== 1) || this.#entries(bins, name) !== undefined) return []
      const says = `holds something other than a map in the bin '${name}' of ${property}; another program may have written it`
      return [{ kind: 'unreadable', property, repair: 'none', says, operations: [] }]
    })
  }

  // By their numbers: names of results are as short as those of bins.
  #resultName(name: string, what: 'keys' | 'values' | 'there'): string {
    return `_sk.${this.#parts.relation.index}.${this.#bins.indexOf(name)}${what[0]}`
  }

  #orderResult(index: number): string {
    return `_sk.${this.#parts.relation.index}.o${index}`
  }

  /** Undefined where the bin is missing. */
  #entries(bins: Bins, name: string): readonly Entry[] | undefined {
    const keys = bins[this.#resultName(name, 'keys')] as readonly MapKey[] | null | undefined
    if (keys === undefined || keys === null) return undefined
    const values = bins[this.#resultName(name, 'values')] as readonly Value[]
    return keys.map((key, i) => ({ key, value: values[i] }))
  }

  #read({ key, value }: Entry): FoundPart {
    const part = this.#parts.decoded(value)
    const id = this.#parts.idOf(part)
    const entries = [...entriesOf(id, this.#parts.indexed(part))]
    const tuples = this.#parts.tuplesOf(part)
    return {
      part,
      id,
      place: key,
      rightPlace: this.#parts.placeOf(part),
      entries,
      tuples,
      parent: this.#parts.parentOf(part),
    }
  }

  #misplacedIn({ key, value }: Entry, id: KeyValue): Iterable<InsideFault> {
    const { codec, relation, bin: name } = this.#parts
    return misplacedChildren({
      stored: value,
      codec,
      property: relation.name,
      bin: name,
      way: describeKey(id),
      path: [key],
    })
  }

  #unreadable({ key }: Entry, error: Error): InsideFault {
    const { name } = this.#parts.relation
    const says = `has a child in ${name} that cannot be read: ${error.message.replace(/\.$/, '')}`
    const partKey = this.#parts.sortKey === undefined ? key : undefined
    return { kind: 'unreadable', property: name, partKey, repair: 'none', says, operations: [], error }
  }

  /** Only people can say whether such a part belongs here under another id, or there. */
  #ofOthers(found: readonly FoundPart[], own: KeyValue): readonly InsideFault[] {
    const { name } = this.#parts.relation
    return found.flatMap(({ id, parent }): InsideFault[] => {
      if (parent === undefined || String(parent) === String(own)) return []
      const { ownerName } = this.#parts
      const says = `keeps ${describeKey(id)} in ${name}, whose key leads to ${ownerName} ${describeKey(parent)}`
      const other = { className: ownerName, key: parent }
      return [{ kind: 'misplacedPart', property: name, partKey: id, other, repair: 'none', says, operations: [] }]
    })
  }

  #misplaced(found: readonly FoundPart[]): readonly InsideFault[] {
    const { name, sortKeyBin } = this.#parts.relation
    const taken = new Set(found.map(({ place }) => userKeyId(place)))
    const ids = new Set<string>()
    return found.flatMap(({ id, place, rightPlace }): InsideFault[] => {
      const shown = describeKey(id)
      if (ids.has(userKeyId(id))) {
        const says = `has more than one child ${shown} in ${name}`
        return [{ kind: 'duplicatePart', property: name, partKey: id, repair: 'none', says, operations: [] }]
      }
      ids.add(userKeyId(id))
      if (compareKeys(place, rightPlace) === 0) return []
      const where = sortKeyBin === undefined ? `under the key ${describeKey(place)}` : 'at another place'
      const says = `keeps ${shown} in ${name} ${where}, and not where its own values say`
      const remember = sortKeyBin === undefined ? [] : [mapPut(sortKeyBin, id, rightPlace)]
      // A part that occupies its place has to move first.
      const isFree = !taken.has(userKeyId(rightPlace))
      const operations = isFree ? [mapMove(this.#parts.bin, [{ from: place, to: rightPlace }]), ...remember] : []
      return [{ kind: 'misplacedPart', property: name, partKey: id, repair: 'move', says, operations }]
    })
  }

  #wrongPlaces(found: readonly FoundPart[], name: string, bins: Bins): readonly InsideFault[] {
    const property = this.#parts.relation.name
    const entries = this.#entries(bins, name)
    const noted = new Map((entries ?? []).map((entry) => [userKeyId(entry.key), entry]))
    const faults: InsideFault[] = []
    const create = entries === undefined ? [mapCreate(name, 'ordered', true)] : []
    for (const { id, place, rightPlace } of found) {
      const entry = noted.get(userKeyId(id))
      noted.delete(userKeyId(id))
      // Moving a part updates this entry.
      if (entry?.value === place || compareKeys(place, rightPlace) !== 0) continue
      const says = `${entry === undefined ? 'does not say' : 'says wrongly'} in ${name} where ${describeKey(id)} is`
      const operations = [...create, mapPut(name, id, place)]
      faults.push({ kind: 'wrongSortKey', property, partKey: id, repair: 'add', says, operations })
    }
    for (const { key } of noted.values()) {
      const says = `says in ${name} where ${describeKey(key)} is, but has no such child in ${property}`
      const operations = [mapRemoveKeys(name, [key])]
      faults.push({ kind: 'wrongSortKey', property, partKey: key, repair: 'remove', says, operations })
    }
    return faults
  }
}
