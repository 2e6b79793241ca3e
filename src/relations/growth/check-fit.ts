import type { EntityModel } from '../../model/index.js'
import { read } from '../../plan/command.js'
import { recordSize } from '../../plan/expression.js'
import { readExpression } from '../../plan/operations.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { SplitAccess } from '../../plan/split-access.js'
import { tooMany } from '../contract/companion-errors.js'
import type { GrowingScheme } from './growing-scheme.js'
import type { Shards } from './placement.js'

const SIZE = '_sk.size'

/** Part of the largest record that members may fill when they move into fewer: others may add to them meanwhile. */
const ROOM = 0.5

/** Refuses to move members into fewer records than they fit in: such a move would never end. */
export async function checkFit(
  owner: RecordKey,
  from: Shards,
  to: Shards,
  { name: property, model }: { readonly name: string; readonly model: EntityModel },
  scheme: GrowingScheme,
  access: SplitAccess,
): Promise<void> {
  if (to > from && to > 1) return
  const size = [readExpression(SIZE, recordSize())]
  const records = await access.read(scheme.homes(owner, from).map((home) => read(model.name, home, 'none', size)))
  const bytes = records.reduce((sum, record) => sum + Number(record?.bins[SIZE] ?? 0), 0)
  const most = Math.floor(access.maxRecordSize(owner.namespace) * ROOM)
  const homes = Math.max(1, to)
  if (bytes > most * homes) throw tooMany(model, owner.key, property, bytes, Math.ceil(bytes / most))
}
