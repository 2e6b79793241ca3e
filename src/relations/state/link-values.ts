import { instantiate, readProperty, writeProperty } from '../../codec/index.js'
import { cut, SkeinError } from '../../errors/index.js'
import { didYouMean, type Collection, type Ref, type RelationModel } from '../../model/index.js'
import type { LinkClass } from '../contract/link-class.js'
import { isCollection, isRef } from '../contract/member.js'
import { collectionStateOf, refStateOf } from './state-of.js'

/** A link record without its ends. */
export const newLink = ({ model }: LinkClass): object => instantiate(model.class)

/** Gives a link record these values; a relation takes an entity or its key, or a list of them. */
export function assignToLink(link: object, { model, near, far }: LinkClass, values: object): void {
  const given = Object.entries(values)
  for (const [name] of given) checkName(name, model.name, [near, far], namesOf(model))
  for (const [name, value] of given) {
    const relation = model.relations.find((each) => each.name === name)
    if (relation === undefined) writeProperty(link, name, value)
    else relate(link, relation, value)
  }
}

/** Gives a stored link all values of the one that was made to replace it, except those that the session keeps itself. */
export function replaceLink(stored: object, made: object, { model, near, far }: LinkClass): void {
  for (const { name, role } of model.properties)
    if (role === 'plain') writeProperty(stored, name, readProperty(made, name))
  for (const relation of model.relations) {
    if (relation.name === near || relation.name === far) continue
    const given = readProperty(made, relation.name) as Ref<object> & Collection<object>
    relate(stored, relation, relation.holds === 'ref' ? refStateOf(given).target : collectionStateOf(given).added)
  }
}

function namesOf({ properties, relations }: LinkClass['model']): readonly string[] {
  return [...properties, ...relations].map(({ name }) => name)
}

function checkName(name: string, className: string, ends: readonly string[], known: readonly string[]): void {
  if (ends.includes(name))
    throw new SkeinError('SKEIN_2310', `${className}.${name} is an end of the link, and link() sets it itself.`, {
      className,
      property: name,
      fix: `Leave ${name} out.`,
    })
  if (known.includes(name)) return
  const others = known.filter((each) => !ends.includes(each))
  throw new SkeinError('SKEIN_2310', `${className} has no property '${cut(name)}'.`, {
    className,
    property: name,
    fix: `${didYouMean(name, others)}${className} has: ${others.join(', ')}.`,
  })
}

function relate(link: object, { name, holds }: RelationModel, value: unknown): void {
  if (value === undefined) return
  if (isRef(value) || isCollection(value)) return writeProperty(link, name, value)
  const holder = readProperty(link, name)
  if (holds === 'ref') (holder as Ref<object>).set(value)
  else (holder as Collection<object>).add(...(value as object[]))
}
