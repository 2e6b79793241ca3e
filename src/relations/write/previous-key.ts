import type { EntityModel, RelationModel } from '../../model/index.js'
import type { Bins } from '../../plan/command.js'
import { bin } from '../../plan/expression.js'
import type { ReadExpression } from '../../plan/operation.js'
import { readExpression } from '../../plan/operations.js'
import type { UserKey } from '../../plan/record-key.js'
import { expressionType } from './expression-type.js'

// Each relation has a name of its own: one write may change several of a record.
const nameOf = ({ index }: RelationModel): string => `_sk.before${index}`

/** Reads the key that a key bin holds, in the command that replaces it. */
export function readBefore(relation: RelationModel, target: EntityModel): ReadExpression {
  return readExpression(nameOf(relation), bin(expressionType(target.key.storedKind), relation.bin!))
}

/** The key that was there; null when there was none or the command did not ask. */
export function keyBefore(relation: RelationModel, bins: Bins): UserKey | null {
  return (bins[nameOf(relation)] as UserKey | undefined) ?? null
}
