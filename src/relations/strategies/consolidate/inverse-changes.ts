import type { KeyValue } from '../../../keys/index.js'
import { holds, type Guard } from '../../../plan/command.js'
import {
  bin,
  binExists,
  eq,
  mapCount,
  mapGet,
  mapGetAt,
  not,
  or,
  value,
  type Expression,
} from '../../../plan/expression.js'
import type { WriteOperation } from '../../../plan/operation.js'
import {
  atKey,
  listAppendUnique,
  listRemoveValues,
  mapCreate,
  mapPutItems,
  mapPutMissing,
  mapRemoveValues,
} from '../../../plan/operations.js'
import { userKeyId, type UserKey } from '../../../plan/record-key.js'
import type { MapKey, Value } from '../../../plan/value.js'
import type { PartClass } from './part-class.js'

type Refs = readonly (UserKey | null)[]

/** References of stored parts that the session has not loaded, by id. */
export type StoredRefs = ReadonlyMap<string, Refs>

/** Ids by the key they point to. */
class Pointers {
  readonly #ids = new Map<string, { readonly key: UserKey; readonly ids: MapKey[] }>()

  add(key: UserKey, id: MapKey): void {
    const entry = this.#ids.get(userKeyId(key))
    if (entry === undefined) this.#ids.set(userKeyId(key), { key, ids: [id] })
    else entry.ids.push(id)
  }

  get entries() {
    return [...this.#ids.values()]
  }
}

/** Changes of the inverse indexes: maps from referenced keys to the ids of the parts that refer to them. */
export class InverseChanges {
  readonly #parts: PartClass
  readonly #stored: StoredRefs
  readonly #linked: readonly Pointers[]
  readonly #unlinked: readonly Pointers[]
  readonly #guards: Guard[] = []

  constructor(parts: PartClass, stored: StoredRefs) {
    this.#parts = parts
    this.#stored = stored
    this.#linked = this.#indexes.map(() => new Pointers())
    this.#unlinked = this.#indexes.map(() => new Pointers())
  }

  get guards(): readonly Guard[] {
    return this.#guards
  }

  unlink(id: KeyValue, known: Refs | undefined): void {
    this.replace(id, known, undefined)
  }

  /** Fields of a stored part change: a reference that stays is not written, so another session may point it elsewhere meanwhile. */
  patch(id: KeyValue, before: Refs, after: Refs): void {
    this.#relink(id, before, after, false)
  }

  /** The whole part is written, with references that others may have changed; `before` is undefined where the session does not know the part, `after` where it is removed. */
  replace(id: KeyValue, before: Refs | undefined, after: Refs | undefined): void {
    this.#relink(id, before ?? this.#stored.get(userKeyId(id)), after, true)
  }

  #relink(id: KeyValue, was: Refs | undefined, after: Refs | undefined, isWhole: boolean): void {
    this.#indexes.forEach((_, i) => {
      const from = was?.[i] ?? null
      const to = after?.[i] ?? null
      if (!isWhole && isSame(from, to)) return
      if (from !== null && !isSame(from, to)) this.#unlinked[i].add(from, id)
      if (to !== null) this.#linked[i].add(to, id)
      this.#expect(id, i, [...(was === undefined ? [] : [from]), ...(after === undefined ? [] : [to])])
    })
  }

  creation(): readonly WriteOperation[] {
    return this.#indexes.flatMap(({ bin: name }, i) => {
      const items = new Map<MapKey, Value>(this.#linked[i].entries.map(({ key, ids }) => [key, ids]))
      const create = mapCreate(name, 'ordered', true)
      return items.size === 0 ? [create] : [create, mapPutItems(name, items)]
    })
  }

  operations(): readonly WriteOperation[] {
    return this.#indexes.flatMap(({ bin: name }, i) => {
      const removed = this.#unlinked[i].entries
      const operations: WriteOperation[] = []
      // A path never creates, so the list is there first; an empty one that is left says nothing and goes.
      for (const { key, ids } of removed)
        operations.push(mapPutMissing(name, key, []), listRemoveValues(name, ids, 'none', [atKey(key)]))
      for (const { key, ids } of this.#linked[i].entries)
        operations.push(mapPutMissing(name, key, []), listAppendUnique(name, ids, [atKey(key)]))
      if (removed.length > 0) operations.push(mapRemoveValues(name, [[]]))
      return operations
    })
  }

  get #indexes() {
    return this.#parts.relation.inverseIndexes ?? []
  }

  /** Requires that nobody has pointed the part elsewhere meanwhile: the index would keep what it pointed to. */
  #expect(id: KeyValue, index: number, refs: Refs): void {
    const { bin: name, relation, codec } = this.#parts
    const { sortKeyBin } = relation
    const field = codec.model.relations.find((each) => each.name === this.#indexes[index].ref)!.bin!
    const ids = bin('map', sortKeyBin ?? name)
    const part =
      sortKeyBin === undefined ? mapGet(ids, id, 'map') : mapGetAt(bin('map', name), mapGet(ids, id, 'str'), 'map')
    const isAbsent = [not(binExists(sortKeyBin ?? name)), eq(mapCount(ids, id), value(0))]
    this.#guards.push(holds(or(...isAbsent, ...refs.map((ref) => pointsTo(part, field, ref)))))
  }
}

function pointsTo(part: Expression, field: string, ref: UserKey | null): Expression {
  if (ref === null) return eq(mapCount(part, field), value(0))
  const type = typeof ref === 'string' ? 'str' : ref instanceof Uint8Array ? 'blob' : 'int'
  return eq(mapGet(part, field, type), value(ref))
}

function isSame(a: UserKey | null, b: UserKey | null): boolean {
  return a === null || b === null ? a === b : userKeyId(a) === userKeyId(b)
}
