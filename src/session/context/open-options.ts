import type { DriverOptions } from '../../driver/options.js'
import type { EmbeddedOptions } from '../../embedded/index.js'
import { SkeinError } from '../../errors/index.js'
import type { EntityClass } from '../../model/index.js'

/**
 * Use of one transaction for records that change together: `auto` where the server can, `required` refuses what it cannot
 * carry before anything is sent, `off` never.
 */
export type TransactionMode = (typeof TRANSACTION_MODES)[number]
export const TRANSACTION_MODES = ['auto', 'required', 'off'] as const

/** Options of `open`. Whatever else the official client takes can be given too and is passed on to it. */
export interface OpenOptions extends Omit<DriverOptions, 'namespaces' | 'byteKeyed'> {
  /** Start the embedded server and connect to it: for development and tests. */
  readonly embedded?: boolean | EmbeddedOptions
  /** The namespace of classes that name none. */
  readonly namespace: string
  /** The classes to map, with all those that their relations lead to. */
  readonly entities: readonly EntityClass[]
  /** Use of transactions for records that change together. Default `'auto'`. */
  readonly transactions?: TransactionMode
  /** `false`: class-validator's rules are not checked before a flush. */
  readonly validate?: boolean
  /** Names whoever makes the changes of the moment, for `@History`: `() => requests.getStore()?.user`. Called by every flush that changes a record with a history. */
  readonly actor?: () => string | undefined
  /** Lets errors of a session show where it was called, for some microseconds a call. Unless given, where `NODE_ENV` is not `production`. */
  readonly stacks?: boolean
}

/** The target is given exactly once. */
export function checkTarget({ hosts, embedded }: OpenOptions): void {
  const isEmbedded = embedded !== undefined && embedded !== false
  if (isEmbedded === (hosts === undefined)) return
  throw new SkeinError(
    'SKEIN_2302',
    isEmbedded ? 'open() was given both hosts and embedded.' : 'open() was given neither hosts nor embedded.',
    { fix: "Give hosts: 'localhost:3000' for a cluster, or embedded: true for development and tests." },
  )
}
