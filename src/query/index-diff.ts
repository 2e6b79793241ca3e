import type { IndexDefinition, IndexedPart, IndexedType } from '../driver/create-index.js'
import type { StoredIndex } from '../driver/list-indexes.js'
import { encodeExpression, encodeSteps } from '../driver/encode-expression.js'
import { indexedInArchive, type EntityModel, type IndexModel, type Model } from '../model/index.js'
import type { UsableIndex } from './usable-indexes.js'

/** An index that the model needs, and who asked for it. */
export interface NeededIndex extends IndexDefinition {
  readonly part: IndexedPart
  readonly className: string
  readonly property: string
}

/** The secondary indexes that the model needs, against those the server has. */
export interface IndexDiff {
  /** Needed and not there. */
  readonly missing: readonly NeededIndex[]
  /** Needed and there, but still being built. */
  readonly building: readonly NeededIndex[]
  /** Needed, but the server has an index of this name on something else. */
  readonly different: readonly NeededIndex[]
  /** On sets of the model, but nothing in the model needs them. */
  readonly unused: readonly StoredIndex[]
}

const TYPE: { readonly [type in IndexModel['type']]: IndexedType } = {
  numeric: 'numeric',
  string: 'string',
  blob: 'blob',
  geo2dsphere: 'geo',
}
const PART: { readonly [on in IndexModel['on']]: IndexedPart } = {
  value: 'value',
  listElements: 'list',
  mapKeys: 'mapKeys',
  mapValues: 'mapValues',
}

/** The indexes of a class, with their expressions. */
export type IndexesOf = (entity: EntityModel) => readonly UsableIndex[]

/** Each index once, however many classes share a set. */
export function neededIndexes(model: Model, usable: IndexesOf): NeededIndex[] {
  const needed = new Map<string, NeededIndex>()
  for (const entity of model.entities.values()) {
    const { name: className, namespace, set } = entity
    const archived = indexedInArchive(entity, model.entities)
    for (const { name, bin, on, type, property, steps, expression, set: apart } of usable(entity)) {
      const where = { name, namespace, set: apart ?? set, bin, type: TYPE[type], part: PART[on] }
      const index = { ...where, ...(steps && { steps }), ...(expression && { expression }), className, property }
      const isArchived = on === 'value' && archived.includes(bin)
      for (const each of isArchived ? [index, { ...index, namespace: entity.archive! }] : [index])
        if (!needed.has(placeOf(each))) needed.set(placeOf(each), each)
    }
  }
  return [...needed.values()]
}

export function diffIndexes(needed: readonly NeededIndex[], stored: readonly StoredIndex[], model: Model): IndexDiff {
  const places = new Map(stored.map((index) => [placeOf(index), index]))
  const names = new Set(stored.map(nameOf))
  const absent = needed.filter((index) => !places.has(placeOf(index)))
  const wanted = new Set(needed.map(placeOf))
  const sets = new Set([...model.entities.values()].flatMap(setsOf))
  return {
    missing: absent.filter((index) => !names.has(nameOf(index))),
    different: absent.filter((index) => names.has(nameOf(index))),
    building: needed.flatMap((index) => {
      const found = places.get(placeOf(index))
      return found === undefined || found.isReady ? [] : [{ ...index, name: found.name }]
    }),
    unused: stored.filter((index) => sets.has(`${index.namespace}|${index.set}`) && !wanted.has(placeOf(index))),
  }
}

const setsOf = ({ namespace, set, relations }: EntityModel): string[] =>
  [set, ...relations.flatMap(({ companions }) => companions?.set ?? [])].map((each) => `${namespace}|${each}`)

/** A query names a bin and not an index, so an index under another name serves as well. */
function placeOf(index: NeededIndex | StoredIndex): string {
  const { namespace, set, bin, type, part } = index
  const [context, calculated] = 'isReady' in index ? [index.context, index.calculated] : encodedPlace(index)
  return [namespace, set, bin, type, part, context ?? '', calculated ?? ''].join('|')
}

const encodedPlace = ({ steps, expression }: NeededIndex): [string | undefined, string | undefined] => [
  steps && encodeSteps(steps),
  expression && encodeExpression(expression),
]

const nameOf = ({ namespace, name }: NeededIndex | StoredIndex): string => `${namespace}|${name}`
