import { subscribe, unsubscribe } from 'node:diagnostics_channel'

/** Events that the channel publishes during the work. */
export async function heardEvents<T>(channel: string, work: () => Promise<unknown>): Promise<T[]> {
  const events: T[] = []
  const listen = (event: unknown): void => void events.push(event as T)
  subscribe(channel, listen)
  try {
    await work()
  } finally {
    unsubscribe(channel, listen)
  }
  return events
}
