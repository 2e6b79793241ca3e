import { cut, SkeinError } from '../errors/index.js'
import { didYouMean, oneOf } from './index.js'

/** The names of an object type; the compiler sees to it that none is missing and none is too many. */
export type NamesOf<T> = Readonly<Record<keyof T, true>>

/** Rejects unknown options, which would have no effect. `owner` takes them, for instance `open()`. */
export function checkNames(owner: string, given: unknown, known: NamesOf<object>): void {
  if (given === undefined) return
  if (!isOptions(given)) {
    throw notValid(`${owner} takes an object of options, not ${shown(given)}.`, 'Give an object, or leave it out.')
  }
  const names = Object.keys(known)
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown === undefined) return checkTools(given)
  throw notValid(
    `${owner} does not know the option '${cut(unknown)}'.`,
    didYouMean(unknown, names).trim() || `It takes: ${names.join(', ')}.`,
  )
}

/** False for what has no names, or values under them that nobody meant as options: a list or a Date, for instance. */
export function isOptions(given: unknown): given is object {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false
  return !NO_OPTIONS.some((kind) => given instanceof kind)
}

const NO_OPTIONS = [Date, Map, Set, RegExp, Promise, Number, String, Boolean]

/** Checks signal and listener: an invalid one would fail in the middle of the work. */
function checkTools({ signal, onProgress }: { readonly signal?: unknown; readonly onProgress?: unknown }): void {
  if (signal !== undefined && signal !== null && !isSignal(signal))
    throw notValid(
      `${shown(signal)} is not a valid value for the option signal.`,
      'Give the signal of an AbortController.',
    )
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw notValid(`${shown(onProgress)} is not a valid value for the option onProgress.`, 'Give a function.')
}

function isSignal(given: unknown): boolean {
  const { aborted, addEventListener } = given as Partial<AbortSignal>
  return typeof aborted === 'boolean' && typeof addEventListener === 'function'
}

export function checkChoice(name: string, given: unknown, allowed: readonly string[]): void {
  if (given === undefined || (typeof given === 'string' && allowed.includes(given))) return
  const hint = typeof given === 'string' ? didYouMean(given, allowed) : ''
  throw notValid(`${shown(given)} is not a valid value for the option ${name}.`, `${hint}Use ${oneOf(allowed)}.`)
}

/** A bound of nothing, or one that is not a number, would let work wait for ever. Infinity says explicitly that there is no bound. */
export function checkBound(name: string, given: unknown): void {
  if (given !== Infinity) checkCount(name, given)
}

export function checkCount(name: string, given: unknown): void {
  checkWhole(name, given, 1, Number.MAX_SAFE_INTEGER)
}

/** Largest number that the native client takes. */
const MOST = 2 ** 31 - 1

export function checkWhole(name: string, given: unknown, least = 0, most = MOST): void {
  if (given === undefined) return
  const isFitting = Number.isSafeInteger(given) && (given as number) >= least && (given as number) <= most
  if (isFitting) return
  const range = most < MOST || (given as number) > most ? `between ${least} and ${most}` : `of at least ${least}`
  throw notValid(
    `${shown(given)} is not a valid value for the option ${name}.`,
    `Give a whole number ${range}, or leave it out.`,
  )
}

export function checkFlag(name: string, given: unknown): void {
  if (given === undefined || typeof given === 'boolean') return
  throw notValid(`${shown(given)} is not a valid value for the option ${name}.`, 'Give true or false, or leave it out.')
}

/** A single text would be taken apart into its letters. */
export function checkTexts(name: string, given: unknown): void {
  if (given === undefined) return
  const others = Array.isArray(given) ? [...(given as unknown[])].filter((each) => typeof each !== 'string') : [given]
  if (others.length === 0) return
  const fix = typeof given === 'string' ? `Write ['${cut(given)}'].` : 'Give a list of strings, or leave it out.'
  throw notValid(
    `The option ${name} takes a list of names, and ${shown(others[0])} is not ${Array.isArray(given) ? 'a name' : 'a list'}.`,
    fix,
  )
}

export function notValid(message: string, fix: string): SkeinError {
  return new SkeinError('SKEIN_2320', message, { fix })
}

export function shown(value: unknown): string {
  if (typeof value === 'string') return `'${cut(value)}'`
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  return typeof value === 'function' ? 'a function' : String(value)
}
