import type { BinType } from '../bin-type.js'
import type { IndexModel } from '../property-model.js'
import type { EntityNotes } from './compilation.js'
import { compileFieldIndex } from './compile-index.js'
import type { PropertyDraft } from './compile-value.js'
import type { PartModels } from './embedded-type.js'
import type { Problems } from './problems.js'

interface Parts {
  readonly models: PartModels
  readonly problems: Problems
}

interface Walk extends Parts {
  readonly entity: EntityNotes
  readonly property: string
}

/** The indexes that `@Index` on fields of an embedded part asks for in a record. */
export function embeddedIndexes(
  entity: EntityNotes,
  { name: property, bin, type }: PropertyDraft,
  models: PartModels,
  problems: Problems,
): IndexModel[] {
  const walk = { entity, property, models, problems }
  if (type.kind !== 'embedded' || type.shape !== 'bins') return below(walk, type, bin, [], [property], [])
  const own = models.get(type.part)?.indexes ?? []
  return type.fields.flatMap((field) => {
    const indexed = own.find((each) => each.property === field.name)
    const path = [property, field.name]
    return [
      ...(indexed ? [compileFieldIndex(indexed, [], placeOf(walk, field.bin, path), problems)] : []),
      ...below(walk, field.type, field.bin, [], path, []),
    ]
  })
}

function below(
  walk: Walk,
  type: BinType,
  bin: string,
  steps: readonly string[],
  path: readonly string[],
  parents: readonly string[],
): IndexModel[] {
  if (type.kind !== 'embedded' || type.shape === 'bins' || parents.includes(type.part)) return []
  const part = walk.models.get(type.part)
  if (part === undefined) return []
  if (type.shape !== 'one') return refuseIndexesOfMany(walk.entity.name, path.join('.'), type.part, walk)
  const { indexes, properties } = part
  return [
    ...indexes.map((each) =>
      compileFieldIndex(each, [...steps, each.field], placeOf(walk, bin, [...path, each.property]), walk.problems),
    ),
    ...properties.flatMap((each) =>
      below(walk, each.type, bin, [...steps, each.bin], [...path, each.name], [...parents, type.part]),
    ),
  ]
}

/** Notes a problem where parts of which a record has many are indexed: an index leads to one place in a record. */
export function refuseIndexesOfMany(
  className: string,
  property: string,
  part: string,
  { models, problems }: Parts,
): [] {
  const indexed = firstIndexed(part, models, [])
  if (indexed === undefined) return []
  const message = `${indexed} is indexed, but there are many parts here: an index cannot look into each of them.`
  const fix = 'Leave out @Index there, or index a list of values that the record keeps beside its parts.'
  problems.add('SKEIN_1024', { className, property }, message, fix)
  return []
}

/** The first indexed field of a part, or of the parts inside it. */
function firstIndexed(part: string, models: PartModels, parents: readonly string[]): string | undefined {
  const model = models.get(part)
  if (model === undefined || parents.includes(part)) return undefined
  if (model.indexes.length > 0) return `${part}.${model.indexes[0].property}`
  const inside = model.properties.flatMap(({ type }) => (type.kind === 'embedded' ? [type.part] : []))
  return inside.map((each) => firstIndexed(each, models, [...parents, part])).find((each) => each !== undefined)
}

const placeOf = ({ entity }: Walk, bin: string, path: readonly string[]): Parameters<typeof compileFieldIndex>[2] => ({
  set: entity.set,
  bin,
  place: { className: entity.name, property: path.join('.') },
})
