import { requireFeature, type Feature } from '../build.js'
import { OverBudgetError } from '../protocol/request-budget.js'
import { CommandError } from '../protocol/result-code.js'
import type { MsgpackReader } from '../value/msgpack-reader.js'
import { isInteger, type Value } from '../value/value.js'
import { arithmetic } from './arithmetic.js'
import { bins } from './bins.js'
import { calls } from './call.js'
import { collections } from './collections.js'
import { comparisons } from './comparison.js'
import { control } from './control.js'
import type { ExpressionType } from './expression-type.js'
import { geo } from './geo.js'
import { integerBits } from './integer-bits.js'
import { literal } from './literal.js'
import { logic } from './logic.js'
import { loopVariables } from './loop-variable.js'
import { metadata } from './metadata.js'
import { invalid, type Builders, type Node, type Operands } from './node.js'
import { Opcode } from './opcode.js'
import { isPath } from './path-header.js'
import { regex } from './regex.js'
import { VariableScope } from './variable-scope.js'

const BUILDERS: Builders = {
  ...logic,
  ...comparisons,
  ...regex,
  ...geo,
  ...collections,
  ...arithmetic,
  ...integerBits,
  ...metadata,
  ...bins,
  ...control,
  ...calls,
  ...loopVariables,
}

/** Operators that older servers do not have. */
const NEWER: ReadonlyMap<number, Feature> = new Map<number, Feature>([
  [Opcode.RECORD_SIZE, 'recordSize'],
  [Opcode.IN_LIST, 'pathExpressions'],
  [Opcode.MAP_KEYS, 'pathExpressions'],
  [Opcode.MAP_VALUES, 'pathExpressions'],
  [Opcode.LOOP_VARIABLE, 'pathExpressions'],
  [Opcode.RESULT_REMOVE, 'pathExpressions'],
])

/** Deeper nesting than this is refused, so that hostile bytes cannot exhaust the stack. */
const MAX_DEPTH = 512

/** Attempts within attempts; each may read once more what is inside it. */
const MAX_ATTEMPTS = 16

/** Reads an expression from its wire form, checks its types and turns it into closures. */
export class ExpressionParser implements Operands {
  readonly scope = new VariableScope()
  readonly #reader: MsgpackReader
  #depth = 0
  #attempts = 0

  constructor(reader: MsgpackReader) {
    this.#reader = reader
  }

  node(): Node {
    if (!this.atList()) return literal(this.value())
    const count = this.enterList() - 1
    const opcode = count >= 0 ? this.integer() : -1
    const build = BUILDERS[Number(opcode)] as Builders[number] | undefined
    if (build === undefined) throw invalid(`there is no operator ${opcode}`)
    const feature = NEWER.get(Number(opcode))
    if (feature) requireFeature(feature)
    if (++this.#depth > MAX_DEPTH) throw invalid('the expression is nested too deeply')
    const node = build(this, count)
    this.#depth--
    return node
  }

  nodeOf(type: ExpressionType): Node {
    const node = this.node()
    if (node.type !== type) throw invalid(`an operand has type ${node.type} instead of ${type}`)
    return node
  }

  integer(): number | bigint {
    const value = this.value()
    if (!isInteger(value)) throw invalid('an integer is missing')
    return value
  }

  text(): string {
    return this.#reader.readPlainString()
  }

  value(): Value {
    return this.#reader.read()
  }

  atList(): boolean {
    return this.#reader.atList()
  }

  get position(): number {
    return this.#reader.position
  }

  atPath(): boolean {
    return isPath(this.#reader.buffer, this.#reader.position)
  }

  enterList(): number {
    return this.#reader.listHeader()
  }

  attempt<T>(parse: () => T): T | undefined {
    if (this.#attempts === MAX_ATTEMPTS) throw invalid('paths are nested too deeply')
    const start = this.#reader.position
    const depth = this.#depth
    this.#attempts++
    try {
      return parse()
    } catch (error) {
      if (!(error instanceof CommandError) || error instanceof OverBudgetError) throw error
      this.#reader.position = start
      this.#depth = depth
      this.value()
      return undefined
    } finally {
      this.#attempts--
    }
  }
}
