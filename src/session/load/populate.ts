import type { Tracked } from '../../relations/contract/tracked.js'
import type { Reader } from '../../relations/contract/reader.js'
import { byFirstStep } from '../../relations/read/split-paths.js'
import type { LoadedLevel, RelationStrategy } from '../../relations/contract/relation-strategy.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'

/** Relations that one load has been through already: eager ones may come back to where they began. */
type Visited = Map<Tracked, Set<string>>

/**
 * Loads the relations named by the paths, and those that are always loaded along, level by level: all of one level in one tick, and
 * so in one batch read.
 */
export async function populate(
  level: readonly Tracked[],
  paths: readonly string[],
  classes: MappedClasses,
  reader: Reader,
  visited: Visited = new Map(),
): Promise<void> {
  if (level.length === 0 || (paths.length === 0 && !classes.hasEager)) return
  const named = byFirstStep(paths)
  const loads = byClass(level).flatMap(([name, members]) => {
    const mapped = classes.of(name)
    return relationsOf(mapped, named).map(async (strategy): Promise<readonly LoadedLevel[]> => {
      const { relation } = strategy
      const rest = named.get(relation) ?? []
      const isNamed = named.has(relation)
      const fresh = members.filter((member) => visit(visited, member, relation) || isNamed)
      if (fresh.length === 0) return []
      const next = await strategy.load(fresh, reader, rest)
      return strategy.loadInside?.(fresh, reader, rest) ?? [{ next, rest }]
    })
  })
  const branches = (await Promise.all(loads)).flat()
  await Promise.all(branches.map(({ next, rest }) => populate([...new Set(next)], rest, classes, reader, visited)))
}

/** Relations that the paths name, and eager ones. */
function relationsOf(mapped: MappedClass, named: ReadonlyMap<string, unknown>): RelationStrategy[] {
  return mapped.relations.filter(
    ({ relation, model, isInRecord }) => named.has(relation) || (model.eager && !isInRecord),
  )
}

/** True the first time. */
function visit(visited: Visited, member: Tracked, relation: string): boolean {
  const relations = visited.get(member)
  if (relations === undefined) visited.set(member, new Set([relation]))
  else if (relations.has(relation)) return false
  else relations.add(relation)
  return true
}

function byClass(level: readonly Tracked[]): [string, Tracked[]][] {
  const classes = new Map<string, Tracked[]>()
  for (const tracked of level) {
    const members = classes.get(tracked.model.name)
    if (members === undefined) classes.set(tracked.model.name, [tracked])
    else members.push(tracked)
  }
  return [...classes]
}
