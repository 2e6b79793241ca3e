import { subscribe, unsubscribe } from 'node:diagnostics_channel'

/** Traffic of one piece of work. */
export interface Traffic {
  /** Records read, written or deleted, and questions to an index. */
  readonly commands: number
  /** Number of times that the client waited for the server: commands that share a batch share a round trip. */
  readonly roundTrips: number
  /** Approximate number of bytes that were sent. */
  readonly bytes: number
}

interface CommandEvent {
  readonly roundTrip: number
  readonly bytes: number
}

/** Skein publishes every command on a diagnostics channel: this listens to it while the work runs. */
export async function trafficOf(work: () => Promise<unknown>): Promise<Traffic> {
  let commands = 0
  let bytes = 0
  const roundTrips = new Set<number>()
  const listen = (event: unknown): void => {
    commands++
    roundTrips.add((event as CommandEvent).roundTrip)
    bytes += (event as CommandEvent).bytes
  }
  subscribe('skein:command', listen)
  try {
    await work()
  } finally {
    unsubscribe('skein:command', listen)
  }
  return { commands, roundTrips: roundTrips.size, bytes }
}

export function show({ commands, roundTrips }: Traffic): string {
  return `${plural(commands, 'command')} in ${plural(roundTrips, 'round trip')}`
}

/** Traffic with the bytes that were sent. */
export function showBytes(traffic: Traffic): string {
  return `${plural(traffic.commands, 'command')}, about ${traffic.bytes.toLocaleString('en')} bytes sent`
}

function plural(count: number, thing: string): string {
  return `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : 's'}`
}
