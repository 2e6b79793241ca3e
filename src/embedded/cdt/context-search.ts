import { CommandError, ResultCode } from '../protocol/result-code.js'
import { workOn, workOnPlace } from '../value/work-on.js'
import { ListValue, MapValue, isInteger, type Value } from '../value/value.js'
import { CreateMode, type ContextLevel } from './context-level.js'
import { listFirstValue, listIndex, listRank } from './list-selection.js'
import { mapFirstValue, mapIndex, mapRank } from './map-selection.js'
import type { Container } from './operation.js'
import { findSorted } from './search.js'
import type { Selection } from './selection.js'

/** Place where the element of a level stands, or how many nils go before it where it has to be created. */
type Place = { readonly position: number } | { readonly createAfter: number }

export function isContainer(value: Value | undefined): value is Container {
  return value instanceof ListValue || value instanceof MapValue
}

export function elementAt(container: Container, position: number): Value {
  return container instanceof ListValue ? container.items[position] : container.values[position]
}

/** Finds the element of a level; a missing one is refused unless the level may create it. */
export function locate(container: Container, level: ContextLevel): Place {
  const kind = container instanceof ListValue ? 'list' : 'map'
  if (level.container !== kind && level.container !== 'either') throw notApplicable()
  if (level.container === 'either' && level.create !== CreateMode.NEVER) throw notApplicable()
  if (level.by === 'key' || level.by === 'index') workOnPlace(container)
  else workOn(container)
  return container instanceof ListValue ? locateInList(container, level) : locateInMap(container, level)
}

function locateInList(list: ListValue, level: ContextLevel): Place {
  switch (level.by) {
    case 'index':
      return byIndex(list, level)
    case 'rank':
      return list.ordered ? byIndex(list, level) : found(listRank(list, integerOf(level)))
    case 'value':
      return found(listFirstValue(list, level.value))
  }
  throw notApplicable()
}

function byIndex(list: ListValue, level: ContextLevel): Place {
  const index = integerOf(level)
  const size = list.items.length
  if (level.create === CreateMode.NEVER || (index >= -size && index < size)) return found(listIndex(list, index))
  if (index === size || list.ordered || (index === -1 && size === 0)) return { createAfter: 0 }
  if (level.create === CreateMode.PADDED_OR_KEY_ORDERED && index > size) return { createAfter: index - size }
  throw notApplicable()
}

function locateInMap(map: MapValue, level: ContextLevel): Place {
  switch (level.by) {
    case 'index':
      return found(mapIndex(map, integerOf(level)))
    case 'rank':
      return found(mapRank(map, integerOf(level)))
    case 'value':
      return found(mapFirstValue(map, level.value))
    case 'key': {
      const position = findSorted(map.keys, level.value)
      if (position >= 0) return { position }
      if (level.create !== CreateMode.NEVER) return { createAfter: 0 }
    }
  }
  throw notApplicable()
}

function found(selection: Selection): Place {
  if (selection.positions.length === 0) throw notApplicable()
  return { position: selection.positions[0] }
}

export function integerOf(level: ContextLevel): number {
  if (isInteger(level.value)) return Number(level.value)
  throw notApplicable()
}

export function notApplicable(): CommandError {
  return new CommandError(ResultCode.NOT_APPLICABLE, 'the context leads nowhere')
}
