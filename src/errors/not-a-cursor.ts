import { cut } from './cut.js'
import { SkeinError, type ErrorDetails } from './skein-error.js'

/** The error for what no page has given as its cursor; `of` names the query that it does not belong to. */
export function notACursor(given: unknown, fix: string, of?: string, details: ErrorDetails = {}): SkeinError {
  const what = of === undefined ? 'not a valid cursor' : `not a cursor of ${of}`
  return new SkeinError('SKEIN_2501', `${shown(given)} is ${what}.`, { ...details, fix })
}

function shown(given: unknown): string {
  if (typeof given === 'string') return `'${cut(given)}'`
  if (typeof given === 'function') return 'A function'
  if (typeof given !== 'object' || given === null) return String(given)
  return Array.isArray(given) ? 'A list' : 'An object'
}
