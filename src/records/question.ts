import type { CollectionQuestion } from '../plan/expression.js'
import type { Value } from '../plan/value.js'

/** A question about one list or map, as the server takes it. */
export interface Question {
  readonly name: CollectionQuestion
  readonly args: readonly Value[]
}

export const question = (name: CollectionQuestion, ...args: readonly Value[]): Question => ({ name, args })
