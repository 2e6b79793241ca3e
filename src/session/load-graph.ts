import type { Contributor, Reader, Tracked } from '../relations/contributor.js'
import type { MappedClasses } from './mapped-classes.js'
import { unknownRelation } from './session-errors.js'

/** Loads the relations named by the paths, level by level: all of one level in one tick, and so in one batch read. */
export async function loadGraph(
  level: readonly Tracked[],
  paths: readonly string[],
  classes: MappedClasses,
  reader: Reader,
): Promise<void> {
  if (level.length === 0 || paths.length === 0) return
  const branches = byFirstStep(paths)
  const loads = [...branches].map(async ([relation, rest]) => {
    const next = await Promise.all(
      byClass(level).map(([name, members]) =>
        contributorOf(classes, name, relation).load!(members, reader, firstSteps(rest)),
      ),
    )
    return { next: [...new Set(next.flat())], rest }
  })
  for (const { next, rest } of await Promise.all(loads)) await loadGraph(next, rest, classes, reader)
}

const firstSteps = (paths: readonly string[]): string[] => [...byFirstStep(paths).keys()]

/** 'listings.reviews' → listings: ['reviews'] */
function byFirstStep(paths: readonly string[]): Map<string, string[]> {
  const branches = new Map<string, string[]>()
  for (const path of paths) {
    const [first, ...rest] = path.split('.')
    const branch = branches.get(first) ?? []
    branches.set(first, rest.length === 0 ? branch : [...branch, rest.join('.')])
  }
  return branches
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

function contributorOf(classes: MappedClasses, name: string, relation: string): Contributor {
  const mapped = classes.of(name)
  const found = mapped.contributors.find((each) => each.relation === relation && each.load !== undefined)
  if (found === undefined) throw unknownRelation(mapped, relation)
  return found
}
