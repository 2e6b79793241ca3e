import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { CommandEvent, TransactionEvent } from 'skein'
import { NODES, type TestServer } from './server.js'

/**
 * Lists a word for each request of a piece of work, `batch×20` for a batch of 20: as the embedded server saw them; elsewhere as the driver
 * tells of them, which of a transaction tells only its end.
 */
export async function commandWords({ embedded }: TestServer, work: () => Promise<unknown>): Promise<string[]> {
  if (embedded === undefined || NODES > 1) return wordsOfEvents(work)
  const { log } = await embedded.commands.during(work)
  return log.map(({ kind, rows }) => word(kind, rows))
}

const word = (kind: string, rows: number): string => (rows > 1 ? `${kind}×${rows}` : kind)

async function wordsOfEvents(work: () => Promise<unknown>): Promise<string[]> {
  // Parts of one batch that go to several nodes are one round trip.
  const roundTrips: { kind: string; rows: number }[] = []
  const known = new Map<number, { kind: string; rows: number }>()
  const onCommand = (event: unknown): void => {
    const { kind, roundTrip } = event as CommandEvent
    const begun = known.get(roundTrip)
    if (begun !== undefined) return void Object.assign(begun, { kind: 'batch', rows: begun.rows + 1 })
    const first = { kind, rows: 1 }
    known.set(roundTrip, first)
    roundTrips.push(first)
  }
  const onTransaction = (event: unknown): void => {
    const isCommitted = (event as TransactionEvent).state === 'committed'
    roundTrips.push({ kind: isCommitted ? 'txn-commit' : 'txn-roll-back', rows: 1 })
  }
  subscribe('skein:command', onCommand)
  subscribe('skein:transaction', onTransaction)
  try {
    await work()
  } finally {
    unsubscribe('skein:command', onCommand)
    unsubscribe('skein:transaction', onTransaction)
  }
  return roundTrips.map(({ kind, rows }) => word(kind, rows))
}
