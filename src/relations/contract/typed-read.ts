import { SkeinError } from '../../errors/index.js'
import { read, type ReadCommand } from '../../plan/command.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { Reader } from './reader.js'

/** A bin that a question is about, and what it must hold to be asked. */
export interface AskedBin {
  readonly bin: string
  readonly holds: 'list' | 'map'
}

/**
 * Answers a question about the bins of one relation. Questions about several relations of a record are one command: where the server
 * refuses it because of the type of a bin, the bins are read to find out whose it is.
 */
export async function readTyped(
  command: ReadCommand,
  asked: readonly AskedBin[],
  wrong: (cause: SkeinError) => SkeinError,
  reader: Pick<Reader, 'read'>,
): Promise<StoredRecord | null> {
  const ask = async (): Promise<StoredRecord | null> => (await reader.read([command]))[0]
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof SkeinError) || error.code !== 'SKEIN_4210') throw error
    const bins = asked.map(({ bin }) => bin)
    const [record] = await reader.read([read(command.entity, command.key, bins)])
    if (asked.some(({ bin, holds }) => !isOfKind(holds, record?.bins[bin]))) throw wrong(error)
    return ask()
  }
}

/** True for a value of that kind, and where there is none. */
export function isOfKind(holds: AskedBin['holds'], stored: unknown): boolean {
  if (stored === undefined || stored === null) return true
  if (holds === 'list' || Array.isArray(stored)) return holds === 'list' && Array.isArray(stored)
  return stored instanceof Map || Object.getPrototypeOf(stored) === Object.prototype
}
