import { makeCdtCall, type CdtCall } from '../cdt/index.js'
import { OverBudgetError, requestBudget } from '../protocol/request-budget.js'
import { CommandError } from '../protocol/result-code.js'
import { encodedSize } from '../value/encoded-size.js'
import { inKeyOrder } from '../value/storable.js'
import { MapValue, type Value } from '../value/value.js'
import { callSystem, type CallSystem } from './call-system.js'
import { ExpressionType, isExpressionType, typeOfValue } from './expression-type.js'
import { constantNode, expectCount, invalid, valueNode } from './node.js'
import type { Builders, Evaluate, Frame, Node, Operands } from './node.js'
import { Opcode } from './opcode.js'
import { parsePath } from './path.js'

const WITH_CONTEXT = 0xff

/** `type, system, [opcode, …arguments], subject` */
function call(operands: Operands, count: number): Node {
  expectCount(count, 4)
  const type = operands.integer()
  if (!isExpressionType(type)) throw invalid('there is no such type')
  const { system, modifies } = callSystem(operands.integer())
  const run = preparedCall(operands, system, modifies)
  const subject = operands.node()
  if (!system.subjects.includes(subject.type)) throw invalid('the subject of the call has the wrong type')
  return {
    // The server takes the type of a nil subject for that of the call.
    type: subject.type === ExpressionType.NIL ? ExpressionType.NIL : type,
    evaluate: (frame) => {
      const value = subject.evaluate(frame)
      if (value === undefined) return undefined
      const result = run(value instanceof MapValue ? inKeyOrder(value) : value, frame)
      return result !== undefined && typeOfValue(result) === type ? result : undefined
    },
  }
}

type Prepare = (frame: Frame) => CdtCall | undefined
/** Answers what a call makes of its subject, or undefined where that is unknown. */
type Run = (subject: Value, frame: Frame) => Value | undefined

function preparedCall(operands: Operands, system: CallSystem, modifies: boolean): Run {
  if (operands.atPath()) return pathCall(operands, modifies)
  const prepare = plainCall(operands)
  const run = modifies ? modify : read
  return (subject, frame) => {
    const cdt = prepare(frame)
    return cdt && run(system, cdt, subject)
  }
}

/** The server looks at a path only when it runs: a malformed one is an unknown value, not a malformed expression. */
function pathCall(operands: Operands, modifies: boolean): Run {
  const path = operands.attempt(() => parsePath(operands))
  if (path?.modifies !== modifies) return () => undefined
  return (subject, { variables }) => attempt(() => path.run(subject, variables))
}

/** Only lists among the arguments are expressions; everything else stands for itself. */
function plainCall(operands: Operands): Prepare {
  let count = operands.enterList()
  let opcode = count > 0 ? operands.value() : undefined
  let context: Value | undefined
  if (opcode === WITH_CONTEXT) {
    expectCount(count, 3)
    context = operands.value()
    count = operands.enterList()
    opcode = count > 0 ? operands.value() : undefined
  }
  if (typeof opcode !== 'number') throw invalid('a call must start with its opcode')
  const args: Node[] = []
  for (let i = 1; i < count; i++) {
    args.push(operands.atList() ? valueNode(operands) : constantNode(ExpressionType.NIL, operands.value()))
  }
  return prepareCall(opcode, args, context)
}

function prepareCall(opcode: number, args: Node[], context: Value | undefined): Prepare {
  if (args.every((arg) => arg.constant !== undefined)) {
    const fixed = attempt(() =>
      makeCdtCall(
        opcode,
        args.map((arg) => arg.constant!),
        context,
      ),
    )
    return () => fixed
  }
  const evaluators: Evaluate[] = args.map((arg) => arg.evaluate)
  return (frame) => {
    const values: Value[] = []
    for (const evaluate of evaluators) {
      const value = evaluate(frame)
      if (value === undefined) return undefined
      values.push(value)
    }
    return attempt(() => makeCdtCall(opcode, values, context))
  }
}

function read(system: CallSystem, call: CdtCall, subject: Value): Value | undefined {
  if (subject === null) return undefined
  const result = attempt(() => system.read(call, subject))
  // A variable may keep it until the expression ends.
  if (result !== undefined) requestBudget.grow(encodedSize(result))
  return result
}

function modify(system: CallSystem, call: CdtCall, subject: Value): Value | undefined {
  return attempt(() => system.modify(call, subject ?? undefined))
}

/** A call that the server would refuse has an unknown result. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof CommandError && !(error instanceof OverBudgetError)) return undefined
    throw error
  }
}

export const calls: Builders = {
  [Opcode.CALL]: call,
}
