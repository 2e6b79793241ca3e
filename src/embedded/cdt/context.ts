import { CommandError, ResultCode } from '../protocol/result-code.js'
import { storable } from '../value/storable.js'
import {
  ListValue,
  MAP_KEY_ORDERED,
  MAP_KEY_VALUE_ORDERED,
  MapValue,
  LIST_ORDERED,
  type Value,
} from '../value/value.js'
import { CreateMode, type ContextLevel } from './context-level.js'
import { elementAt, integerOf, isContainer, locate, notApplicable } from './context-search.js'
import { keepSize } from './keep-size.js'
import { moveOrdered } from './list-changes.js'
import { insertOrdered, padding } from './list-insertion.js'
import { putEntry } from './map-insertion.js'
import type { Container } from './operation.js'

type Levels = readonly ContextLevel[]

/** New value, undefined where it still does not exist, and the answer of the call. */
export interface Changed {
  readonly value: Value | undefined
  readonly result: Value
}

/** The value a context leads to. */
export function readAt(subject: Value, levels: Levels): Value {
  let value = subject
  for (const level of levels) {
    const place = locate(requireContainer(value, value === subject), level)
    if (!('position' in place)) throw notApplicable()
    value = elementAt(value as Container, place.position)
  }
  return value
}

/** Changes the value a context leads to, and with it every container on the way; creates what the levels allow. */
export function changeAt(
  subject: Value | undefined,
  levels: Levels,
  change: (value: Value | undefined) => Changed,
): Changed {
  if (levels.length === 0) return change(subject)
  if (subject !== undefined) return changeInside(requireContainer(subject, true), levels, change)
  if (levels[0].create === CreateMode.NEVER) throw notApplicable()
  requireNoIndex(levels.slice(1))
  return createChain(levels, change)
}

function changeInside(
  container: Container,
  [level, ...rest]: Levels,
  change: (value: Value | undefined) => Changed,
): Changed {
  const place = locate(container, level)
  if ('position' in place) {
    const element = elementAt(container, place.position)
    const changed = rest.length === 0 ? change(element) : changeInside(requireContainer(element, false), rest, change)
    if (changed.value === element || changed.value === undefined) return { value: container, result: changed.result }
    return { value: replaceAt(container, place.position, changed.value), result: changed.result }
  }
  requireNoIndex(rest)
  const created = createChain(rest, change)
  if (created.value === undefined) return { value: container, result: created.result }
  return { value: insertInto(container, level, place.createAfter, created.value), result: created.result }
}

function requireContainer(value: Value, isBin: boolean): Container {
  if (isContainer(value)) return value
  throw isBin ? new CommandError(ResultCode.PARAMETER, 'a context needs a list or a map') : notApplicable()
}

function replaceAt(container: Container, position: number, value: Value): Container {
  if (container instanceof MapValue) {
    const changed = new MapValue(container.keys, container.values.with(position, value), container.flags)
    return keepSize(container, changed, [container.values[position]], [value])
  }
  if (container.ordered) return moveOrdered(container, position, value)
  const changed = new ListValue(container.items.with(position, value), container.flags)
  return keepSize(container, changed, [container.items[position]], [value])
}

function insertInto(container: Container, level: ContextLevel, nils: number, value: Value): Container {
  if (container instanceof MapValue) return putEntry(container, storableKey(level), value, 0)
  if (container.ordered) return insertOrdered(container, [value], 0)
  const added = padding(nils).concat([value])
  return keepSize(container, new ListValue(container.items.concat(added), container.flags), [], added)
}

/** Builds the containers of all levels around what the call makes out of nothing. */
function createChain(levels: Levels, change: (value: Value | undefined) => Changed): Changed {
  for (const level of levels) requireCreatable(level)
  const { value, result } = change(undefined)
  if (value === undefined) return { value, result }
  return { value: levels.reduceRight<Value>((element, level) => containerAround(level, element), value), result }
}

/** Only the container in the bin itself may ask for a persisted index. */
function requireNoIndex(levels: Levels): void {
  if (levels.some((level) => level.persist)) throw notApplicable()
}

function requireCreatable(level: ContextLevel): void {
  if (level.container === 'map' && level.by === 'key') return void storableKey(level)
  if (level.container !== 'list' || level.by !== 'index') throw notApplicable()
  const index = integerOf(level)
  const anyIndex = level.create === CreateMode.PADDED_OR_KEY_ORDERED || level.create === CreateMode.ORDERED
  if (index < -1 || (index > 0 && !anyIndex)) throw notApplicable()
}

function storableKey(level: ContextLevel): Value {
  try {
    return storable(level.value)
  } catch {
    throw notApplicable()
  }
}

function containerAround(level: ContextLevel, element: Value): Container {
  if (level.by === 'key') return new MapValue([storableKey(level)], [element], mapFlags(level.create))
  const ordered = level.create === CreateMode.ORDERED
  const nils = level.create === CreateMode.PADDED_OR_KEY_ORDERED ? integerOf(level) : 0
  return new ListValue(padding(nils).concat([element]), ordered ? LIST_ORDERED : 0)
}

function mapFlags(create: number): number {
  if (create === CreateMode.PADDED_OR_KEY_ORDERED) return MAP_KEY_ORDERED
  return create === CreateMode.ORDERED ? MAP_KEY_VALUE_ORDERED : 0
}
