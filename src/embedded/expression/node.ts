import { CommandError, ResultCode } from '../protocol/result-code.js'
import type { Loop } from '../cdt/index.js'
import type { Value } from '../value/value.js'
import { ExpressionType } from './expression-type.js'
import type { RecordView } from './record-view.js'

/** Input of one evaluation. */
export interface Frame {
  /** Undefined for expressions on a path, which see nothing of the record. */
  readonly record: RecordView | undefined
  /** Values of `let` variables by slot. */
  readonly variables: (Value | undefined)[]
  /** The child that a path has reached; undefined outside of paths. */
  readonly loop: Loop | undefined
}

/** Answers the value, or undefined where it is unknown. */
export type Evaluate = (frame: Frame) => Value | undefined

/** A type-checked part of an expression. */
export interface Node {
  readonly type: ExpressionType
  readonly evaluate: Evaluate
  /** Set for values that stand in the expression itself. */
  readonly constant?: Value
  /** Set for the literal `unknown`, which fits beside any type in a `cond`. */
  readonly isUnknown?: true
}

/** Arguments on the wire, as the builder of an operator takes them. */
export interface Operands {
  /** The next operand as an expression. */
  node(): Node
  /** The next operand as an expression of one type. */
  nodeOf(type: ExpressionType): Node
  /** The next operand as a literal integer. */
  integer(): number | bigint
  /** The next operand as a name or pattern without type tag. */
  text(): string
  /** The next operand as it stands, not evaluated. */
  value(): Value
  /** True where the next operand is a list. */
  atList(): boolean
  /** True where the next operand is a selection or change by path. */
  atPath(): boolean
  /** Number of bytes that were read before the next operand. */
  readonly position: number
  /** Enters a list operand and answers how many elements follow. */
  enterList(): number
  /** Parses the next operand; where it is malformed, skips it and answers undefined. */
  attempt<T>(parse: () => T): T | undefined
  readonly scope: Scope
}

/** The `let` variables in sight. */
export interface Scope {
  /** Declares variables while `body` is built; they end with it. */
  within<T>(body: () => T): T
  /** Reserves the slot of a variable whose type `define` gives once its value is built. */
  declare(name: string): { readonly slot: number; define(type: ExpressionType): void }
  /** Builds something that cannot see the variables around it. */
  apart<T>(body: () => T): T
  lookup(name: string): { readonly slot: number; readonly type: ExpressionType }
}

/** Builds the node of an operator with `count` operands. */
export type Builder = (operands: Operands, count: number) => Node
export type Builders = Readonly<Record<number, Builder>>

export function invalid(message: string): CommandError {
  return new CommandError(ResultCode.PARAMETER, message)
}

export function expectCount(count: number, expected: number): void {
  if (count !== expected) throw invalid(`expected ${expected} operands, got ${count}`)
}

export function expectAtLeast(count: number, least: number): void {
  if (count < least) throw invalid(`expected at least ${least} operands, got ${count}`)
}

/** The next operand, of any type that has values. */
export function valueNode(operands: Operands): Node {
  const node = operands.node()
  if (node.type === ExpressionType.REMOVAL) throw invalid('a removal is not a value')
  return node
}

/** All operands, each checked against one type. */
export function nodesOf(operands: Operands, count: number, type: ExpressionType): Evaluate[] {
  const nodes: Evaluate[] = []
  for (let i = 0; i < count; i++) nodes.push(operands.nodeOf(type).evaluate)
  return nodes
}

export function boolNode(evaluate: Evaluate): Node {
  return { type: ExpressionType.BOOL, evaluate }
}

export function integerNode(evaluate: Evaluate): Node {
  return { type: ExpressionType.INTEGER, evaluate }
}

export function constantNode(type: ExpressionType, constant: Value): Node {
  return { type, constant, evaluate: () => constant }
}
