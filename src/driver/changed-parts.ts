import { describeKey } from '../keys/index.js'
import type { Command } from '../plan/command.js'
import type { MapKey } from '../plan/value.js'

const MOST_NAMED = 3

interface Inside {
  readonly bin: string
  /** Of the entry of its map, where it is one. */
  readonly key?: MapKey
}

/** Where a command changes something inside of a bin, which has to be there. */
export function changesInside({ operations = [] }: Command): readonly Inside[] {
  // What is changed where it was moved to is the same part.
  const moved = new Set(operations.flatMap((operation) => (operation.kind === 'mapMove' ? [operation.to] : [])))
  return operations.flatMap((operation): Inside[] => {
    if (operation.kind === 'mapMove') return [{ bin: operation.bin, key: operation.from }]
    if (!('path' in operation) || operation.path === undefined || operation.path.length === 0) return []
    const [step] = operation.path
    if (step.in !== 'mapKey') return [{ bin: operation.bin }]
    return moved.has(step.key) ? [] : [{ bin: operation.bin, key: step.key }]
  })
}

/** The same in words. Which of them is not there, the server does not say. */
export function changedParts(command: Command): string {
  const all = changesInside(command).map(({ bin, key }) => (key === undefined ? bin : `${bin}[${describeKey(key)}]`))
  const parts = [...new Set(all)]
  if (parts.length === 0) return 'a part that was changed is'
  const more = parts.length > MOST_NAMED ? ` and ${parts.length - MOST_NAMED} more` : ''
  const named = `${parts.slice(0, MOST_NAMED).join(', ')}${more}`
  return parts.length === 1 ? `${named}, which was changed here, is` : `one of ${named}, which were changed here, is`
}
