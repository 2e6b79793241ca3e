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
  const { by, every = 1, ttl } = options
  return { ...companions, buckets: { by, every, ...(ttl !== undefined && { ttl }) } }
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

/** Compiles how a collection or counter is spread; `member` is the class of a collection's members, which time slices look at. */
export function compileSharding(
  options: ShardedOptions,
  member: ClassNotes | undefined,
  place: Place,
  problems: Problems,
): ShardingModel | undefined {
  const others: readonly string[] = options.by === 'hash' ? OF_TIME : OF_HASH
  const known = KNOWN_OPTIONS.Sharded.filter((option) => !others.includes(option))
  if (member) checkOptions(problems, options, known, place, `@Sharded by ${show(options.by)}`)
  else checkOptions(problems, options, OF_COUNTERS, place, '@Sharded on a counter')
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
  if (!member) {
    problems.add(
      'SKEIN_1051',
      place,
      `A counter has no dates to be sharded by ${options.by}.`,
      "Use @Sharded({ by: 'hash', shards: 8 }).",
    )
    return undefined
  }
  if (typeOfProperty(member, options.on)?.kind !== 'date') {
    const dates = [...member.members.keys()].filter((name) => typeOfProperty(member, name)?.kind === 'date')
    const message = `on: ${show(options.on)} is not a date property of ${member.name}.`
    problems.add('SKEIN_1051', place, message, `${didYouMean(String(options.on), dates)}Name a @Bin of type date.`)
    return undefined
  }
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
  return { by, on, ...(every !== undefined && { every }), ...(ttl !== undefined && { ttl }) }
}
