import { RecordTooLargeError } from '../errors/index.js'
import { commandBytes, operationBytes } from '../plan/wire-bytes.js'
import { read, type DeleteCommand, type WriteCommand } from '../plan/command.js'
import { recordSize } from '../plan/expression.js'
import { readExpression } from '../plan/operations.js'
import { showKey } from '../plan/record-key.js'
import type { Events } from './events.js'
import type { Outcome } from './outcome.js'
import type { Reader } from './reader.js'

/**
 * Warns when the record that a command grew is past the limit. Asks for the record's size first, because the known one is only the most it
 * can be; inside a transaction, where others cannot see the record yet, that has to do.
 */
export async function warnAboutSize(
  outcome: Outcome & { readonly size: number },
  limit: number,
  events: Events,
  reader: Reader | undefined,
): Promise<Outcome> {
  const { command, size: most } = outcome
  const size = (reader && (await storedSize(command, reader))) ?? most
  if (size > limit) events.recordSize(command, size, limit, growingBin(command))
  return { ...outcome, size }
}

/** The bin that the command adds most to; a collection counts before a plain bin, because it will grow again. */
function growingBin(command: WriteCommand | DeleteCommand): string | undefined {
  let largest: { bin: string; weight: number } | undefined
  for (const operation of command.operations) {
    if (!('bin' in operation)) continue
    const isCollection = operation.kind.startsWith('list') || operation.kind.startsWith('map')
    const weight = operationBytes(operation) + (isCollection ? 2 ** 30 : 0)
    if (largest === undefined || weight > largest.weight) largest = { bin: operation.bin, weight }
  }
  return largest?.bin
}

/** The refusal of a record that is too large, with the sizes that explain it. */
export async function addSizes(outcome: Outcome, limit: number, reader: Reader): Promise<Outcome> {
  const { command, error } = outcome
  const adds = commandBytes(command)
  const stored = await storedSize(command, reader)
  const before = stored === undefined ? '' : `${stored} bytes are stored, `
  return {
    ...outcome,
    error: new RecordTooLargeError(
      `${command.entity} ${showKey(command.key)} would become larger than the ${limit} bytes the server allows: ${before}this write brings about ${adds}.`,
      {
        ...error?.details,
        cause: error?.cause,
        size: (stored ?? 0) + adds,
        limit,
        bin: growingBin(command),
      },
    ),
  }
}

async function storedSize(command: WriteCommand | DeleteCommand, reader: Reader): Promise<number | undefined> {
  const size = read(command.entity, command.key, 'none', [readExpression('size', recordSize())])
  const found = await reader.readOnce(size).catch(() => null)
  return found === null ? undefined : (found.bins.size as number | undefined)
}
