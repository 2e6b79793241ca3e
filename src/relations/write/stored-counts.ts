import { STORED_KEYS, type EntityModel, type Model } from '../../model/index.js'
import type { DeleteCommand, WriteCommand } from '../../plan/command.js'
import { isWrite } from '../../plan/effects.js'
import type { Operation, WriteOperation } from '../../plan/operation.js'
import type { Expression } from '../../plan/expression.js'
import { addSize, readExpression, writeSize } from '../../plan/operations.js'
import { sizeOf } from '../../plan/size-of.js'
import { countersOf, type ShardedCounter } from './counter-companions.js'

/** The bin that says how many members the bin of a collection has. */
export interface StoredCount {
  readonly property: string
  readonly bin: string
  readonly of: string
  readonly type: 'list' | 'map'
  /** The set of the companions that hold the members, where the record does not. */
  readonly apart?: string
  /** Set where the count is spread over companions of its own; the bin in the record is a part of it. */
  readonly sharded?: ShardedCounter
  /** The record holds all members, or some, or none: they move to companions on demand. */
  readonly mayMove?: true
}

/** Names of the sizes of a companion before and after a write. */
export const SIZE_BEFORE = '_sk.before'
export const SIZE_AFTER = '_sk.after'

type AnyWrite = WriteCommand | DeleteCommand

/**
 * Counts of collections (`@CountOf`): whatever changes a collection in its record also writes its size, in the same command; what changes a
 * companion reads its size before and after.
 */
export class StoredCounts {
  readonly #bySet: ReadonlyMap<string, readonly StoredCount[]>

  private constructor(bySet: ReadonlyMap<string, readonly StoredCount[]>) {
    this.#bySet = bySet
  }

  /** Undefined where no class counts anything. */
  static of({ entities }: Model): StoredCounts | undefined {
    const bySet = new Map<string, StoredCount[]>()
    for (const entity of entities.values()) {
      for (const count of countsOf(entity)) {
        const { apart, ...inRecord } = count
        const noted = count.mayMove === true ? [count, inRecord] : [count]
        for (const each of noted) {
          const place = placeOf(entity.namespace, each === count ? (apart ?? entity.set) : entity.set)
          const known = bySet.get(place) ?? []
          if (!known.some(({ bin }) => bin === each.bin)) known.push(each)
          bySet.set(place, known)
        }
      }
    }
    return bySet.size === 0 ? undefined : new StoredCounts(bySet)
  }

  readonly complete = <C extends AnyWrite>(command: C): C => {
    const { namespace, set } = command.key
    const counts = this.#bySet.get(placeOf(namespace, set))
    if (counts === undefined || command.kind !== 'write') return command
    const changed = counts.filter(({ of }) => command.operations.some((operation) => changesSize(operation, of)))
    if (changed.length === 0) return command
    const [{ apart, of: members, type }] = changed
    if (apart !== undefined)
      return { ...command, bins: undefined, operations: measured(command.operations, sizeOf(type, members)) }
    const around = (sign: 1 | -1): WriteOperation[] =>
      changed.flatMap(({ bin, of, type, mayMove }) => (mayMove === true ? [addSize(bin, of, type, sign)] : []))
    const sizes = changed.flatMap(({ bin, of, type, mayMove }) => (mayMove === true ? [] : [writeSize(bin, of, type)]))
    return { ...command, bins: undefined, operations: [...around(-1), ...command.operations, ...sizes, ...around(1)] }
  }
}

/** Counts that a class keeps. */
export function countsOf(entity: EntityModel): StoredCount[] {
  const { properties, relations } = entity
  const counters = countersOf(entity)
  return properties.flatMap(({ name, bin, countOf }) => {
    const relation = relations.find((each) => each.name === countOf)
    if (relation?.bin === undefined) return []
    const type = STORED_KEYS[relation.strategy] === 'list' ? 'list' : 'map'
    const apart = relation.companions && { apart: relation.companions.set }
    const mayMove = relation.companions?.when !== undefined && { mayMove: true as const }
    const sharded = counters.find((counter) => counter.name === name)
    return [{ property: name, bin, of: relation.bin, type, ...apart, ...mayMove, ...(sharded && { sharded }) } as const]
  })
}

/** Puts the operations between two reads of the size. */
function measured(operations: readonly Operation[], size: Expression): readonly Operation[] {
  return [readExpression(SIZE_BEFORE, size), ...operations, readExpression(SIZE_AFTER, size)]
}

const placeOf = (namespace: string, set: string): string => `${namespace}|${set}`

/** A change deep inside of a member leaves their number as it is. */
function changesSize(operation: Operation, bin: string): boolean {
  if (!('bin' in operation) || operation.bin !== bin || !isWrite(operation)) return false
  return !('path' in operation) || operation.path === undefined || operation.path.length === 0
}
