import type { ListValue, MapValue, Value } from '../value/value.js'
import type { Arguments } from './arguments.js'

export type Container = ListValue | MapValue

/** A call that only looks. */
export interface Read<C extends Container> {
  /** Fewest and most arguments. */
  readonly takes: readonly [number, number]
  readonly answer: (container: C, args: Arguments) => Value
}

/** A call that may change its container. */
export interface Change<C extends Container> {
  readonly takes: readonly [number, number]
  /** The empty container a call starts from where there is none; without it such a call does nothing. */
  readonly start?: (args: Arguments) => C
  /** Result codes of calls that refuse to do nothing where the bin, or the element of a context, is missing. */
  readonly missingBin?: number
  readonly missingElement?: number
  readonly run: (container: C, args: Arguments) => Outcome<C>
}

export interface Outcome<C extends Container> {
  /** Container after the call; the very object it was before where nothing was written. */
  readonly container: C
  readonly result: Value
}
