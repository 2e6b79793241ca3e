import type { KeyKind } from '../../keys/index.js'
import type { BinType } from '../../plan/expression.js'

/** Type with which an expression reads a bin that holds a stored key. */
export function expressionType(kind: KeyKind): BinType {
  if (kind === 'string') return 'str'
  return kind === 'bytes' ? 'blob' : 'int'
}
