import { eq, bin, value } from '../plan/expression.js'
import type { Expression } from '../plan/expression.js'
import type { IndexLookup } from '../plan/query-command.js'
import { filter, indexType } from './aerospike-client.js'
import { contextOfSteps } from './create-index.js'
import { encodeExpression } from './encode-expression.js'

const PART: { readonly [on in IndexLookup['on']]: number } = {
  value: indexType.DEFAULT,
  listElements: indexType.LIST,
  mapKeys: indexType.MAPKEYS,
  mapValues: indexType.MAPVALUES,
}

/** Distance of neighbouring doubles near the ends of int64. */
const STEP = 2048

/** A condition on an index as the client takes it, and what else must hold where it cannot say it exactly. */
export function indexFilter(lookup: IndexLookup): { filter: object; exact?: Expression } {
  const { bin: name, on, value: wanted, to, expression, steps } = lookup
  const part = PART[on]
  if (expression !== undefined) {
    const found = filter.range(null, Number(wanted), Number(to ?? wanted), part)
    return { filter: Object.assign(found, { exp: encodeExpression(expression) }) }
  }
  const context = contextOfSteps(steps)
  if (context !== undefined) return { filter: nestedFilter(lookup, part, context) }
  if (to !== undefined) return { filter: filter.range(name, Number(wanted), Number(to), part) }
  if (typeof wanted === 'string') return { filter: filter.contains(name, wanted, part) }
  if (wanted instanceof Uint8Array) {
    const bytes = Buffer.from(wanted.buffer, wanted.byteOffset, wanted.byteLength)
    return { filter: filter.contains(name, bytes, part) }
  }
  const number = Number(wanted)
  if (Number.isSafeInteger(number)) return { filter: filter.range(name, number, number, part) }
  // The client reads the bounds as doubles, which are too coarse here: ask for the neighbourhood and let the server choose.
  return {
    filter: filter.range(name, number - STEP, number + STEP, part),
    ...(on === 'value' ? { exact: eq(bin('int', name), value(wanted)) } : {}),
  }
}

/** An integer beyond the doubles finds too much; the filter of the query leaves that out. */
function nestedFilter({ bin, value: wanted, to }: IndexLookup, part: number, context: object): object {
  if (typeof wanted === 'string') return filter.contains(bin, wanted, part, context)
  if (wanted instanceof Uint8Array) return filter.contains(bin, Buffer.from(wanted), part, context)
  const [from, last] = [Number(wanted), Number(to ?? wanted)]
  const step = to === undefined && !Number.isSafeInteger(from) ? STEP : 0
  return filter.range(bin, from - step, last + step, part, context)
}
