import { SkeinError } from '../errors/index.js'

/** The names of an object type; the compiler sees to it that none is missing and none is too many. */
export type NamesOf<T> = Readonly<Record<keyof T, true>>

/** Rejects unknown options. `owner` takes them, for instance `startEmbedded()`. */
export function checkNames(owner: string, given: unknown, known: NamesOf<object>): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw notValid(`${owner} takes an object of options, not ${String(given)}.`, 'Give an object, or leave it out.')
  const names = Object.keys(known)
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw notValid(`${owner} does not know the option '${unknown}'.`, `It takes: ${names.join(', ')}.`)
}

export function checkWhole(what: string, given: unknown, least: number, most = Infinity): void {
  if (given === Infinity && most === Infinity) return
  if (Number.isSafeInteger(given) && (given as number) >= least && (given as number) <= most) return
  const range = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`
  throw notValid(`${what} cannot be ${String(given)}.`, `Use a whole number ${range}.`)
}

/** Timers of more milliseconds fire at once. */
const LONGEST = 2 ** 31 - 1

export function checkDuration(what: string, given: unknown, instead = ''): void {
  if (typeof given === 'number' && given >= 0 && given <= LONGEST) return
  throw notValid(`${what} cannot be ${String(given)}.`, `Use a number from 0 to ${LONGEST}.${instead}`)
}

export function checkFlag(what: string, given: unknown): void {
  if (typeof given === 'boolean') return
  throw notValid(`${what} cannot be ${String(given)}.`, 'Use true or false.')
}

export function notValid(message: string, fix: string): SkeinError {
  return new SkeinError('SKEIN_2320', message, { fix })
}
