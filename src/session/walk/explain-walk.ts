import { classNameOf, type Hop, type Reached } from './hop.js'
import { isChecked } from './walker.js'
import type { WalkExplanation } from './walk-types.js'

/** Says what a walk reads, hop by hop. */
export function explainWalk(start: Reached, hops: readonly Hop[]): WalkExplanation {
  const lines = hops.map((hop, i) => describe(hops[i - 1]?.to ?? start, hop))
  const last = hops.at(-1)?.to ?? start
  const batches = hops.filter(({ strategies }) => strategies.size > 0).length
  const links = hops.filter(({ relation }) => relation.through !== undefined).length
  const checks = hops.filter((hop) => hop.limit !== undefined && isChecked(hop)).length
  const roundTrips = batches + links + checks + (last.kind === 'records' ? 1 : 0)
  const end = last.kind === 'records' ? [`then one batch reads each ${classNameOf(last)}${filtered(hops.at(-1))}`] : []
  const text = [
    `walk from ${classNameOf(start)}`,
    ...lines,
    ...end,
    `${roundTrips} round trips, in chunks past the batch cap`,
  ]
  return { hops: lines, roundTrips, toString: () => text.join('\n  ') }
}

const CHECKED = ', which one more batch chooses where there are more'

const filtered = (hop: Hop | undefined): string =>
  hop?.filter === undefined ? '' : ' for which the conditions hold, which the server checks'

function describe(from: Reached, hop: Hop): string {
  const name = `${classNameOf(from)}.${hop.relation.name}`
  const notes = [
    how(hop),
    ...(hop.relation.through === undefined ? [] : ['one more batch the links, which are records']),
    ...(hop.where === undefined
      ? []
      : [`keeps links by their attributes, ${isByServer(hop) ? 'at the server' : 'here'}`]),
    ...(hop.linkFilter === undefined ? [] : ['keeps links by their values, at the server']),
    ...(hop.match === undefined ? [] : ['keeps children by their values, here']),
    ...(hop.filter === undefined ? [] : ['keeps records by their values, at the server']),
    ...(hop.first === undefined ? [] : [`the first ${hop.first} of each`]),
    ...(hop.last === undefined ? [] : [`the last ${hop.last} of each`]),
    ...(hop.limit === undefined ? [] : [`at most ${hop.limit} in all${isChecked(hop) ? CHECKED : ''}`]),
  ]
  return `${name}: ${notes.join(', ')}`
}

/** Links in companion records are read as a whole. */
const isByServer = ({ attributeFilter, strategies }: Hop): boolean =>
  attributeFilter !== undefined && [...strategies.values()].every(({ store }) => store?.isApart !== true)

function how({ strategies, to }: Hop): string {
  const [strategy] = strategies.values()
  if (strategy === undefined) return 'follows the keys in the children, nothing is read'
  if (to.kind === 'parts') return 'one batch reads the records with the children in them'
  if (strategy.members?.byPosition !== undefined) return 'one index query for each entity'
  return 'one batch reads the keys in the records'
}
