import {
  HOOK_NAMES,
  type EmbeddableModel,
  type EntityModel,
  type HooksModel,
  type Model,
  type TtlModel,
} from '../model.js'
import type { KeyModel } from '../key-model.js'
import type { IndexModel, PropertyModel } from '../property-model.js'
import { describeRelation, describeSharding } from './describe-relation.js'
import { describeType } from './describe-type.js'

/** The model as text, for people: every class with its key, bins, relations and indexes. */
export function describeModel(model: Model): string {
  const entities = [...model.entities.values()].map(describeEntity)
  const parts = [...model.embeddables.values()].map(describePart)
  return [...entities, ...parts].join('\n\n')
}

function describeEntity(entity: EntityModel): string {
  const { discriminator, base } = entity
  return section(`${entity.name} → ${entity.namespace}.${entity.set}`, [
    ['extends', base === undefined ? [] : [base]],
    ['key', [describeKeyModel(entity.key)]],
    ['kind', discriminator ? [describeDiscriminator(discriminator)] : []],
    ['bins', aligned(entity.properties)],
    ['metadata', metadata(entity)],
    ['relations', entity.relations.map((relation) => `${relation.name}: ${describeRelation(relation)}`)],
    ['indexes', entity.indexes.map(describeIndex)],
    ['ttl', describeTtl(entity.ttl)],
    ['archive', entity.archive === undefined ? [] : [entity.archive]],
    ['history', entity.history === undefined ? [] : [`the last ${entity.history.keep}, in '${entity.history.set}'`]],
    ['hooks', describeHooks(entity.hooks)],
  ])
}

function describePart(part: EmbeddableModel): string {
  return section(`${part.name} (part)`, [
    ['key', part.key ? [describeKeyModel(part.key)] : []],
    ['fields', aligned(part.properties)],
    ['relations', part.relations.map((relation) => `${relation.name}: ${describeRelation(relation)}`)],
    ['hooks', describeHooks(part.hooks)],
  ])
}

function section(title: string, groups: readonly (readonly [label: string, lines: readonly string[]])[]): string {
  const body = groups.flatMap(([label, lines]) =>
    lines.map((line, i) => `  ${(i === 0 ? label : '').padEnd(10)}${line}`),
  )
  return [title, ...body].join('\n')
}

function describeKeyModel({ template, properties, kind, generate, tenant }: KeyModel): string {
  const source = template === undefined ? properties.join(', ') : `'${template}'`
  const made = typeof generate === 'object' ? `hash of ${generate.hash.join(', ')}` : generate
  return [`${source}: ${kind}`, made && `generated ${made}`, tenant ? 'per tenant' : undefined]
    .filter(Boolean)
    .join(', ')
}

function describeDiscriminator({ bin, value, subclasses }: NonNullable<EntityModel['discriminator']>): string {
  const values = subclasses.map((subclass) => `${subclass.value} = ${subclass.entity}`).join(', ')
  return `'${bin}' is ${value === undefined ? '(abstract)' : value}; loads ${values}`
}

function aligned(properties: readonly PropertyModel[]): string[] {
  const names = properties.map(({ name, bin, type }) =>
    name === bin || (type.kind === 'embedded' && type.shape === 'bins') ? name : `${name} '${bin}'`,
  )
  const width = Math.max(0, ...names.map((name) => name.length))
  return properties.map(({ type, role, sharding, countOf, copy, immutable }, i) => {
    const special = [
      role === 'plain' ? undefined : role,
      immutable && 'immutable',
      countOf,
      copy && `${copy.relation}.${copy.from}`,
      copy?.refresh,
    ]
    const notes = [...special, sharding && describeSharding(sharding)].filter(Boolean)
    return `${names[i].padEnd(width)}  ${describeType(type)}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`
  })
}

function metadata({ generationProperty, ttlProperty }: EntityModel): string[] {
  return [
    ...(generationProperty === undefined ? [] : [`${generationProperty}: generation`]),
    ...(ttlProperty === undefined ? [] : [`${ttlProperty}: time to live`]),
  ]
}

function describeIndex({ name, set, bin, steps = [], on, type, of }: IndexModel): string {
  if (of !== undefined) return `${name}: ${type} on a calculated value`
  const where = set === undefined ? '' : ` in '${set}'`
  return `${name}: ${type} on ${on === 'value' ? '' : `${on} of `}'${[bin, ...steps].join('.')}'${where}`
}

function describeTtl({ seconds, onUpdate }: TtlModel): string[] {
  if (seconds === 'default') return []
  const time = seconds === 'never' ? 'never expires' : `${seconds} s`
  return [onUpdate === 'refresh' ? `${time}, renewed by every write` : time]
}

function describeHooks(hooks: HooksModel): string[] {
  return HOOK_NAMES.filter((hook) => hooks[hook].length > 0).map((hook) => `${hook}: ${hooks[hook].join(', ')}`)
}
