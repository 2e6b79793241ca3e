import type { CommandKind } from '../command/kind.js'

/** A request as the server saw it. */
export interface CommandEntry {
  readonly kind: CommandKind
  /** The node it was sent to: its place in `server.nodes`. */
  readonly node: number
  readonly namespace: string
  readonly set: string
  /** Rows of a batch, otherwise 1. */
  readonly rows: number
  readonly bytesIn: number
  readonly bytesOut: number
  /** The result code; of a batch or a query, that of the whole. */
  readonly code: number
}

export interface CommandCount {
  commands: number
  rows: number
  bytesIn: number
  bytesOut: number
}

export interface CommandSummary extends CommandCount {
  readonly byKind: Partial<Record<CommandKind, CommandCount>>
  /** The newest commands, oldest first; as many as the limit `commandLog` says. Info requests are only counted. */
  readonly log: readonly CommandEntry[]
}

/** Counts the commands since the last reset. Info requests are not part of the totals: clients send them by themselves. */
export class CommandLog {
  readonly #limit: number
  #byKind = new Map<CommandKind, CommandCount>()
  #entries: CommandEntry[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  add(entry: CommandEntry): void {
    let count = this.#byKind.get(entry.kind)
    if (count === undefined) this.#byKind.set(entry.kind, (count = emptyCount()))
    count.commands++
    count.rows += entry.rows
    count.bytesIn += entry.bytesIn
    count.bytesOut += entry.bytesOut
    if (entry.kind === 'info') return
    this.#entries.push(entry)
    if (this.#entries.length >= this.#limit * 2) this.#entries = this.#entries.slice(-this.#limit)
  }

  summary(): CommandSummary {
    const total = emptyCount()
    for (const [kind, count] of this.#byKind) {
      if (kind === 'info') continue
      total.commands += count.commands
      total.rows += count.rows
      total.bytesIn += count.bytesIn
      total.bytesOut += count.bytesOut
    }
    return { ...total, byKind: Object.fromEntries(this.#byKind), log: this.#entries.slice(-this.#limit) }
  }

  reset(): void {
    this.#byKind = new Map()
    this.#entries = []
  }
}

function emptyCount(): CommandCount {
  return { commands: 0, rows: 0, bytesIn: 0, bytesOut: 0 }
}
