import './main-thread.js'
import Aerospike from 'aerospike'

// The client has no list of its operations, so one of each kind is made.

type AnyMake = (...args: unknown[]) => { readonly op: number }
const READS = /^(get|size|lscan|rscan|describe|read)/

/** Codes of operations that only read. */
export function readOpcodes(): ReadonlySet<number> {
  const { operations, lists, maps, hll, bitwise, exp, cdt } = Aerospike
  const makers = [operations, lists, maps, hll, bitwise].flatMap((kind) =>
    Object.entries(kind as unknown as Record<string, AnyMake>).filter(([name]) => READS.test(name)),
  )
  const path = (operations as unknown as { selectByPath: AnyMake }).selectByPath
  return new Set([
    ...makers.map(([, make]) => make('b', [], [], [], []).op),
    path('b', 0, new cdt.Context()).op,
    (exp.operations as unknown as { read: AnyMake }).read('b', exp.int(1), 0).op,
  ])
}

let opcodes: ReadonlySet<unknown> | undefined

/** True for the code of an operation of the client; on some others the binding ends the process. */
export function isKnownOpcode(code: unknown): boolean {
  return (opcodes ??= allOpcodes()).has(code)
}

function allOpcodes(): ReadonlySet<number> {
  const { operations, lists, maps, hll, bitwise, exp, cdt } = Aerospike
  const context = new cdt.Context()
  // Makers that check their arguments accept one of these.
  const args = [
    ['b', [], [], [], []],
    ['b', 0],
    ['b', 0, 8, 1],
    ['b', 0, 8, Buffer.alloc(1)],
    ['b', 0, context],
    ['b', exp.int(1), 0, context],
  ]
  const makers = [operations, lists, maps, hll, bitwise, exp.operations].flatMap((kind) =>
    Object.values(kind as unknown as Record<string, AnyMake>),
  )
  return new Set(makers.flatMap((make) => args.flatMap((some) => opcodeOf(make, some))))
}

function opcodeOf(make: AnyMake, args: readonly unknown[]): readonly number[] {
  try {
    const { op } = make(...args)
    return typeof op === 'number' ? [op] : []
  } catch {
    return []
  }
}

export const DELETE_OPCODE = (Aerospike.operations.delete() as unknown as { readonly op: number }).op
