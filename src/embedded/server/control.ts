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
  killNode(node: number): Promise<void>
  freezeNode(node: number): void
  slowNode(node: number, milliseconds: number): void
  restartNode(node: number): Promise<void>
  addNode(): Promise<NodeAddress>
  /** The id by which the partitions are released again. */
  holdPartitions(namespace: string | undefined, node: number | undefined): number
  releasePartitions(hold: number): void
  holdIndexes(percent: number): void
  releaseIndexes(): void
  /** Answers, which a server that is stuck does not. */
  ping(): void
  close(): Promise<void>
}

/** Address at which a node listens. */
export interface NodeAddress {
  readonly id: string
  readonly port: number
}

export interface ControlCall {
  readonly id: number
  readonly method: keyof Control
  readonly args: readonly unknown[]
}

export type ControlReply =
  | { readonly ready: readonly NodeAddress[] }
  | NotStarted
  | UnusableFile
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly refused: string }

/** Reason why the data file cannot be used. */
interface UnusableFile {
  readonly unusable: string
  readonly fix: string
}

/** Reason why the server does not listen: the system's message and code. */
export interface NotStarted {
  readonly failed: string
  readonly code?: string
  readonly port: number
}
