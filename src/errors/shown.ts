import { cut } from './cut.js'

/** Any value as a message shows it: short, never the whole of a large one, and also where it has no text of its own. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value)
  if (Array.isArray(value)) return `an array of ${value.length}`
  const name = (Object.getPrototypeOf(value) as { constructor?: { name?: string } } | null)?.constructor?.name
  return name === undefined || name === 'Object' ? 'an object' : `a ${name}`
}

/** A value given for a name, in quotes where it is text. */
export const quoted = (name: unknown): string => (typeof name === 'string' ? `'${cut(name)}'` : shown(name))
