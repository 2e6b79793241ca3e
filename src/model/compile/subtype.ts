import type { ModelErrorCode } from '../../errors/index.js'
import type { BinType, ListType, MapType } from '../bin-type.js'
import { isByteKeyed } from '../byte-keys.js'
import { show } from './check-options.js'
import { oneOf } from './nearest.js'

/** A wrong type, as the sentences of a problem. */
export interface TypeProblem {
  readonly code: ModelErrorCode
  readonly message: string
  readonly fix: string
}

export const LIST_OPTIONS = ['order', 'unique', 'persistIndex'] as const
export const MAP_OPTIONS = ['order', 'persistIndex'] as const

/** Options of a list or map as people wrote them. */
export interface Subtype {
  readonly order?: unknown
  readonly unique?: unknown
  readonly persistIndex?: unknown
}

/** Order, uniqueness and index of a declared list, without what is the default. */
export function listSubtype(spec: Subtype): Pick<ListType, 'order' | 'unique' | 'persistIndex'> | TypeProblem {
  const problem =
    wrong('order', spec.order, ['sorted']) ??
    wrong('unique', spec.unique, [true, false]) ??
    wrong('persistIndex', spec.persistIndex, [true, false])
  if (problem) return problem
  if (spec.persistIndex === true && spec.order !== 'sorted') {
    const message = 'persistIndex needs a sorted list: the server keeps no index of a list in insertion order.'
    return { code: 'SKEIN_1049', message, fix: "Add order: 'sorted', or leave persistIndex out." }
  }
  return {
    ...(spec.order === 'sorted' && { order: 'sorted' }),
    ...(spec.unique === true && { unique: true }),
    ...(spec.persistIndex === true && { persistIndex: true }),
  }
}

/** Order and index of a declared map, without what is the default. */
export function mapSubtype(spec: Subtype): Pick<MapType, 'order' | 'persistIndex'> | TypeProblem {
  const problem =
    wrong('order', spec.order, ['key', 'keyValue']) ??
    wrong('unique', spec.unique, []) ??
    wrong('persistIndex', spec.persistIndex, [true, false])
  if (problem) return problem
  return {
    ...(spec.order === 'keyValue' && { order: 'keyValue' }),
    ...(spec.persistIndex === true && { persistIndex: true }),
  }
}

/** Refuses a subtype for a single part, which is not a list or map of its own. */
export function noSubtype(spec: Subtype): object | TypeProblem {
  const option = LIST_OPTIONS.find((name) => spec[name] !== undefined)
  if (option === undefined) return {}
  return {
    code: 'SKEIN_1049',
    message: `The option '${option}' is for several parts.`,
    fix: `Leave ${option} out, or say as: 'array' or as: 'map'.`,
  }
}

/** A problem where a type inside another one asks for what only the list or map of a bin can have. */
export function nestedSubtype(type: BinType): TypeProblem | undefined {
  if (isByteKeyed(type)) {
    const message =
      "Keys of type 'bytes' are for the map of a bin: inside another value the client returns them as text."
    const fix = "Give the map a bin of its own, or store the keys as text, with key: 'string'."
    return { code: 'SKEIN_1022', message, fix }
  }
  const option = subtypeOption(type)
  if (option === undefined) return undefined
  return {
    code: 'SKEIN_1049',
    message: `The option '${option}' is for the list or map of a bin, not for one inside another value.`,
    fix: `Leave ${option} out, or give the value a bin of its own.`,
  }
}

/** The first option that differs from the default; undefined where none does. */
function subtypeOption(type: BinType): string | undefined {
  return (['order', 'persistIndex', 'unique'] as const).find((option) => option in type)
}

function wrong(option: string, value: unknown, allowed: readonly unknown[]): TypeProblem | undefined {
  if (value === undefined || allowed.includes(value)) return undefined
  return {
    code: 'SKEIN_1049',
    message: `${show(value)} is not a valid value for the option '${option}'.`,
    fix: allowed.length === 0 ? `Leave ${option} out.` : `Use ${oneOf(allowed.map(String))}.`,
  }
}
