import type { FaultRule } from '../faults/fault.js'
import type { CommandSummary } from './command-log.js'

/** Requests of the thread that started a server. Everything here crosses threads, so it is plain data. */
export interface Control {
  addFault(rule: FaultRule): number
  removeFault(id: number): void
  clearFaults(): void
  faultHits(id: number): number
  commands(): CommandSummary
  resetCommands(): void
  advanceClock(seconds: number): void
  close(): Promise<void>
}

export interface ControlCall {
  readonly id: number
  readonly method: keyof Control
  readonly args: readonly unknown[]
}

export type ControlReply = { readonly ready: number } | NotStarted | { readonly id: number; readonly result: unknown }

/** Why the server does not listen: the system's message and code. */
export interface NotStarted {
  readonly failed: string
  readonly code?: string
  readonly port: number
}
