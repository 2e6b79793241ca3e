import { readProperty, type ChildCodec } from '../../../codec/index.js'
import { refsOf, type RelationModel } from '../../../model/index.js'
import type { Deleted, OnRollback } from '../../contract/contributor.js'
import { isEntity } from '../../contract/member.js'
import { findRefState } from '../../state/state-of.js'
import type { PartTable } from './part-table.js'
import { partsIn } from './part-tree.js'

/** Names of the classes that parts, and the parts in them, point to. */
export function targetsOf({ model, children }: ChildCodec, seen = new Set<ChildCodec>()): readonly string[] {
  const below = children.map(({ codec }) => codec).filter((codec) => !seen.has(codec))
  for (const codec of below) seen.add(codec)
  return [...refsOf(model).map(({ target }) => target), ...below.flatMap((codec) => targetsOf(codec, seen))]
}

/** Rolls back references of new and changed parts to what is deleted: they go along where stored ones would, or point to nothing. */
export function withdrawPointing(
  table: PartTable,
  changed: readonly object[],
  deleted: Deleted,
  onRollback: OnRollback,
  isPreview: boolean,
): void {
  const { codec, relation } = table.parts
  for (const root of changed)
    for (const below of [...partsIn(root, codec)])
      for (const { name, target } of refsOf(below.codec.model)) {
        const gone = deleted(target)
        const state = gone.size === 0 ? undefined : findRefState(readProperty(below.part, name) ?? {})
        const key = state?.key ?? null
        if (state === undefined || key === null || !gone.has(key)) continue
        if (below.part === root && goesAlong(relation, name))
          onRollback(table.state.tentatively(root, () => table.exclude(root), isPreview))
        else if (isEntity(state.target) && state.binding?.reader.tracked(state.target) === undefined)
          onRollback(state.tentatively(() => state.set(null), isPreview))
      }
}

/** An index is about the references of a record's own children, not of the parts in these. */
function goesAlong({ inverseIndexes = [] }: RelationModel, ref: string): boolean {
  return inverseIndexes.some((index) => index.ref === ref && index.onTargetDelete === 'delete')
}
