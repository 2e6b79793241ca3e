import { particleTypeOf } from '../value/value.js'
import { ExpressionType, isExpressionType, typeOfValue } from './expression-type.js'
import { expectCount, integerNode, invalid, type Builders, type Node, type Operands } from './node.js'
import { Opcode } from './opcode.js'

const MAX_BIN_NAME = 15

function bin(operands: Operands, count: number): Node {
  expectCount(count, 2)
  const type = operands.integer()
  if (!isExpressionType(type)) throw invalid('there is no such type')
  const name = binName(operands)
  return {
    type,
    evaluate: ({ record }) => {
      const value = record?.bin(name)
      return value !== undefined && typeOfValue(value) === type ? value : undefined
    },
  }
}

function binType(operands: Operands, count: number): Node {
  expectCount(count, 1)
  const name = binName(operands)
  return integerNode(({ record }) => record && particleTypeOf(record.bin(name) ?? null))
}

function binName(operands: Operands): string {
  const name = operands.text()
  if (Buffer.byteLength(name) > MAX_BIN_NAME) throw invalid('the bin name is too long')
  return name
}

const KEY_TYPES: readonly ExpressionType[] = [ExpressionType.INTEGER, ExpressionType.STRING, ExpressionType.BLOB]

function key(operands: Operands, count: number): Node {
  expectCount(count, 1)
  const type = operands.integer()
  if (!isExpressionType(type) || !KEY_TYPES.includes(type)) throw invalid('a key cannot have this type')
  return {
    type,
    evaluate: ({ record }) => {
      const userKey = record?.userKey
      return userKey !== undefined && typeOfValue(userKey) === type ? userKey : undefined
    },
  }
}

export const bins: Builders = {
  [Opcode.BIN]: bin,
  [Opcode.BIN_TYPE]: binType,
  [Opcode.KEY]: key,
}
