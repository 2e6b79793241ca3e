import { classOf } from '../../codec/index.js'
import { SkeinError } from '../../errors/index.js'
import type { KeyValue, Tenant } from '../../keys/index.js'
import { indexedRef, inversePath, type EntityModel, type Model, type RelationModel } from '../../model/index.js'
import type { Reader } from '../../relations/contract/reader.js'
import { inverseIndexOn, type IndexedBy } from '../../relations/contract/index-lookup.js'
import { isEntity } from '../../relations/contract/member.js'

/** Asks the inverse index of a class for the entities whose consolidated children point to a target: `'comments.author'`. */
export function pointingTo(
  model: EntityModel,
  path: string,
  target: object | KeyValue,
  reader: Reader,
  tenant: Tenant | undefined,
  classes: Model,
): IndexedBy {
  const inverse = model.relations.flatMap((relation) =>
    (relation.inverseIndexes ?? []).map((of) => ({ path: `${relation.name}.${inversePath(of)}`, relation, of })),
  )
  const found = inverse.find((each) => each.path === path)
  const indexed = found && inverseIndexOn(model, found.of.bin)
  if (found === undefined || indexed === undefined) throw noInverseIndex(model, path, inverse)
  if (model.key.tenant && tenant === undefined) throw noTenant(model)
  const ref = indexedRef(classes, found.relation.target, found.of)
  return { model, ...indexed, value: keyOfTarget(model, path, ref, target, reader) }
}

function keyOfTarget(
  { name: className }: EntityModel,
  property: string,
  { target: name }: RelationModel,
  target: object | KeyValue,
  reader: Reader,
): KeyValue {
  const pointedTo = reader.entityModel(name)
  if (!isEntity(target)) {
    // Refuses a key of another type, for which the index would find nothing, or something else.
    reader.recordKey(pointedTo, target)
    return target
  }
  if (!(target instanceof pointedTo.class)) {
    const given = classOf(target) === Object ? 'plain object' : classOf(target).name
    const message = `${className}.${property} leads to ${name}, and was given a ${given}.`
    throw new SkeinError('SKEIN_2408', message, {
      className,
      property,
      fix: `Give a ${name} or its key, which keysOf(${name}).of(parts) makes of its parts.`,
    })
  }
  const key = reader.keyOf(target, name)
  if (key !== null) return key
  throw new SkeinError('SKEIN_2305', 'The entity that is pointed to has no key yet.', { fix: 'Save it first.' })
}

function noTenant({ name }: EntityModel): SkeinError {
  return new SkeinError('SKEIN_2105', `${name} belongs to tenants, and this session has none.`, {
    className: name,
    fix: "Open the session with one: db.session({ tenant: '…' }).",
  })
}

function noInverseIndex(model: EntityModel, path: string, known: readonly { readonly path: string }[]): SkeinError {
  const there = known.length === 0 ? 'none' : known.map((each) => each.path).join(', ')
  return new SkeinError('SKEIN_2423', `${model.name} keeps no inverse index for '${path}'.`, {
    className: model.name,
    property: path,
    fix: `It has: ${there}. Declare one at the collection: { strategy: 'consolidate', inverseIndex: { author: {} } }.`,
  })
}
