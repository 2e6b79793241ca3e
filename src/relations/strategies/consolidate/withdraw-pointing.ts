import { readProperty, type ChildCodec } from '../../../codec/index.js'
import type { KeyValue } from '../../../keys/index.js'
import { refsOf } from '../../../model/index.js'
import type { Deleted, OnRollback } from '../../contract/contributor.js'
import { isEntity } from '../../contract/member.js'

import type { RefState } from '../../state/ref-state.js'
import { findRefState } from '../../state/state-of.js'
import { nestedIn } from './attach-part.js'
import type { PartClass } from './part-class.js'
import type { PartTable } from './part-table.js'
import { partsIn, type PartBelow } from './part-tree.js'

/** Names of the classes that parts, and the parts in them, point to. */
export function targetsOf({ model, children }: ChildCodec, seen = new Set<ChildCodec>()): readonly string[] {
  const below = children.map(({ codec }) => codec).filter((codec) => !seen.has(codec))
  for (const codec of below) seen.add(codec)
  return [...refsOf(model).map(({ target }) => target), ...below.flatMap((codec) => targetsOf(codec, seen))]
}

/**
 * Rolls back references of new and changed parts to what is deleted: they go along where stored ones would, or point to nothing. What was
 * stored is named by its key from now on, as in stored parts: a flush that saves the part would store it again.
 */
export function withdrawPointing(
  table: PartTable,
  changed: readonly object[],
  deleted: Deleted,
  onRollback: OnRollback,
  isPreview: boolean,
): void {
  for (const root of changed)
    for (const below of [...partsIn(root, table.parts.codec)])
      for (const { name, target } of refsOf(below.codec.model)) {
        const gone = deleted(target)
        const state = gone.size === 0 ? undefined : findRefState(readProperty(below.part, name) ?? {})
        const key = state?.key ?? null
        if (state === undefined || key === null || !gone.has(key)) continue
        if (goesAlong(table.parts, name, below)) onRollback(withdraw(table, below, isPreview))
        else if (isEntity(state.target)) onRollback(state.tentatively(() => letGo(state, key), isPreview))
      }
}

function letGo(state: RefState, key: KeyValue): void {
  if (state.binding?.reader.tracked(state.target as object) === undefined) state.set(null)
  else state.keepKey(key)
}

function goesAlong({ relation, coverage }: PartClass, ref: string, { steps }: PartBelow): boolean {
  const refs = coverage?.along(steps)?.refs ?? []
  return refs.some((each, i) => each === ref && relation.inverseIndexes![i].onTargetDelete === 'delete')
}

function withdraw(table: PartTable, { part, parent, steps }: PartBelow, isPreview: boolean): () => void {
  if (parent === undefined) return table.state.tentatively(part, () => table.exclude(part), isPreview)
  return nestedIn(readProperty(parent, steps.at(-1)!.field.name))!.withdraw(part, isPreview)
}
