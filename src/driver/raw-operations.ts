import type { Operation } from '../plan/operation.js'
import { rawRead, rawWrite } from '../plan/operations.js'
import type { ClientCalls, ClientOperation } from './aerospike-client.js'
import { DELETE_OPCODE, readOpcodes } from './opcodes.js'

let reads: ReadonlySet<number> | undefined

/** Kind of an operation that a user made with the official client. */
type RawKind = 'read' | 'write' | 'delete' | 'none'

/** `none` for what is not an operation of the client: the binding would crash on it. */
export function rawKind(given: unknown): RawKind {
  const code = typeof given === 'object' && given !== null && 'op' in given ? given.op : undefined
  if (typeof code !== 'number') return 'none'
  if (code === DELETE_OPCODE) return 'delete'
  return (reads ??= readOpcodes()).has(code) ? 'read' : 'write'
}

export function rawOperation(given: object, isIdempotent: boolean): Extract<Operation, { kind: `raw${string}` }> {
  const bin = binOf(given)
  return rawKind(given) === 'read' ? rawRead(bin, given) : rawWrite(bin, given, isIdempotent)
}

const binOf = (given: object): string => ('bin' in given && typeof given.bin === 'string' ? given.bin : '')

const ANY_KEY = { ns: 'none', set: 'none', key: 1 }
const NO_POLICY = { socketTimeout: 'not a number' }

/**
 * Whether the binding takes the operations. In a row of a batch, one that it refuses ends the process, so it is asked by a call with a policy
 * that it refuses as well: it looks at the operations first, says which of the two it did not take, and sends nothing.
 */
export function areTaken(operations: readonly ClientOperation[], client: ClientCalls): boolean {
  let refusal: string | undefined
  const answered = (error: { readonly message: string } | null): void => void (refusal = error?.message)
  try {
    client.asExec('operateAsync', [ANY_KEY, operations, null, NO_POLICY, answered])
  } catch {
    return false
  }
  return refusal === 'Policy object invalid'
}
