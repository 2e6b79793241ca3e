import type { WriteOperation } from '../../../plan/operation.js'
import { removeBin } from '../../../plan/operations.js'
import type { Value } from '../../../plan/value.js'
import type { Reader } from '../../contract/reader.js'
import type { Tracked } from '../../contract/tracked.js'
import { CollectionState } from '../../state/collection-state.js'
import { InverseChanges } from './inverse-changes.js'
import { PartChanges } from './part-changes.js'
import type { PartClass } from './part-class.js'
import { PartTable } from './part-table.js'

/** Writes all children of a record into another one, as their class stores them. */
export function copiedParts(
  parts: PartClass,
  children: Value | undefined,
  owner: Tracked,
  reader: Reader,
): readonly WriteOperation[] {
  if (children == null) return []
  const table = new PartTable(new CollectionState(), parts, owner, reader)
  table.load(children)
  const changes = new PartChanges(table, new InverseChanges(parts, new Map())).gatherAll()
  return [...[...parts.maps, ...parts.orders].map(({ bin }) => removeBin(bin)), ...changes.creation()]
}
