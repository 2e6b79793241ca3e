import { shown, SkeinError } from '../errors/index.js'
import type { EntityModel } from '../model/index.js'
import { tooLongFor, type Term } from './term.js'

const INDEXED_ON: { readonly [on: string]: string } = { mapKeys: "{ on: 'mapKeys' }", mapValues: "{ on: 'mapValues' }" }

/** No declared index answers a condition, and reading the whole set was not asked for. */
export function noFittingIndex(model: EntityModel, terms: readonly Term[]): SkeinError {
  const { name } = model
  const long = terms.find(({ lookup }) => lookup !== undefined && tooLongFor(lookup) !== undefined)
  const able = terms.find((term) => term !== long && term.lookup !== undefined)
  if (able === undefined && long !== undefined) return tooLongForIndex(model, long)
  const property = able?.path ?? terms[0]?.path
  const isCalculated = able?.lookup?.expression !== undefined
  const decorator = isCalculated
    ? "@Index({ name: '…', of: (x) => … }) with the same calculation"
    : able && `@Index(${INDEXED_ON[able.lookup!.on] ?? ''})`
  const message =
    terms.length === 0
      ? `The query for ${name} has no condition that an index could answer.`
      : `No index of ${name} answers the query for ${[...new Set(terms.map(({ path }) => path))].join(', ')}.`
  const add =
    decorator === undefined
      ? ''
      : `Add ${decorator} to ${isCalculated ? `the class ${name}` : `${name}.${property}`} and call db.indexes.sync(), or r`
  return new SkeinError('SKEIN_2511', message, {
    className: name,
    property,
    fix: `${add === '' ? 'R' : add}ead the whole set: .scan().`,
  })
}

function tooLongForIndex({ name }: EntityModel, { path, lookup }: Term): SkeinError {
  const bytes = tooLongFor(lookup!)
  return new SkeinError(
    'SKEIN_2511',
    `${name}.${path} is asked for a value of ${bytes} bytes, and indexes end at 2047.`,
    {
      className: name,
      property: path,
      fix: 'Add a condition that another index answers, or read the whole set: .scan().',
    },
  )
}

export function tooMany(model: EntityModel, max: number, call: 'toArray' | 'keys'): SkeinError {
  return new SkeinError('SKEIN_2512', `The query finds more than ${max} records of ${model.name}.`, {
    className: model.name,
    fix: `Iterate over the query, read it in pages, set a limit, or raise it: ${call}({ max: … }).`,
  })
}

export function checkCount(what: string, given: unknown): void {
  if (Number.isSafeInteger(given) && (given as number) >= 1) return
  throw new SkeinError('SKEIN_2320', `${shown(given)} is not a valid value for ${what}.`, {
    fix: 'Give a whole number of at least 1.',
  })
}

export function checkSample(given: unknown): void {
  if (typeof given === 'number' && given > 0 && given <= 1) return
  throw new SkeinError('SKEIN_2320', `${shown(given)} is not a share of the records.`, {
    fix: 'Give a number above 0 and up to 1: sample(0.01) is one of a hundred.',
  })
}

export function orderWithoutLimit({ name }: EntityModel): SkeinError {
  return new SkeinError('SKEIN_2513', `The query for ${name} has an order, which is made here, and no limit.`, {
    className: name,
    fix: 'Add limit(…), ask for toArray({ max: … }), or read it in pages: only so many records are held in memory.',
  })
}

export function limitedPage({ name }: EntityModel): SkeinError {
  return new SkeinError('SKEIN_2513', `The query for ${name} has a limit, and pages have a count of their own.`, {
    className: name,
    fix: 'Leave out limit(…), and stop after as many pages as you want.',
  })
}

/** Soft-deleted records are neither changed nor deleted again; sessions refuse the same. */
export function bulkOfDeleted({ name }: EntityModel, isDelete: boolean): SkeinError {
  const [what, instead] = isDelete
    ? ['deletes', `remove them for good: db.purge(${name}, { olderThan })`]
    : ['changes', 'restore them first: session.restore(entity)']
  return new SkeinError('SKEIN_2320', `A bulk operation on ${name} ${what} no soft-deleted records.`, {
    className: name,
    fix: `Leave out the option deleted, or ${instead}.`,
  })
}

export function bulkOfSome({ name }: EntityModel): SkeinError {
  return new SkeinError('SKEIN_2513', `A bulk operation on ${name} changes all records that meet the conditions.`, {
    className: name,
    fix: 'Leave out limit and orderBy, or narrow the conditions.',
  })
}
