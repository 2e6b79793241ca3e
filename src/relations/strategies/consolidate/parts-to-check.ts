import { describeKey } from '../../../keys/index.js'
import type { ChangedPart } from '../../contract/relation-strategy.js'
import type { PartTable } from './part-table.js'
import { changedBelow } from './part-tree.js'

/** Parts that are new or whose own fields changed, with those inside them: the rules of their classes are to be checked. */
export function* partsToCheck(table: PartTable): Iterable<ChangedPart> {
  const { codec } = table.parts
  yield* table.unsent.added()
  for (const part of table.state.addedEntities) yield* changedIn(part, undefined, table)
  for (const { part, snapshot } of table.changed()) yield* changedIn(part, snapshot, table)

  function* changedIn(part: object, snapshot: object | undefined, { parts }: PartTable): Iterable<ChangedPart> {
    const key = parts.keyOf(part)
    if (snapshot === undefined || !codec.hasSameFields(part, snapshot)) yield { key, part }
    for (const { part: child, codec: inner, steps } of changedBelow(part, codec, snapshot)) {
      const path = steps.map(({ field, id }) => `.${field.name}[${describeKey(id)}]`).join('')
      yield { key, part: child, below: { class: inner.model.class, path, id: steps.at(-1)!.id } }
    }
  }
}
