import { readProperty } from '../../codec/index.js'
import { findCollectionState, findRefState } from './state-of.js'
import type { RelationStrategy } from '../contract/relation-strategy.js'

/** Returns a function that restores the Refs and Collections of an entity: a transaction that is rolled back has linked nothing. */
export function rememberRelations(entity: object, strategies: readonly RelationStrategy[]): () => void {
  const undo = strategies.flatMap(({ relation }) => {
    const value = readProperty(entity, relation)
    if (typeof value !== 'object' || value === null) return []
    return (findRefState(value) ?? findCollectionState(value))?.remember() ?? []
  })
  return () => undo.forEach((each) => each())
}
