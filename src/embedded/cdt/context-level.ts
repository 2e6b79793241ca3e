import { CommandError, ResultCode } from '../protocol/result-code.js'
import { ListValue, type Value } from '../value/value.js'

/** A step from a container to one of its elements. */
export interface ContextLevel {
  /** The kind of container the step is for; index, rank and value also exist for either kind. */
  readonly container: 'list' | 'map' | 'either'
  /** Undefined for the steps that only path expressions have. */
  readonly by: 'index' | 'rank' | 'key' | 'value' | undefined
  readonly value: Value
  readonly create: number
  readonly persist: boolean
}

/** Rule for a missing element: whether it may be created, and with which order its container is made if that is missing too. */
export const CreateMode = {
  NEVER: 0,
  /** List: no padding. Map: unordered. */
  UNORDERED: 0x40,
  /** List: unordered, padded with nil up to the index. Map: key ordered. */
  PADDED_OR_KEY_ORDERED: 0x80,
  /** List: ordered. Map: key and value ordered. */
  ORDERED: 0xc0,
} as const

const CREATE_MASK = 0xc0
const PERSIST_INDEX = 0x100
const LIST = 0x10
const MAP = 0x20
/** Deeper values than this cannot be read back. */
const MAX_LEVELS = 256
const WAYS = ['index', 'rank', 'key', 'value'] as const

/** Reads the list `[type, value, type, value, …]`. */
export function parseContext(list: Value): ContextLevel[] {
  if (!(list instanceof ListValue) || list.items.length === 0 || list.items.length % 2 !== 0) throw badContext()
  if (list.items.length > 2 * MAX_LEVELS) throw badContext()
  const levels: ContextLevel[] = []
  for (let i = 0; i < list.items.length; i += 2) levels.push(parseLevel(list.items[i], list.items[i + 1]))
  return levels
}

export function parseLevel(type: Value, value: Value): ContextLevel {
  if (typeof type !== 'number') throw badContext()
  const kind = type & ~(CREATE_MASK | PERSIST_INDEX)
  const container = kind & LIST ? 'list' : kind & MAP ? 'map' : 'either'
  return {
    container,
    by: kind < (LIST | MAP) ? WAYS[kind & 0x0f] : undefined,
    value,
    create: type & CREATE_MASK,
    persist: (type & PERSIST_INDEX) !== 0,
  }
}

function badContext(): CommandError {
  return new CommandError(ResultCode.PARAMETER, 'malformed context')
}
