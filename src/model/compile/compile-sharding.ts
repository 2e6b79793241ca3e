import { companionSet } from '../../keys/index.js'
import type { MemberNote } from '../declaration.js'
import type { ShardedOptions } from '../options.js'
import type { ShardingModel } from '../property-model.js'
import type { CompanionsModel } from '../relation-model.js'
import { SUBKEYS_BIN } from '../reserved-bins.js'
import { checkCompanionSet } from './check-names.js'
import type { ClassNotes } from './class-notes.js'
import { KNOWN_OPTIONS, checkOptions, show } from './check-options.js'
import { didYouMean } from './nearest.js'
import type { Place, Problems } from './problems.js'
import { typeOfProperty } from './value-type.js'

const MAX_SHARDS = 4096
const OF_COUNTERS = ['by', 'shards', 'on']

/** Which records hold the members of a collection, where not their owner's own. */
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
  return 'shards' in options ? { ...companions, shards: options.shards } : companions
}

/** How a collection or counter is spread; `member` is the class of a collection's members, which time slices look at. */
export function compileSharding(
  options: ShardedOptions,
  member: ClassNotes | undefined,
  place: Place,
  problems: Problems,
): ShardingModel | undefined {
  if (member) checkOptions(problems, options, KNOWN_OPTIONS.Sharded, place, '@Sharded')
  else checkOptions(problems, options, OF_COUNTERS, place, '@Sharded on a counter')
  if (options.by === 'hash') {
    const { shards } = options
    if (Number.isInteger(shards) && shards >= 1 && shards <= MAX_SHARDS) return { by: 'hash', shards }
    const message = `shards: ${show(shards)} is no number of shards.`
    problems.add('SKEIN_1051', place, message, `Give a whole number from 1 to ${MAX_SHARDS}.`)
    return undefined
  }
  if (options.by !== 'hour' && options.by !== 'day') {
    problems.add(
      'SKEIN_1051',
      place,
      `It cannot be sharded by ${show((options as { by: unknown }).by)}.`,
      "Use by: 'hash', 'hour' or 'day'.",
    )
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
    const message = `on: ${show(options.on)} is no date property of ${member.name}.`
    problems.add('SKEIN_1051', place, message, `${didYouMean(String(options.on), dates)}Name a @Bin of type date.`)
    return undefined
  }
  return { by: options.by, on: options.on }
}
