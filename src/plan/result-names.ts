import { bug } from '../errors/index.js'
import type { Command } from './command.js'
import type { Operation } from './operation.js'
import { isWrite } from './after-doubt.js'

/**
 * The client gives back one result per name, the last one; in a batch a write hides an earlier read of its bin.
 * So a command whose results would hide one another is refused before it is sent.
 */
export function checkResultNames(command: Command): void {
  const operations = command.operations
  if (operations === undefined || operations.length < 2) return
  const wanted = new Set<string>()
  for (const operation of operations) if (!isRaw(operation) && hasResult(operation)) wanted.add(resultName(operation)!)
  if (wanted.size === 0) return
  const seen = new Set<string>()
  for (const operation of operations) {
    const name = resultName(operation)
    if (name === undefined || !wanted.has(name)) continue
    if (seen.has(name)) {
      throw bug(`two operations on '${name}' of ${command.entity} in one command, but only one result can come back`, {
        className: command.entity,
        bin: name,
        fix: 'Read it by an expression under a name of its own.',
      })
    }
    seen.add(name)
  }
}

/** Operations of the official client may hide each other's results, as they do there. */
const isRaw = ({ kind }: Operation): boolean => kind === 'rawRead' || kind === 'rawWrite'

export function hasResult(operation: Operation): boolean {
  return isRaw(operation) || !isWrite(operation) || ('returns' in operation && operation.returns !== 'none')
}

export function resultName(operation: Operation): string | undefined {
  if (operation.kind === 'readExpression') return operation.name
  return 'bin' in operation ? operation.bin : undefined
}
