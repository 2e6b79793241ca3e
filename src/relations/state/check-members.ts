import { readProperty } from '../../codec/index.js'
import type { Tracked } from '../contract/tracked.js'
import type { Reader } from '../contract/reader.js'
import { isEntity, type Member } from '../contract/member.js'
import { wrongClass } from '../contract/relation-errors.js'
import { collectionStateOf, refStateOf } from './state-of.js'
import type { RelationStrategy } from '../contract/relation-strategy.js'

/** Refuses entities of another class than the relation's: their keys would be stored as if they were the target's. */
export function checkMembers(owner: Tracked, strategies: readonly RelationStrategy[], reader: Reader): void {
  for (const { model: relation, keyOf } of strategies) {
    // Parts are checked when they are stored.
    if (keyOf !== undefined) continue
    const related = readProperty(owner.entity, relation.name) as object
    const members: Iterable<Member | null> =
      relation.holds === 'ref' ? [refStateOf(related).target] : collectionStateOf(related).added
    for (const member of members) {
      if (isEntity(member) && !(member instanceof reader.entityModel(relation.target).class))
        throw wrongClass(owner, relation, member)
    }
  }
}
