import type { Driver } from '../../driver/driver.js'
import { SkeinError } from '../../errors/index.js'
import { TENANT } from '../../keys/index.js'
import { didYouMean, type RelationModel } from '../../model/index.js'
import { write } from '../../plan/command.js'
import { bin, gt, mapValueCountBetween, value } from '../../plan/expression.js'
import { mapRemoveBelow } from '../../plan/operations.js'
import { isWrittenOrMissing, type Outcome } from '../../plan/outcome.js'
import { changedWithin, query } from '../../plan/query-command.js'
import { sweepWithoutTenant } from '../context/session-errors.js'
import { companionIn, COMPANION_KEY_BINS, foundKey } from '../load/key-of-found.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import type { PurgeOptions } from './purge.js'

/** End of links that were ended, and the bin that keeps them. */
interface EndedSide {
  readonly mapped: MappedClass
  readonly endedBin: string
  /** Sets that records with such links are in: undefined for that of the entities, and those of companions. */
  readonly sets: readonly (string | undefined)[]
}

const endedSide = (mapped: MappedClass, { endedBin, companions }: RelationModel): EndedSide => ({
  mapped,
  endedBin: endedBin!,
  sets: companions?.when === undefined ? [companions?.set] : [undefined, companions.set],
})

/** Removes links of a relation for good that were ended before a time, at all of their ends; says how many. */
export async function purgeLinks(
  mapped: MappedClass,
  classes: MappedClasses,
  driver: Driver,
  options: PurgeOptions,
): Promise<number> {
  const { owners, others } = sidesOf(mapped, classes, options.links!)
  let purged = 0
  // Owners are believed: when this is cut off, verify finds what the others still keep.
  for (const side of owners) purged += await purgeSide(side, driver, options, purged)
  for (const side of others) await purgeSide(side, driver, { ...options, onProgress: undefined })
  return purged
}

function sidesOf(
  mapped: MappedClass,
  classes: MappedClasses,
  name: string,
): { readonly owners: readonly EndedSide[]; readonly others: readonly EndedSide[] } {
  const relation = mapped.model.relations.find((each) => each.name === name)
  if (relation?.endedBin === undefined) throw notKept(mapped, name)
  if (relation.inverse === undefined || (relation.inverse === name && relation.target === mapped.model.name))
    return { owners: [endedSide(mapped, relation)], others: [] }
  const there = endedSides(relation.target, relation.inverse, classes)
  const here =
    relation.knownAs === undefined ? [endedSide(mapped, relation)] : endedSides(relation.knownAs, name, classes)
  return relation.owner ? { owners: here, others: there } : { owners: there, others: here }
}

/** Sides of all classes that a relation leads to; they have it under one name. */
const endedSides = (target: string, name: string, classes: MappedClasses): readonly EndedSide[] =>
  classes.severalOf(target).map((each) =>
    endedSide(
      each,
      each.model.relations.find((relation) => relation.name === name)!,
    ),
  )

/**
 * Links that are split on demand are in the one set or in the other, and move meanwhile; they are copied before they are taken out. So both sets are
 * walked once more for records that have changed since: links may have moved to where the purge had been already.
 */
async function purgeSide(side: EndedSide, driver: Driver, options: PurgeOptions, before = 0): Promise<number> {
  const began = performance.now()
  let purged = 0
  for (const apart of side.sets) purged += await purgeSet(side, { apart }, driver, options, before + purged)
  if (side.sets.length === 1) return purged
  for (const apart of side.sets) purged += await purgeSet(side, { apart, began }, driver, options, before + purged)
  return purged
}

/** Records of one set; of those only the ones that have changed since `began`. */
interface Walk {
  readonly apart: string | undefined
  readonly began?: number
}

async function purgeSet(
  { mapped, endedBin }: EndedSide,
  { apart, began }: Walk,
  driver: Driver,
  options: PurgeOptions,
  before: number,
): Promise<number> {
  const { olderThan, tenant, signal, onProgress } = options
  const { name: entity, namespace, key } = mapped.model
  const set = apart ?? mapped.model.set
  if (tenant === undefined && key.tenant && !key.properties.includes(TENANT)) throw sweepWithoutTenant(mapped)
  const end = [olderThan.getTime()]
  const filter = gt(mapValueCountBetween(bin('map', endedBin), [0], end), value(0))
  const bins = apart === undefined ? mapped.codec.binsOf([]) : COMPANION_KEY_BINS
  const all = query({ entity, namespace, set, bins, filter })
  const command = began === undefined ? all : changedWithin(all, performance.now() - began)
  let purged = 0
  for await (const records of driver.query(command, { signal })) {
    const found = records.flatMap((record) =>
      apart === undefined
        ? (foundKey(mapped, record, tenant)?.record ?? [])
        : (companionIn(record, apart, mapped, tenant)?.key ?? []),
    )
    const outcomes = await driver.run(
      found.map((record) =>
        write(entity, record, [mapRemoveBelow(endedBin, end, 'count')], { exists: 'mustExist', ttl: 'keep' }),
      ),
      { signal },
    )
    for (const outcome of outcomes) purged += countOf(outcome, endedBin)
    await onProgress?.({ purged: before + purged })
  }
  return purged
}

function countOf(outcome: Outcome, bin: string): number {
  if (!isWrittenOrMissing(outcome) && outcome.error !== undefined) throw outcome.error
  return Number(outcome.bins[bin] ?? 0)
}

function notKept({ model: { name: className, relations } }: MappedClass, property: string): SkeinError {
  const kept = relations.filter(({ endedBin }) => endedBin !== undefined).map(({ name }) => name)
  const fix =
    kept.length === 0
      ? 'Declare @DeletedAt() in the class of its attributes.'
      : `${didYouMean(String(property), kept)}Links that stay: ${kept.join(', ')}.`
  const message = `${className}.${String(property)} has no links that stay when they are ended.`
  return new SkeinError('SKEIN_2316', message, { className, property, fix })
}
