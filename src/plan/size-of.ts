import { bin, binExists, cond, listSize, mapSize, value, type Expression } from './expression.js'

/** Number of items of the list or map in a bin; 0 where there is none. */
export function sizeOf(type: 'list' | 'map', name: string): Expression {
  const size = type === 'list' ? listSize(bin('list', name)) : mapSize(bin('map', name))
  return cond(binExists(name), size, value(0))
}
