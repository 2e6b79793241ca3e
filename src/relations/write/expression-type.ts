import type { KeyKind } from '../../keys/index.js'
import type { BinType } from '../../plan/expression.js'

/** How an expression reads a bin that holds a stored key of that type. */
export function expressionType(kind: KeyKind): BinType {
  if (kind === 'string') return 'str'
  return kind === 'bytes' ? 'blob' : 'int'
}
