import { ask } from '../plan/collection-expression.js'
import type { Expression, PathLevel } from '../plan/expression.js'
import { selectPath } from '../plan/path-expression.js'
import type { Value } from '../plan/value.js'
import { pendingAt } from '../records/join-changes.js'
import { answerLocally } from '../records/local-answers.js'
import { withoutCreating, type Place } from '../records/place.js'
import type { Question } from '../records/question.js'
import { unsentCollection } from '../records/unsent-expression.js'
import type { LocatedPart } from '../relations/contract/relation-strategy.js'
import type { BinChange } from './unsent-changes.js'

type ApartPart = NonNullable<LocatedPart['apart']>

/** Asks a child in the companion record that holds it, with its unsent changes. */
export async function askApart(
  apart: ApartPart,
  place: Place,
  questions: readonly Question[],
): Promise<readonly (Value | undefined)[]> {
  const path = withoutCreating(place.path)
  const subject = subjectOf(apart, place)
  const answers = await apart.ask(questions.map(({ name, args }) => ask(name, subject, args, path)))
  return answers ?? questions.map((one) => answerLocally(undefined, one))
}

/** The values that a path in such a child leads to, or their number. */
export async function askPathApart(
  apart: ApartPart,
  place: Place,
  levels: readonly PathLevel[],
  isCount: boolean,
): Promise<Value | undefined> {
  const found = selectPath(subjectOf(apart, place), levels)
  return (await apart.ask([isCount ? ask('listSize', found, []) : found]))?.[0]
}

const subjectOf = ({ recorded }: ApartPart, { bin, path }: Place): Expression =>
  unsentCollection(bin, 'map', pendingAt(path, recorded as readonly BinChange[]))
