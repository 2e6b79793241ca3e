import type { BinType } from '../bin-type.js'
import type { IndexModel } from '../property-model.js'
import type { EntityNotes } from './compilation.js'
import { compileFieldIndex } from './compile-index.js'
import type { PropertyDraft } from './compile-value.js'
import type { PartModels } from './embedded-type.js'
import type { Problems } from './problems.js'

interface Walk {
  readonly entity: EntityNotes
  readonly property: string
  readonly models: PartModels
  readonly problems: Problems
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
  if (type.shape !== 'one') return refuseMany(walk, type.part, path)
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

/** An index leads to one place in a record, and not to each of many parts. */
function refuseMany({ entity, problems, models }: Walk, part: string, path: readonly string[]): [] {
  const [indexed] = models.get(part)!.indexes
  if (indexed === undefined) return []
  const message = `${part}.${indexed.property} is indexed, and here are many parts: an index cannot look into each of them.`
  const fix = 'Leave out @Index there, or index a list of values that the record keeps beside its parts.'
  problems.add('SKEIN_1024', { className: entity.name, property: path.join('.') }, message, fix)
  return []
}

const placeOf = ({ entity }: Walk, bin: string, path: readonly string[]): Parameters<typeof compileFieldIndex>[2] => ({
  set: entity.set,
  bin,
  place: { className: entity.name, property: path.join('.') },
})
