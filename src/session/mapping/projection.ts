import type { Loaded } from '../../codec/index.js'
import { DELETING_BIN } from '../../model/index.js'
import type { MappedClass } from './mapped-class.js'
import { unknownProperty } from '../context/session-errors.js'

/** Which properties of an entity are wanted, and which bins hold them. */
export interface Projection {
  /** Undefined: all. */
  readonly loaded: Loaded
  readonly bins: 'all' | readonly string[]
}

/** These properties, and what every entity needs: its key and its version; and the bins of the relations that are loaded along. */
export function projectionOf(mapped: MappedClass, only?: readonly string[], along: readonly string[] = []): Projection {
  if (only === undefined && along.length === 0) return mapped.ordinary
  const extra = mapped.relations.filter(({ relation }) => along.includes(relation)).flatMap(({ bins }) => bins)
  if (only === undefined) {
    const { bins } = mapped.ordinary
    return { loaded: undefined, bins: bins === 'all' || extra.length === 0 ? bins : [...bins, ...extra] }
  }
  const { key, version, properties, relations } = mapped.model
  for (const name of only) {
    if (![...properties, ...relations].some((each) => each.name === name)) throw unknownProperty(mapped, name)
  }
  const loaded = new Set([...key.properties, ...(version === undefined ? [] : [version]), ...only, ...along])
  const bins = [...mapped.codec.binsOf(only), ...extra]
  // A record that is being deleted loads as gone, also in part.
  return { loaded, bins: mapped.standsAlone ? bins : [...bins, DELETING_BIN] }
}

/** Merges two projections. */
export function bothOf(one: Projection, other: Projection): Projection {
  const isPart = one.loaded !== undefined && other.loaded !== undefined
  const isListed = one.bins !== 'all' && other.bins !== 'all'
  return {
    loaded: isPart ? new Set([...one.loaded, ...other.loaded]) : undefined,
    bins: isListed ? [...new Set([...one.bins, ...other.bins])] : 'all',
  }
}

export function covers(have: Loaded, want: Loaded): boolean {
  if (have === undefined) return true
  return want !== undefined && [...want].every((name) => have.has(name))
}

/** What is wanted and not there yet; undefined when that is not a part but everything. */
export function missingOf(have: ReadonlySet<string>, mapped: MappedClass, want: Loaded): ReadonlySet<string> {
  const { properties, relations } = mapped.model
  const names = want ?? [...properties, ...relations].map(({ name }) => name)
  return new Set([...names].filter((name) => !have.has(name)))
}
