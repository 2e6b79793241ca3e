import { CommandError, ResultCode } from '../protocol/result-code.js'
import { LIST_ORDERED, MAP_KEY_VALUE_ORDERED } from '../value/value.js'

/** Asks for an index kept beside the container; accepted, and never returned. */
const PERSIST_INDEX = 0x10

/** The flags of a list that is created; an unknown order counts as none. */
export function createdListFlags(order: number): number {
  return createdFlags(order, LIST_ORDERED)
}

export function createdMapFlags(order: number): number {
  return createdFlags(order, MAP_KEY_VALUE_ORDERED)
}

/** The flags that set_type gives to a list; an unknown order is refused. */
export function changedListFlags(order: number): number {
  return changedFlags(order, LIST_ORDERED)
}

export function changedMapFlags(order: number): number {
  return changedFlags(order, MAP_KEY_VALUE_ORDERED)
}

function createdFlags(order: number, known: number): number {
  return isKnown(order, known) ? order & known : 0
}

function changedFlags(order: number, known: number): number {
  if (isKnown(order, known)) return order & known
  throw new CommandError(ResultCode.NOT_APPLICABLE, `unknown order ${order}`)
}

function isKnown(order: number, known: number): boolean {
  return (order & 0xff & ~(known | PERSIST_INDEX)) === 0
}
