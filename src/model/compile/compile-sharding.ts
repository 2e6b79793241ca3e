import { companionSet } from '../../keys/index.js'
import type { MemberNote } from '../declaration.js'
import type { ShardedOptions } from '../options.js'
import type { ShardingModel } from '../property-model.js'
import { MAX_SHARDS, type CompanionsModel } from '../relation-model.js'
import { SUBKEYS_BIN } from '../reserved-bins.js'
import { checkCompanionSet } from './check-names.js'
import type { ClassNotes } from './class-notes.js'
import { KNOWN_OPTIONS, checkOptions, show } from './check-options.js'
import { didYouMean } from './nearest.js'
import type { Place, Problems } from './problems.js'
import { typeOfProperty } from './value-type.js'

/** Ten years, which is the most that a server allows. */
const MAX_TTL = 3650 * 86_400
const OF_COUNTERS = ['by', 'shards', 'on']
/** Options that have no effect on the other kinds of shards. */
const OF_HASH = ['shards', 'when']
const OF_TIME = ['on', 'every', 'ttl']

/** Records that hold the members of a collection, where their owner's own does not. */
export function compileCompanions(
  { decorator, options }: MemberNote<'Sharded'> | MemberNote<'Companion'>,
  set: string,
  bin: string,
  isOfLinks: boolean,
  place: Place,
  problems: Problems,
): CompanionsModel {
  if (decorator === 'Companion') checkOptions(problems, options, KNOWN_OPTIONS.Companion, place, '@Companion')
  const companions = { set: options.set ?? companionSet(set, bin), subkeys: options.subkeys ?? SUBKEYS_BIN }
  checkCompanionSet(problems, companions.set, place)
  if (!('by' in options)) return companions
  if (options.by === 'hash') {
    const { shards, when } = options
    if (when !== undefined) checkWhen(when, place, problems)
    return { ...companions, shards, ...(when !== undefined && { when }) }
  }
  const { by, every = 1, on, ttl } = options
  // The place of a child begins with its date, so the model need not name it.
  const dates = isOfLinks && on !== undefined ? { on } : {}
  return { ...companions, buckets: { by, every, ...dates, ...(ttl !== undefined && { ttl }) } }
}

const THRESHOLDS = ['bytes', 'members', 'busyPerSecond']

function checkWhen(when: unknown, place: Place, problems: Problems): void {
  if (typeof when !== 'object' || when === null || Array.isArray(when)) {
    problems.add('SKEIN_1051', place, `when: ${show(when)} is not an object.`, 'Use when: { bytes: 131_072 }.')
    return
  }
  checkOptions(problems, when, THRESHOLDS, place, 'The option when of @Sharded')
  for (const [name, limit] of Object.entries(when)) {
    if (!THRESHOLDS.includes(name) || (Number.isInteger(limit) && (limit as number) >= 1)) continue
    problems.add(
      'SKEIN_1051',
      place,
      `when.${name}: ${show(limit)} is not a limit.`,
      'Give a whole number of at least 1.',
    )
  }
}

/** Members that are spread; dates of children, or among the attributes of links, choose buckets of time. */
export type Spread =
  | { readonly kind: 'counter' }
  | { readonly kind: 'children'; readonly dated: ClassNotes }
  | { readonly kind: 'links'; readonly dated: ClassNotes | undefined }

/** Compiles how a collection or counter is spread. */
export function compileSharding(
  options: ShardedOptions,
  spread: Spread,
  place: Place,
  problems: Problems,
): ShardingModel | undefined {
  const others: readonly string[] = options.by === 'hash' ? OF_TIME : OF_HASH
  const known = KNOWN_OPTIONS.Sharded.filter((option) => !others.includes(option))
  if (spread.kind !== 'counter') checkOptions(problems, options, known, place, `@Sharded by ${show(options.by)}`)
  else checkOptions(problems, options, OF_COUNTERS, place, '@Sharded on a counter or count')
  if (options.by === 'hash') {
    const { shards } = options
    if (Number.isInteger(shards) && shards >= 1 && shards <= MAX_SHARDS) return { by: 'hash', shards }
    const message = `shards: ${show(shards)} is not a number of shards.`
    problems.add('SKEIN_1051', place, message, `Give a whole number from 1 to ${MAX_SHARDS}.`)
    return undefined
  }
  if (options.by !== 'hour' && options.by !== 'day') {
    const { by } = options as { readonly by?: unknown }
    const message = by === undefined ? '@Sharded needs the option by.' : `It cannot be sharded by ${show(by)}.`
    problems.add('SKEIN_1051', place, message, "Use by: 'hash', 'hour' or 'day'.")
    return undefined
  }
  if (spread.kind === 'counter') {
    problems.add(
      'SKEIN_1051',
      place,
      `A number has no dates to be sharded by ${options.by}.`,
      "Use @Sharded({ by: 'hash', shards: 8 }).",
    )
    return undefined
  }
  if (!checkDate(options.on, spread, place, problems)) return undefined
  const { by, on, every, ttl } = options
  const most = by === 'hour' ? 24 : 366
  if (every !== undefined && !(Number.isInteger(every) && every >= 1 && every <= most)) {
    const message = `every: ${show(every)} is not a number of ${by}s.`
    problems.add('SKEIN_1051', place, message, `Give a whole number from 1 to ${most}.`)
    return undefined
  }
  if (ttl !== undefined && !(Number.isInteger(ttl) && ttl >= 1 && ttl <= MAX_TTL)) {
    const fix = `Give seconds as a whole number from 1 to ${MAX_TTL}.`
    problems.add('SKEIN_1051', place, `ttl: ${show(ttl)} is not a time to live.`, fix)
    return undefined
  }
  return {
    by,
    ...(on !== undefined && { on }),
    ...(every !== undefined && { every }),
    ...(ttl !== undefined && { ttl }),
  }
}

function checkDate(
  on: string | undefined,
  { kind, dated }: Exclude<Spread, { kind: 'counter' }>,
  place: Place,
  problems: Problems,
): boolean {
  if (kind === 'links' && on === undefined) return true
  if (dated === undefined) {
    const message = `on: ${show(on)}: its links carry nothing, so they have no date.`
    const fix =
      'Leave out on, and links are kept by the time at which they are made; or give them attributes with a date, in a @ManyToMany; or put an @Index on a date of their members and query these.'
    problems.add('SKEIN_1051', place, message, fix)
    return false
  }
  if (on !== undefined && typeOfProperty(dated, on)?.kind === 'date') return true
  const dates = [...dated.members.keys()].filter((name) => typeOfProperty(dated, name)?.kind === 'date')
  const message = `on: ${show(on)} is not a date property of ${dated.name}.`
  problems.add('SKEIN_1051', place, message, `${didYouMean(String(on), dates)}Name a @Bin of type date.`)
  return false
}
