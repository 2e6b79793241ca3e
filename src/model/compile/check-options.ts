import { cut, shown } from '../../errors/index.js'
import type { MemberDecorator } from '../declaration.js'
import { didYouMean, oneOf } from './nearest.js'
import type { Place, Problems } from './problems.js'

/** Options of each decorator; those of relations are in the table of strategies. */
export const KNOWN_OPTIONS = {
  Record: [
    'set',
    'namespace',
    'archive',
    'name',
    'ttl',
    'sendKey',
    'durableDelete',
    'key',
    'tenant',
    'discriminator',
    'discriminatorValue',
  ],
  History: ['keep', 'ttl', 'set'],
  Embeddable: ['name', 'key', 'parent', 'layout'],
  Key: ['name', 'type', 'generate'],
  Bin: ['name', 'type', 'immutable'],
  Embedded: ['name', 'as', 'key', 'layout', 'prefix', 'order', 'unique', 'persistIndex'],
  Version: ['name'],
  CreatedAt: ['name'],
  UpdatedAt: ['name'],
  DeletedAt: ['name'],
  Counter: ['name', 'type'],
  CountOf: ['name', 'of'],
  Copy: ['name', 'refresh', 'of', 'from'],
  Generation: [],
  Ttl: [],
  Index: ['name', 'on'],
  Sharded: ['by', 'shards', 'on', 'every', 'ttl', 'when', 'set', 'subkeys'],
  Companion: ['set', 'subkeys'],
} as const satisfies { readonly [D in MemberDecorator | 'Record' | 'Embeddable' | 'History']?: readonly string[] }

/** Notes every unknown option; `owner` says whose options they are, for instance `@Bin` or `The strategy 'keyList'`. */
export function checkOptions(
  problems: Problems,
  options: object,
  known: readonly string[],
  place: Place,
  owner: string,
): void {
  for (const option of Object.keys(options)) {
    if (known.includes(option)) continue
    const fix = known.length === 0 ? 'Leave it out.' : `${didYouMean(option, known)}It takes ${oneOf(known)}.`
    problems.add('SKEIN_1048', place, `${owner} does not know the option '${option}'.`, fix)
  }
}

/** True when the value is one of those allowed (or not given); otherwise notes the problem. */
export function checkChoice(
  problems: Problems,
  option: string,
  value: unknown,
  allowed: readonly unknown[],
  place: Place,
): boolean {
  if (value === undefined || allowed.includes(value)) return true
  const names = allowed.map(String)
  const hint = typeof value === 'string' ? didYouMean(value, names) : ''
  problems.add(
    'SKEIN_1049',
    place,
    `${show(value)} is not a valid value for the option '${option}'.`,
    `${hint}Use ${oneOf(names)}.`,
  )
  return false
}

/** True for a list of names that is not empty. */
export function isNameList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string')
}

export function show(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`
  if (typeof value === 'function') return value.name === '' ? 'A function' : value.name
  if (typeof value !== 'object' || value === null) return String(value)
  try {
    return cut(JSON.stringify(value, (_, part: unknown) => (isTextless(part) ? shown(part) : part)))
  } catch {
    return shown(value)
  }
}

const isTextless = (part: unknown): boolean => typeof part === 'function' || typeof part === 'bigint'
