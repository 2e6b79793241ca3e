import { CHILD_KEY_END } from '../../../model/index.js'
import type { ChildrenField } from '../../../codec/index.js'
import type { KeyValue } from '../../../keys/index.js'
import {
  bin,
  binExists,
  eq,
  mapCount,
  mapCountBetween,
  mapCountOf,
  mapGet,
  mapGetAt,
  not,
  or,
  value,
  type Expression,
} from '../../../plan/expression.js'
import type { WriteOperation } from '../../../plan/operation.js'
import { mapCreate, mapPutItems, mapRemoveValues } from '../../../plan/operations.js'
import { userKeyId, type UserKey } from '../../../plan/record-key.js'
import type { MapKey, Value } from '../../../plan/value.js'
import { entryAt, type IndexedPart } from './indexed-refs.js'
import type { PartClass } from './part-class.js'
import { Pointers } from './pointers.js'

/** References of stored parts that the session has not loaded, by id. */
export type StoredRefs = ReadonlyMap<string, IndexedPart>

/** The path to a part in the record. */
interface Way {
  readonly id: KeyValue
  readonly keys: readonly string[]
  readonly part: Expression
  /** True for the server where the part is not there. */
  readonly isAbsent: readonly Expression[]
}

/** Alternatives of which one must hold where a part is there. */
type Condition = readonly Expression[]

/** Changes of the inverse indexes: maps from referenced keys to the parts that refer to them. */
export class InverseChanges {
  readonly #parts: PartClass
  readonly #stored: StoredRefs
  readonly #linked: readonly Pointers[]
  readonly #unlinked: readonly Pointers[]
  readonly #conditions: Expression[] = []

  constructor(parts: PartClass, stored: StoredRefs) {
    this.#parts = parts
    this.#stored = stored
    this.#linked = this.#indexes.map(() => new Pointers())
    this.#unlinked = this.#indexes.map(() => new Pointers())
  }

  get conditions(): readonly Expression[] {
    return this.#conditions
  }

  unlink(id: KeyValue, known: IndexedPart | undefined): void {
    this.replace(id, known, undefined)
  }

  /** Fields of a stored part change: a reference that stays is not written, so another session may point it elsewhere meanwhile. */
  patch(id: KeyValue, before: IndexedPart, after: IndexedPart): void {
    if (this.#indexes.length > 0) this.#patch(this.#wayTo(id), before, after)
  }

  /** The whole part is written, with references that others may have changed; `before` is undefined where the session does not know the part, `after` where it is removed. */
  replace(id: KeyValue, before: IndexedPart | undefined, after: IndexedPart | undefined): void {
    const was = before ?? this.#stored.get(userKeyId(id))
    if (this.#indexes.length === 0) return
    const way = this.#wayTo(id)
    this.#expect(way, this.#replace(way, was, after))
  }

  creation(): readonly WriteOperation[] {
    return this.#indexes.flatMap(({ bin: name }, i) => {
      const items = new Map<MapKey, Value>(this.#linked[i].entries.map(({ key, parts }) => [key, parts]))
      const create = mapCreate(name, 'ordered', true)
      return items.size === 0 ? [create] : [create, mapPutItems(name, items)]
    })
  }

  operations(): readonly WriteOperation[] {
    return this.#indexes.flatMap(({ bin: name }, i) => {
      const operations = [...this.#unlinked[i].unlisted(name), ...this.#linked[i].listed(name)]
      // An empty list that is left says nothing, and goes.
      return this.#unlinked[i].isEmpty ? operations : [...operations, mapRemoveValues(name, [[]])]
    })
  }

