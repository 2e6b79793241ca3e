import type { ChildCodec, ChildrenField } from '../../../codec/index.js'
import { describeKey, type KeyValue } from '../../../keys/index.js'
import type { EntityModel, InverseIndexModel } from '../../../model/index.js'
import { userKeyId, type UserKey } from '../../../plan/record-key.js'
import type { Value } from '../../../plan/value.js'

/** A part as inverse indexes see it: the keys that it points to, and the parts in it that they are about. */
export interface IndexedPart {
  readonly part: object
  readonly at: IndexCoverage
  /** Targets, one for each index; null where the part points to nothing. */
  readonly refs: readonly (UserKey | null)[]
  /** The parts in it by their keys in its map, for each collection on the path to an index. */
  readonly children: readonly ReadonlyMap<string, IndexedPart>[]
}

/** A reference that an index lists, unless it is null. */
export interface IndexEntry {
  readonly index: number
  readonly to: UserKey | null
  /** The part in the list. */
  readonly entry: Value
  /** The id of the part. */
  readonly id: KeyValue
}

/** Indexes of a collection that are about the parts at one place in it, and about the parts in those. */
export class IndexCoverage {
  readonly codec: ChildCodec
  /** The reference that each index lists here; undefined where the index is not about these parts. */
  readonly refs: readonly (string | undefined)[]
  readonly #indexes: readonly IndexPath[]
  /** Number of collections of its path that each index has passed; -1 for one that leads elsewhere. */
  readonly #steps: readonly number[]
  #inside: readonly { readonly field: ChildrenField; readonly at: IndexCoverage }[] | undefined

  private constructor(codec: ChildCodec, indexes: readonly IndexPath[], steps: readonly number[]) {
    this.codec = codec
    this.#indexes = indexes
    this.#steps = steps
    this.refs = indexes.map(({ through, ref, part }, i) =>
      steps[i] === through.length && part === codec.model.name ? ref : undefined,
    )
  }

  static of(codec: ChildCodec, indexes: readonly InverseIndexModel[]): IndexCoverage {
    const paths = indexes.map(({ ref, through = [] }) => {
      const end = endOf(codec, through)
      return { ref, through, part: end.model.name, target: end.targetOf(ref) }
    })
    return new IndexCoverage(
      codec,
      paths,
      paths.map(() => 0),
    )
  }

  /** The class that the references of an index point to, or what stands for several. */
  targetOf(index: number): EntityModel {
    return this.#indexes[index].target
  }

  /** Indexes about the parts at the end of a path; undefined where no index is about them. */
  along(way: readonly { readonly field: ChildrenField }[]): IndexCoverage | undefined {
    return way.reduce<IndexCoverage | undefined>(
      (at, step) => at?.inside.find(({ field }) => field === step.field)?.at,
      this,
    )
  }

  /** Collections of these parts that lead to indexed ones. Made when asked, because a collection may contain itself. */
  get inside(): readonly { readonly field: ChildrenField; readonly at: IndexCoverage }[] {
    this.#inside ??= this.codec.children.flatMap((field) => {
      const steps = this.#steps.map((step, i) => next(this.#indexes[i].through, step, field.name))
      const isOnTheWay = steps.some((step) => step >= 0)
      return isOnTheWay ? [{ field, at: new IndexCoverage(field.codec, this.#indexes, steps) }] : []
    })
    return this.#inside
  }

  /** References of a part that indexes list, by its snapshot. */
  see(part: object, snapshot: object): IndexedPart {
    const { codec } = this
    return {
      part,
      at: this,
      refs: this.refs.map((name) =>
        name === undefined ? null : ((codec.knownField(snapshot, name) ?? null) as UserKey | null),
      ),
      children: this.inside.map(({ field, at }) => {
        const known = [...codec.knownChildren(snapshot, field)]
        return new Map(known.map(([key, child]) => [key, at.see(child.part, child.snapshot)]))
      }),
    }
  }
}

/** All references of a part, and of the parts in it, that indexes are about. */
export function* entriesOf(root: KeyValue, seen: IndexedPart, keys: readonly string[] = []): Iterable<IndexEntry> {
  const { part, at, refs, children } = seen
  for (const [index, to] of refs.entries()) {
    if (at.refs[index] === undefined) continue
    const id = keys.length === 0 ? root : at.codec.key!.keyOf(part)
    yield { index, to, entry: entryAt(root, keys), id }
  }
  for (const each of children) for (const [key, child] of each) yield* entriesOf(root, child, [...keys, key])
}

/** An indexed part in its list: its id, or the path to it from the child of the record. */
export const entryAt = (id: KeyValue, keys: readonly string[]): Value => (keys.length === 0 ? id : [id, ...keys])

export function entryId(entry: Value): string {
  return Array.isArray(entry)
    ? JSON.stringify((entry as readonly UserKey[]).map(userKeyId))
    : userKeyId(entry as UserKey)
}

export function showEntry(entry: Value): string {
  const [id, ...keys] = (Array.isArray(entry) ? entry : [entry]) as readonly UserKey[]
  return [describeKey(id), ...keys.map(String)].join(' ')
}

interface IndexPath {
  readonly ref: string
  readonly through: readonly string[]
  /** Class of the parts that have the reference. */
  readonly part: string
  /** Class that it points to, or what stands for several. */
  readonly target: EntityModel
}

function endOf(codec: ChildCodec, through: readonly string[]): ChildCodec {
  return through.reduce((at, name) => at.children.find((field) => field.name === name)!.codec, codec)
}

/** The last collection of a path may contain itself: the index is about every level of it. */
function next(through: readonly string[], step: number, name: string): number {
  if (through[step] === name) return step + 1
  return step === through.length && through.at(-1) === name ? step : -1
}
