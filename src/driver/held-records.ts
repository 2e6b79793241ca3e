import { read, type ReadCommand } from '../plan/command.js'
import { recordId } from '../plan/record-key.js'
import type { Capabilities } from './capabilities.js'
import { CODE } from './status.js'
import type { Transactions } from './transactions.js'

export type AskedRecord = Pick<ReadCommand, 'entity' | 'key'>

/** Records asked for together. */
const BATCH = 256

/**
 * Of each record, whether a transaction that is not completed may hold it. A commit that has not reached a record is
 * completed by the server when the transaction times out; until then the record shows its former values, and may not even seem to be there. So this asks inside a
 * transaction, which is refused where another one holds a record. Where that cannot be told, the answer is yes.
 */
export async function areHeld(
  records: readonly AskedRecord[],
  transactions: Transactions,
  { namespaces }: Capabilities,
): Promise<boolean[]> {
  const byNamespace = new Map<string, Map<string, ReadCommand>>()
  for (const { entity, key } of records) {
    if (namespaces[key.namespace]?.transactions !== true) continue
    const own = byNamespace.get(key.namespace) ?? new Map<string, ReadCommand>()
    byNamespace.set(key.namespace, own.set(recordId(key), read(entity, key, 'none')))
  }
  const held = new Set<string>()
  for (const own of byNamespace.values()) {
    const commands = [...own.values()]
    for (let i = 0; i < commands.length; i += BATCH) {
      for (const { key } of await heldOf(commands.slice(i, i + BATCH), transactions)) held.add(recordId(key))
    }
  }
  return records.map(({ key }) => held.has(recordId(key)))
}

/** A commit that is refused because one of many records was changed meanwhile tells nothing about the others: each half is asked again. */
async function heldOf(commands: readonly ReadCommand[], transactions: Transactions): Promise<readonly ReadCommand[]> {
  const transaction = await transactions.begin()
  const codes = await transactions.readCodes(transaction, commands)
  // Another transaction refuses its verification, too.
  const { state } = await transactions.commit(transaction, { deadline: 0 })
  if (state === 'aborted' && commands.length > 1) {
    const middle = commands.length >> 1
    return [
      ...(await heldOf(commands.slice(0, middle), transactions)),
      ...(await heldOf(commands.slice(middle), transactions)),
    ]
  }
  if (state !== 'committed') return commands
  return commands.filter((_, i) => codes[i] !== CODE.OK && codes[i] !== CODE.NOT_FOUND)
}
