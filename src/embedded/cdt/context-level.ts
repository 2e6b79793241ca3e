import { CommandError, ResultCode } from '../protocol/result-code.js'
import { ListValue, type Value } from '../value/value.js'

/** One step from a container to one of its elements. */
export interface ContextLevel {
  readonly container: 'list' | 'map'
  readonly by: 'index' | 'rank' | 'key' | 'value'
  readonly value: Value
  readonly create: CreateMode
}

/** Whether a missing element may be created, and with which order its container is made if that is missing too. */
export const CreateMode = {
  NEVER: 0,
  /** List: no padding. Map: unordered. */
  UNORDERED: 0x40,
  /** List: unordered, padded with nil up to the index. Map: key ordered. */
  PADDED_OR_KEY_ORDERED: 0x80,
  /** List: ordered. Map: key and value ordered. */
  ORDERED: 0xc0,
} as const
export type CreateMode = (typeof CreateMode)[keyof typeof CreateMode]

const CREATE_MASK = 0xc0
const PERSIST_INDEX = 0x100

const STEPS: Record<number, Pick<ContextLevel, 'container' | 'by'>> = {
  0x10: { container: 'list', by: 'index' },
  0x11: { container: 'list', by: 'rank' },
  0x13: { container: 'list', by: 'value' },
  0x20: { container: 'map', by: 'index' },
  0x21: { container: 'map', by: 'rank' },
  0x22: { container: 'map', by: 'key' },
  0x23: { container: 'map', by: 'value' },
}

/** Reads the list `[type, value, type, value, …]`. */
export function parseContext(list: Value): ContextLevel[] {
  if (!(list instanceof ListValue) || list.items.length === 0 || list.items.length % 2 !== 0) throw badContext()
  const levels: ContextLevel[] = []
  for (let i = 0; i < list.items.length; i += 2) levels.push(parseLevel(list.items[i], list.items[i + 1]))
  return levels
}

function parseLevel(type: Value, value: Value): ContextLevel {
  if (typeof type !== 'number') throw badContext()
  const step = STEPS[type & ~(CREATE_MASK | PERSIST_INDEX)]
  if (step === undefined) throw badContext()
  return { ...step, value, create: (type & CREATE_MASK) as CreateMode }
}

function badContext(): CommandError {
  return new CommandError(ResultCode.PARAMETER, 'malformed context')
}
