import { bug } from '../errors/index.js'
import {
  remove,
  write,
  type Command,
  type DeleteCommand,
  type Existence,
  type Guard,
  type Ttl,
  type WriteCommand,
} from './command.js'
import { coalesce } from './coalesce-operations.js'
import { recordId } from './record-key.js'

/** Merges all changes of one record into one command, in their order. */
export function mergeCommands(commands: readonly Command[]): Command[] {
  const merged = new Map<string, Command>()
  const reads: Command[] = []
  for (const command of commands) {
    if (command.kind === 'read') {
      reads.push(command)
      continue
    }
    const id = recordId(command.key)
    const earlier = merged.get(id)
    merged.set(id, earlier === undefined ? tidy(command) : mergeTwo(earlier as WriteCommand | DeleteCommand, command))
  }
  return [...reads, ...merged.values()]
}

function tidy(command: WriteCommand | DeleteCommand): WriteCommand | DeleteCommand {
  if (command.kind === 'delete' || command.bins !== undefined) return command
  const operations = coalesce(command.operations)
  return operations.length === command.operations.length ? command : { ...command, operations }
}

function mergeTwo(a: WriteCommand | DeleteCommand, b: WriteCommand | DeleteCommand): WriteCommand | DeleteCommand {
  if (a.kind === 'write' && b.kind === 'write') return mergeWrites(a, b)
  // A record that goes away in this stage needs no other change, only the conditions under which it may go.
  const gone = a.kind === 'delete' ? a : (b as DeleteCommand)
  return remove(gone.entity, gone.key, {
    operations:
      a.kind === b.kind ? [...(a as DeleteCommand).operations, ...(b as DeleteCommand).operations] : gone.operations,
    guards: mergeGuards(a.guards, b.guards),
    generation: mergeGenerations(a.generation, b.generation),
    durableDelete: gone.durableDelete,
  })
}

function mergeWrites(a: WriteCommand, b: WriteCommand): WriteCommand {
  return write(a.entity, a.key, coalesce([...a.operations, ...b.operations]), {
    exists: mergeExistence(a.exists, b.exists),
    guards: mergeGuards(a.guards, b.guards),
    ttl: mergeTtl(a, b),
    generation: mergeGenerations(a.generation, b.generation),
    sendKey: a.sendKey || b.sendKey,
    watchSize: a.watchSize || b.watchSize,
    watchGeneration: a.watchGeneration || b.watchGeneration,
  })
}

// A link to a record that the same command creates must not ask for it to exist already.
const STRONGEST_FIRST: readonly Existence[] = ['mustNotExist', 'replace', 'upsert', 'mustExist']

function mergeExistence(a: Existence, b: Existence): Existence {
  return STRONGEST_FIRST.find((one) => one === a || one === b)!
}

// A link-only write keeps the expiry, so any other TTL wins over 'keep'; a creation has no expiry to keep.
function mergeTtl(a: WriteCommand, b: WriteCommand): Ttl {
  if (a.exists !== b.exists && (a.exists === 'mustNotExist' || b.exists === 'mustNotExist')) {
    return a.exists === 'mustNotExist' ? a.ttl : b.ttl
  }
  return b.ttl === 'keep' ? a.ttl : b.ttl
}

function mergeGuards(a: readonly Guard[], b: readonly Guard[]): readonly Guard[] {
  return [...a, ...b.filter((guard) => !a.some((other) => sameGuard(guard, other)))]
}

function sameGuard(a: Guard, b: Guard): boolean {
  if (a === b) return true
  if (a.kind === 'filter' || b.kind === 'filter') return false
  return a.kind === b.kind && a.bin === b.bin && a.expected === b.expected
}

function mergeGenerations(a: number | undefined, b: number | undefined): number | undefined {
  if (a !== undefined && b !== undefined && a !== b) {
    throw bug(`one record cannot have generation ${a} and ${b} at once`)
  }
  return a ?? b
}
