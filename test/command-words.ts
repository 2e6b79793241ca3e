import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { CommandEvent, TransactionEvent } from 'skein'
import type { TestServer } from './server.js'

/**
 * Lists a word for each request of a piece of work, `batch×20` for a batch of 20: as the embedded server saw them; elsewhere as the driver
 * tells of them, which of a transaction tells only its end.
 */
export async function commandWords({ embedded }: TestServer, work: () => Promise<unknown>): Promise<string[]> {
  if (embedded === undefined) return wordsOfEvents(work)
  const { log } = await embedded.commands.during(work)
  return log.map(({ kind, rows }) => word(kind, rows))
}

const word = (kind: string, rows: number): string => (rows > 1 ? `${kind}×${rows}` : kind)

async function wordsOfEvents(work: () => Promise<unknown>): Promise<string[]> {
  const words: string[] = []
  const batches = new Set<number>()
  const onCommand = (event: unknown): void => {
    const { kind, rows, roundTrip } = event as CommandEvent
    if (rows > 1 && batches.has(roundTrip)) return
    if (rows > 1) batches.add(roundTrip)
    words.push(word(rows > 1 ? 'batch' : kind, rows))
  }
  const onTransaction = (event: unknown): void => {
    words.push((event as TransactionEvent).state === 'committed' ? 'txn-commit' : 'txn-roll-back')
  }
  subscribe('skein:command', onCommand)
  subscribe('skein:transaction', onTransaction)
  try {
    await work()
  } finally {
    unsubscribe('skein:command', onCommand)
    unsubscribe('skein:transaction', onTransaction)
  }
  return words
}
