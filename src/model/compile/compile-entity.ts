import type { MemberDecorator, MemberNote } from '../declaration.js'
import type { KeyModel } from '../key-model.js'
import type { EntityModel } from '../model.js'
import type { IndexModel } from '../property-model.js'
import { BinNames } from './check-names.js'
import { KNOWN_OPTIONS, checkOptions } from './check-options.js'
import type { Compilation, EntityNotes } from './compilation.js'
import { compileHistory } from './compile-history.js'
import { compileCalculatedIndex, compileIndex } from './compile-index.js'
import { inverseOption } from './compile-inverse-index.js'
import { compileKey } from './compile-key.js'
import { compileRelation } from './compile-relation.js'
import type { RelationDraft } from './relation-draft.js'
import { compileTtl } from './compile-ttl.js'
import { compileValue, type PropertyDraft } from './compile-value.js'
import { embeddedIndexes, refuseIndexesOfMany } from './embedded-indexes.js'
import type { PartModels } from './embedded-type.js'
import { compileDiscriminator } from './families.js'
import { isRelation, readMemberRoles, type Member } from './members.js'
import { relationIndexes } from './relation-indexes.js'

/** Placeholder for a class whose problems are reported. */
const NO_KEY: KeyModel = { kind: 'string', storedKind: 'string', properties: [], tenant: false }

/** Everything about one entity. What is wrong is noted; the result is only used when nothing is. */
export function compileEntity(entity: EntityNotes, compilation: Compilation, models: PartModels): EntityModel {
  const { problems, entities } = compilation
  const members = readMemberRoles(entity, problems)
  const properties: PropertyDraft[] = []
  const relations: RelationDraft[] = []
  const indexes: IndexModel[] = []
  for (const member of members) {
    const { note } = member
    if (isRelation(note)) {
      const relation = compileRelation(entity, { ...member, note }, compilation)
      if (!relation) continue
      relations.push(relation)
      indexes.push(...relationIndexes(entity, relation, member.index, compilation))
      for (const part of [relation.target, relation.attributes ?? ''])
        refuseIndexesOfMany(entity.name, relation.name, part, { models, problems })
    } else {
      const property = compileValue(entity, member, compilation, models)
      if (!property) checkMetadata(entity, member, compilation)
      else {
        properties.push(property)
        indexes.push(...valueIndex(entity, property, member.index, compilation))
        indexes.push(...embeddedIndexes(entity, property, models, problems))
      }
    }
  }
  indexes.push(...entity.indexes.flatMap((index) => compileCalculatedIndex(index, entity.name, problems)))
  const key = compileKey(entity, compilation) ?? NO_KEY
  const discriminator = compileDiscriminator(entity, entities.values())
  claimBins(entity, properties, relations, compilation)
  const only = (decorator: MemberDecorator) => onlyProperty(entity, members, decorator, compilation)
  const { sendKey = false, durableDelete } = entity.options
  const version = only('Version')
  const history = compileHistory(entity, version.version, problems)
  return {
    kind: 'entity',
    class: entity.class,
    name: entity.name,
    namespace: entity.namespace,
    set: entity.set,
    ...(entity.options.archive !== undefined && { archive: entity.options.archive }),
    ttl: compileTtl(entity.options.ttl, { className: entity.name }, problems),
    sendKey,
    ...(durableDelete !== undefined && { durableDelete }),
    key,
    ...(discriminator && entity.base && { base: entities.get(entity.base)?.name }),
    ...(discriminator && { discriminator }),
    properties: properties.map((property, index) => ({ ...withKeyRole(property, key.properties), index })),
    relations: relations.map((relation, i) => ({ ...relation, index: properties.length + i })),
    indexes,
    hooks: entity.hooks,
    ...version,
    ...(history && { history }),
    ...only('CreatedAt'),
    ...only('UpdatedAt'),
    ...only('DeletedAt'),
    ...only('Generation'),
    ...only('Ttl'),
  }
}

function withKeyRole(property: PropertyDraft, keyProperties: readonly string[]): PropertyDraft {
  return keyProperties.includes(property.name) ? { ...property, role: 'key' } : property
}

function valueIndex(
  { name, set }: EntityNotes,
  property: PropertyDraft,
  asked: MemberNote<'Index'> | undefined,
  { problems }: Compilation,
): IndexModel[] {
  if (!asked) return []
  const place = { className: name, property: property.name }
  checkOptions(problems, asked.options, KNOWN_OPTIONS.Index, place, '@Index')
  const index = compileIndex(asked.options, property.type, { set, bin: property.bin, place }, problems)
  return index ? [index] : []
}

/** `@Generation` and `@Ttl` show the record's metadata: they have no bin, so nothing can be added to them. */
function checkMetadata(
  entity: EntityNotes,
  { note, index, sharded, companion }: Member,
  { problems }: Compilation,
): void {
  const addition = index ?? sharded ?? companion
  if (!addition || (note.decorator !== 'Generation' && note.decorator !== 'Ttl')) return
  const message = `@${addition.decorator} is on a @${note.decorator}, which is not a bin.`
  problems.add('SKEIN_1026', { className: entity.name, property: note.property }, message, 'Leave it out.')
}

function claimBins(
  { name: className, options }: EntityNotes,
  properties: readonly PropertyDraft[],
  relations: readonly RelationDraft[],
  { problems }: Compilation,
): void {
  const bins = new BinNames(problems)
  for (const { name: property, bin, type } of properties) {
    const place = { className, property }
    if (type.kind === 'embedded' && type.shape === 'bins') {
      for (const field of type.fields) bins.claim(field.bin, place, "prefix: '…'")
    } else {
      bins.claim(bin, place, "name: '…'")
    }
  }
  for (const { name: property, bin, sortKeyBin, orders = [], inverseIndexes = [], companions } of relations) {
    const place = { className, property }
    if (bin !== undefined) bins.claim(bin, place, "name: '…'")
    if (companions !== undefined) bins.claimSubkeys(companions.subkeys, place)
    if (sortKeyBin !== undefined) bins.claim(sortKeyBin, place, "sortKeyName: '…'")
    for (const { name: order, bin: list } of orders)
      bins.claim(list, place, `orders: { ${order}: … } under another name`)
    for (const inverse of inverseIndexes) bins.claim(inverse.bin, place, inverseOption(inverse))
  }
  if (options.discriminator !== undefined) {
    bins.claim(options.discriminator, { className }, "discriminator: '…'")
  }
}

const SINGLE = {
  Version: 'version',
  CreatedAt: 'createdAt',
  UpdatedAt: 'updatedAt',
  DeletedAt: 'deletedAt',
  Generation: 'generationProperty',
  Ttl: 'ttlProperty',
} as const

/** The one property with a decorator that a class can have once, as the field of the model that names it. */
function onlyProperty(
  { name }: EntityNotes,
  members: readonly Member[],
  decorator: MemberDecorator,
  { problems }: Compilation,
): Partial<EntityModel> {
  const [first, second] = members.filter(({ note }) => note.decorator === decorator).map(({ note }) => note.property)
  if (second !== undefined) {
    const message = `It is a second @${decorator}, beside ${first}.`
    problems.add('SKEIN_1027', { className: name, property: second }, message, 'Keep one of them.')
  }
  return first === undefined ? {} : { [SINGLE[decorator as keyof typeof SINGLE]]: first }
}
