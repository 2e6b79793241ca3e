import { encodeExpression } from '../driver/encode-expression.js'
import type { EntityModel, IndexModel } from '../model/index.js'
import type { Expression } from '../plan/expression.js'
import type { Field } from './field.js'
import { compileCalculation } from './filter.js'

/** An index that queries can ask, with the expression of a calculated value. */
export interface UsableIndex extends IndexModel {
  readonly expression?: Expression
  /** The expression as it is sent: two that are equal are the same calculation. */
  readonly calculated?: string
}

const known = new WeakMap<EntityModel, readonly UsableIndex[]>()

/** The indexes of a class; throws where a calculation is wrong. */
export function usableIndexes(model: EntityModel, fields: () => ReadonlyMap<string, Field>): readonly UsableIndex[] {
  if (!model.indexes.some(({ of }) => of !== undefined)) return model.indexes
  let indexes = known.get(model)
  if (indexes === undefined) {
    indexes = model.indexes.map((index) => (index.of === undefined ? index : withExpression(model, index, fields())))
    known.set(model, indexes)
  }
  return indexes
}

function withExpression(model: EntityModel, index: IndexModel, fields: ReadonlyMap<string, Field>): UsableIndex {
  const expression = compileCalculation(model, fields, index)
  return { ...index, expression, calculated: encodeExpression(expression) }
}

/** Indexes on calculated values are new in server 8.1. */
export const hasCalculatedIndexes = (build: string): boolean => isAtLeast(build, 8, 1)

/** Indexes on bytes are new in server 7.0. */
export const hasIndexesOnBytes = (build: string): boolean => isAtLeast(build, 7, 0)

function isAtLeast(build: string, wantedMajor: number, wantedMinor: number): boolean {
  const [major, minor] = build.split('.').map(Number)
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)
}
