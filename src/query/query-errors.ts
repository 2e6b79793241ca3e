import { SkeinError } from '../errors/index.js'
import type { EntityModel } from '../model/index.js'
import type { Term } from './term.js'

const INDEXED_ON: { readonly [on: string]: string } = { mapKeys: "{ on: 'mapKeys' }", mapValues: "{ on: 'mapValues' }" }

/** No declared index answers a condition, and reading the whole set was not asked for. */
export function noFittingIndex(model: EntityModel, terms: readonly Term[]): SkeinError {
  const { name } = model
  const able = terms.find(({ lookup }) => lookup !== undefined)
  const property = able?.path ?? terms[0]?.path
  const decorator = able === undefined ? undefined : `@Index(${INDEXED_ON[able.lookup!.on] ?? ''})`
  const message =
    terms.length === 0
      ? `The query for ${name} has no condition that an index could answer.`
      : `No index of ${name} answers the query for ${terms.map(({ path }) => path).join(', ')}.`
  const add = decorator === undefined ? '' : `Add ${decorator} to ${name}.${property} and call db.indexes.sync(), or r`
  return new SkeinError('SKEIN_2511', message, {
    className: name,
    property,
    fix: `${add === '' ? 'R' : add}ead the whole set: .scan().`,
  })
}

export function tooMany(model: EntityModel, max: number): SkeinError {
  return new SkeinError('SKEIN_2512', `The query finds more than ${max} records of ${model.name}.`, {
    className: model.name,
    fix: 'Iterate over the query, read it in pages, set a limit, or raise it: toArray({ max: … }).',
  })
}

export function badCount(what: string, given: unknown): SkeinError {
  return new SkeinError('SKEIN_2320', `${String(given)} is no value for ${what}.`, {
    fix: 'Give a whole number from 1 on.',
  })
}
