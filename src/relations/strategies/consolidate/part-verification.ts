import { describeKey, type KeyValue } from '../../../keys/index.js'
import type { Bins } from '../../../plan/command.js'
import { bin, binExists, mapKeySlice, mapValueSlice } from '../../../plan/expression.js'
import type { ReadOperation } from '../../../plan/operation.js'
import {
  atKey,
  listAppendUnique,
  listRemoveValues,
  mapCreate,
  mapMove,
  mapPut,
  mapPutMissing,
  mapRemoveKeys,
  mapRemoveValues,
  readExpression,
} from '../../../plan/operations.js'
import { userKeyId, type UserKey } from '../../../plan/record-key.js'
import type { MapKey, Value } from '../../../plan/value.js'
import type { InsideFault, InsideRef, InsideVerification } from '../../contract/inside-verification.js'
import { compareKeys } from './key-order.js'
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
  readonly refs: readonly (UserKey | null)[]
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
    inverseIndexes.forEach(({ bin: name }, i) => faults.push(...this.#wrongPointers(found, name, i, bins)))
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
    const refs = this.#parts.indexedRefs(part)
    const tuples = this.#parts.tuplesOf(part)
    return {
      part,
      id,
      place: key,
      rightPlace: this.#parts.placeOf(part),
      refs,
      tuples,
      parent: this.#parts.parentOf(part),
    }
  }

  #misplacedIn({ value }: Entry, id: KeyValue): Iterable<InsideFault> {
    const { codec, relation } = this.#parts
    return misplacedChildren(value, codec, relation.name, describeKey(id))
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
      const says = `${entry === undefined ? 'has not noted' : 'has noted wrongly'} in ${name} where ${describeKey(id)} is`
      const operations = [...create, mapPut(name, id, place)]
      faults.push({ kind: 'wrongSortKey', property, partKey: id, repair: 'add', says, operations })
    }
    for (const { key } of noted.values()) {
      const says = `has noted in ${name} where ${describeKey(key)} is, and has no such child in ${property}`
      const operations = [mapRemoveKeys(name, [key])]
      faults.push({ kind: 'wrongSortKey', property, partKey: key, repair: 'remove', says, operations })
    }
    return faults
  }

  #wrongPointers(found: readonly FoundPart[], name: string, index: number, bins: Bins): readonly InsideFault[] {
    const property = this.#parts.relation.name
    const entries = this.#entries(bins, name)
    const pointing = new Map(found.map(({ id, refs }) => [userKeyId(id), refs[index]]))
    const listed = new Set<string>()
    const faults: InsideFault[] = []
    const fault = (key: UserKey, id: KeyValue | undefined, rest: Pick<InsideFault, 'repair' | 'says' | 'operations'>) =>
      faults.push({
        kind: 'wrongIndex',
        property,
        partKey: id,
        other: { className: this.#target(index), key },
        ...rest,
      })
    for (const { key, value } of entries ?? []) {
      const ids = Array.isArray(value) ? (value as readonly KeyValue[]) : []
      if (ids.length === 0) {
        const says = `has an entry for ${describeKey(key)} in ${name} without any child`
        fault(key, undefined, { repair: 'remove', says, operations: [mapRemoveKeys(name, [key])] })
      }
      for (const id of ids) {
        const to = pointing.get(userKeyId(id))
        listed.add(`${userKeyId(id)} ${userKeyId(key)}`)
        if (to != null && userKeyId(to) === userKeyId(key)) continue
        const why = pointing.has(userKeyId(id)) ? 'which points elsewhere' : `which is not in ${property}`
        const says = `lists ${describeKey(id)} under ${describeKey(key)} in ${name}, ${why}`
        const operations = [
          listRemoveValues(name, [id], 'none', [atKey(key)]),
          // An empty list says nothing.
          mapRemoveValues(name, [[]]),
        ]
        fault(key, id, { repair: 'remove', says, operations })
      }
    }
    const create = entries === undefined ? [mapCreate(name, 'ordered', true)] : []
    for (const { id, refs } of found) {
      const to = refs[index]
      if (to === null || listed.has(`${userKeyId(id)} ${userKeyId(to)}`)) continue
      const says = `does not list ${describeKey(id)} of ${property} under ${describeKey(to)} in ${name}`
      const operations = [...create, mapPutMissing(name, to, []), listAppendUnique(name, [id], [atKey(to)])]
      fault(to, id, { repair: 'add', says, operations })
    }
    return faults
  }

  #target(index: number): string {
    const { codec, relation } = this.#parts
    const { ref } = relation.inverseIndexes![index]
    return codec.model.relations.find(({ name }) => name === ref)!.target
  }
}
