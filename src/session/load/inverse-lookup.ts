import { SkeinError } from '../../errors/index.js'
import type { KeyValue, Tenant } from '../../keys/index.js'
import { inversePath, type EntityModel } from '../../model/index.js'
import type { Reader } from '../../relations/contract/reader.js'
import type { IndexedBy } from '../../relations/contract/index-lookup.js'
import { isEntity } from '../../relations/contract/member.js'

/** Asks the inverse index of a class for the entities whose consolidated children point to a target: `'comments.author'`. */
export function pointingTo(
  model: EntityModel,
  path: string,
  target: object | KeyValue,
  reader: Reader,
  tenant: Tenant | undefined,
): IndexedBy {
  const inverse = model.relations.flatMap(({ name, inverseIndexes = [] }) =>
    inverseIndexes.map((index) => ({ path: `${name}.${inversePath(index)}`, bin: index.bin })),
  )
  const found = inverse.find((each) => each.path === path)
  const index = model.indexes.find(({ bin, on }) => bin === found?.bin && on === 'mapKeys')
  if (index === undefined) throw noInverseIndex(model, path, inverse)
  if (model.key.tenant && tenant === undefined) throw noTenant(model)
  const value = isEntity(target) ? reader.keyOf(target) : target
  if (value === null)
    throw new SkeinError('SKEIN_2305', 'The entity that is pointed to has no key yet.', { fix: 'Save it first.' })
  return { model, index, value }
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