  get #indexes() {
    return this.#parts.relation.inverseIndexes ?? []
  }

  #patch(way: Way, before: IndexedPart, after: IndexedPart): void {
    for (const [i, from] of before.refs.entries()) {
      const to = after.refs[i]
      if (!isSame(from, to)) this.#expect(way, [this.#relink(way, i, before, [from, to])])
    }
    before.at.inside.forEach((_, i) => {
      const [old, now] = [before.children[i], after.children[i]]
      for (const key of keysOf(old, now)) {
        const [was, is] = [old.get(key), now.get(key)]
        const inner = below(way, key)
        if (was !== undefined && was.part === is?.part) this.#patch(inner, was, is)
        else this.#expect(inner, this.#replace(inner, was, is))
      }
    })
  }

  /** Returns what must hold where the part is there: nothing in it that others have put or pointed elsewhere may stay in an index. */
  #replace(way: Way, was: IndexedPart | undefined, after: IndexedPart | undefined): readonly Condition[] {
    const some = was ?? after
    // Absence is required: one that someone has added by now points to what this session has not seen.
    if (some === undefined) return [[]]
    const conditions: Condition[] = []
    for (const [i, ref] of some.at.refs.entries()) {
      const refs = [was, after].map((each) => (each === undefined ? undefined : each.refs[i]))
      if (ref !== undefined) conditions.push(this.#relink(way, i, some, refs))
    }
    for (const [i, { field }] of some.at.inside.entries()) {
      const [old, now] = [was?.children[i] ?? NONE, after?.children[i] ?? NONE]
      const keys = keysOf(old, now)
      conditions.push([hasOnly(way.part, field, keys)])
      for (const key of keys) {
        const inner = below(way, key)
        for (const condition of this.#replace(inner, old.get(key), now.get(key)))
          conditions.push([inner.isAbsent.at(-1)!, ...condition])
      }
    }
    return conditions
  }

  /** Moves a part in one index; undefined for a reference that is not known or not stored. */
  #relink(
    way: Way,
    index: number,
    { at }: IndexedPart,
    [from, to]: readonly (UserKey | null | undefined)[],
  ): Condition {
    const entry = entryAt(way.id, way.keys)
    if (from != null && !isSame(from, to ?? null)) this.#unlinked[index].add(from, entry)
    if (to != null) this.#linked[index].add(to, entry)
    const field = at.codec.model.relations.find(({ name }) => name === at.refs[index])!.bin!
    return [from, to].filter((ref) => ref !== undefined).map((ref) => pointsTo(way.part, field, ref))
  }

  /** Requires that nobody has changed the part meanwhile: the index would keep what it pointed to. */
  #expect({ isAbsent }: Way, conditions: readonly Condition[]): void {
    for (const condition of conditions) this.#conditions.push(or(...isAbsent, ...condition))
  }

  #wayTo(id: KeyValue): Way {
    const { bin: name, relation } = this.#parts
    const { sortKeyBin } = relation
    const ids = bin('map', sortKeyBin ?? name)
    const part =
      sortKeyBin === undefined ? mapGet(ids, id, 'map') : mapGetAt(bin('map', name), mapGet(ids, id, 'str'), 'map')
    const isAbsent = [not(binExists(sortKeyBin ?? name)), eq(mapCount(ids, id), value(0))]
    return { id, keys: [], part, isAbsent }
  }
}

const NONE: ReadonlyMap<string, IndexedPart> = new Map()

const keysOf = (...maps: readonly ReadonlyMap<string, unknown>[]): readonly string[] => [
  ...new Set(maps.flatMap((each) => [...each.keys()])),
]

const below = ({ id, keys, part, isAbsent }: Way, key: string): Way => ({
  id,
  keys: [...keys, key],
  part: mapGet(part, key, 'map'),
  isAbsent: [...isAbsent, eq(mapCount(part, key), value(0))],
})

/** True where a part has no other children in a collection than these. */
function hasOnly(part: Expression, { bin: name }: ChildrenField, keys: readonly string[]): Expression {
  const after = name + String.fromCharCode(CHILD_KEY_END.charCodeAt(0) + 1)
  const all = mapCountBetween(part, name + CHILD_KEY_END, after)
  return eq(all, keys.length === 0 ? value(0) : mapCountOf(part, keys))
}

function pointsTo(part: Expression, field: string, ref: UserKey | null): Expression {
  if (ref === null) return eq(mapCount(part, field), value(0))
  const type = typeof ref === 'string' ? 'str' : ref instanceof Uint8Array ? 'blob' : 'int'
  return eq(mapGet(part, field, type), value(ref))
}

function isSame(a: UserKey | null, b: UserKey | null): boolean {
  return a === null || b === null ? a === b : userKeyId(a) === userKeyId(b)
}
