import type { ReadCommand } from './command.js'
import type { ReadOperation } from './operation.js'
import { recordId } from './record-key.js'
import { resultName } from './effects.js'

/** Reads merged per record, and the position of each original read's answer. */
interface MergedReads {
  readonly commands: readonly ReadCommand[]
  /** Index of the merged command that answers each given read; the answer may hold more than was asked for. */
  readonly answeredBy: readonly number[]
}

/** Merges reads of the same record into one command, where one command can answer them all. */
export function mergeReads(reads: readonly ReadCommand[]): MergedReads {
  const commands: ReadCommand[] = []
  const byRecord = new Map<string, number[]>()
  const answeredBy = reads.map((command) => {
    const id = recordId(command.key)
    const others = byRecord.get(id) ?? []
    byRecord.set(id, others)
    for (const at of others) {
      const both = merge(commands[at], command)
      if (both === undefined) continue
      commands[at] = both
      return at
    }
    return others[others.push(commands.push(command) - 1) - 1]
  })
  return { commands, answeredBy }
}

function merge(a: ReadCommand, b: ReadCommand): ReadCommand | undefined {
  if (a.filter !== b.filter) return undefined
  if (a.operations === undefined && b.operations === undefined) return { ...a, bins: allBins(a.bins, b.bins) }
  if (a.operations === undefined || b.operations === undefined) return undefined
  const bins = new Set(a.operations.map(binRead))
  const more = b.operations.filter((operation) => !bins.has(binRead(operation) ?? ''))
  const names = new Set(a.operations.map(resultName))
  // Only one result of a name can come back.
  if (more.some((operation) => names.has(resultName(operation)))) return undefined
  return { ...a, operations: [...a.operations, ...more] }
}

/** The bin that is read as it is. */
const binRead = (operation: ReadOperation): string | undefined =>
  operation.kind === 'readBin' ? operation.bin : undefined

function allBins(a: ReadCommand['bins'], b: ReadCommand['bins']): ReadCommand['bins'] {
  if (a === 'all' || b === 'none') return a
  if (b === 'all' || a === 'none') return b
  return [...new Set([...a, ...b])]
}
