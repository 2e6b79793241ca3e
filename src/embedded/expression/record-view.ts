import type { Value } from '../value/value.js'

/** View of a record for expressions. */
export interface RecordView {
  readonly setName: string
  readonly digest: Buffer
  /** The stored user key, if one was sent. */
  readonly userKey: Value | undefined
  /** Milliseconds since the Unix epoch. */
  readonly lastUpdate: number
  /** Seconds since 2010, 0 = never expires. */
  readonly voidTime: number
  /** Bytes the record takes. */
  readonly size: number
  /** The value of a bin, or undefined where there is none. */
  bin(name: string): Value | undefined
}
