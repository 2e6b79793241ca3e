import { STORED_KEYS, type EntityModel, type Model } from '../../model/index.js'
import type { DeleteCommand, WriteCommand } from '../../plan/command.js'
import { isWrite } from '../../plan/effects.js'
import type { Operation } from '../../plan/operation.js'
import { writeSize } from '../../plan/operations.js'

/** The bin that says how many members the bin of a collection has. */
export interface StoredCount {
  readonly property: string
  readonly bin: string
  readonly of: string
  readonly type: 'list' | 'map'
}

type AnyWrite = WriteCommand | DeleteCommand

/** Counts of collections (`@CountOf`): whatever changes a collection in its record also writes its size, in the same command. */
export class StoredCounts {
  readonly #bySet: ReadonlyMap<string, readonly StoredCount[]>

  private constructor(bySet: ReadonlyMap<string, readonly StoredCount[]>) {
    this.#bySet = bySet
  }

  /** Undefined where no class counts anything. */
  static of({ entities }: Model): StoredCounts | undefined {
    const bySet = new Map<string, StoredCount[]>()
    for (const entity of entities.values()) {
      const { namespace, set } = entity
      const known = bySet.get(placeOf(namespace, set)) ?? []
      for (const count of countsOf(entity)) if (!known.some(({ bin }) => bin === count.bin)) known.push(count)
      if (known.length > 0) bySet.set(placeOf(namespace, set), known)
    }
    return bySet.size === 0 ? undefined : new StoredCounts(bySet)
  }

  readonly complete = <C extends AnyWrite>(command: C): C => {
    const { namespace, set } = command.key
    const counts = this.#bySet.get(placeOf(namespace, set))
    if (counts === undefined || command.kind !== 'write') return command
    const changed = counts.filter(({ of }) => command.operations.some((operation) => changesSize(operation, of)))
    if (changed.length === 0) return command
    const sizes = changed.map(({ bin, of, type }) => writeSize(bin, of, type))
    return { ...command, bins: undefined, operations: [...command.operations, ...sizes] }
  }
}

/** Counts that a class keeps. */
export function countsOf({ properties, relations }: EntityModel): StoredCount[] {
  return properties.flatMap(({ name, bin, countOf }) => {
    const relation = relations.find((each) => each.name === countOf)
    if (relation?.bin === undefined) return []
    return [{ property: name, bin, of: relation.bin, type: STORED_KEYS[relation.strategy] === 'list' ? 'list' : 'map' }]
  })
}

const placeOf = (namespace: string, set: string): string => `${namespace}|${set}`

/** A change deep inside of a member leaves their number as it is. */
function changesSize(operation: Operation, bin: string): boolean {
  if (!('bin' in operation) || operation.bin !== bin || !isWrite(operation)) return false
  return !('path' in operation) || operation.path === undefined || operation.path.length === 0
}
