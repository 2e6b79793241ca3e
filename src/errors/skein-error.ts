import type { ErrorCode } from './codes/all-codes.js'
import { cut } from './cut.js'
import { isOfKind, nameErrorClass } from './error-kind.js'

/** Subject of an error. Every field is optional; `fix` says what to do and becomes the end of the message. */
export interface ErrorDetails {
  readonly className?: string
  readonly property?: string
  readonly key?: string | number | bigint | Uint8Array
  readonly namespace?: string
  readonly set?: string
  readonly bin?: string
  readonly fix?: string
}

export interface ErrorOptions extends ErrorDetails {
  /** The error that led to this one, for instance the client's. */
  readonly cause?: unknown
}

const LONGEST_MESSAGE = 20_000

/**
 * Every error Skein throws. Branch on `code`, or catch one of its subclasses.
 *
 * @example
 * try { await session.load(Agent, 17) } catch (error) { if (error instanceof SkeinError) console.log(error.code) }
 */
export class SkeinError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    const { cause, ...details } = options
    // A last bound: what is echoed is cut where it is put in.
    const text = cut(message, LONGEST_MESSAGE)
    // After a list of lines it is a line of its own, not the end of the last one.
    const gap = text.includes('\n') ? '\n' : ' '
    super(
      details.fix === undefined ? text : `${text}${gap}${cut(details.fix, LONGEST_MESSAGE)}`,
      cause === undefined ? undefined : { cause },
    )
    this.code = code
    this.details = Object.freeze(details)
  }

  /** For logs: without the stack, and with bigints and bytes as text, which JSON has no form for. */
  toJSON(): Record<string, unknown> {
    const { name, message } = this
    const fields = jsonFields(this)
    const cause = this.cause instanceof Error ? { cause: { name: this.cause.name, message: this.cause.message } } : {}
    return { name, message, ...fields, ...cause }
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return isOfKind(value, this)
  }
}
nameErrorClass(SkeinError, 'SkeinError')

function jsonFields(value: object): Record<string, unknown> {
  const entries = Object.entries(value).filter(([name]) => name !== 'cause' && name !== 'stack')
  return Object.fromEntries(entries.map(([name, field]) => [name, jsonValue(field)]))
}

function jsonValue(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString('hex')}`
  if (Array.isArray(value)) return value.map(jsonValue)
  if (value instanceof Error || value instanceof Date) return value
  return typeof value === 'object' && value !== null ? jsonFields(value) : value
}

/** A state that should be impossible: always a bug in Skein, never the caller's fault. */
export function bug(message: string, options: ErrorOptions = {}): SkeinError {
  return new SkeinError('SKEIN_5001', `Bug in Skein: ${message}`, {
    fix: 'Please report it with this stack.',
    ...options,
  })
}
