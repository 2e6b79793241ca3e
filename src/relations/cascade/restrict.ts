import type { KeyValue } from '../../keys/index.js'
import { goneBinsOf, isGoneBy, type EntityModel, type RelationModel } from '../../model/index.js'
import { read } from '../../plan/command.js'
import type { StoredRecord } from '../../plan/outcome.js'
import { userKeyId, type UserKey } from '../../plan/record-key.js'
import { parentRef } from '../state/state-of.js'
import type { Tracked } from '../contract/tracked.js'
import { modelAt, storedRef } from '../contract/member.js'
import type { Reader } from '../contract/reader.js'
import type { Cascade } from '../contract/contributor.js'

/** Records that are looked at together, until one is found that forbids the delete. */
const STEP = 100

/** Members of a relation that forbids the delete of its owner. */
interface Forbidding {
  readonly owner: Tracked
  readonly target: EntityModel
  /** The reference that a member's own record has to its owner, where that is the truth of the relation. */
  readonly inverse: RelationModel | undefined
  readonly reach: Cascade
  readonly reader: Reader
}

/** Of these listed keys, the first one whose record is there, belongs here and stays. */
export async function firstForbidding(keys: readonly KeyValue[], relation: Forbidding): Promise<KeyValue | undefined> {
  const { owner, target, inverse, reader } = relation
  const staying = keys.filter((key) => !leaves(key, relation))
  const own = inverse === undefined ? [] : [inverse.bin!]
  const isHere = (model: EntityModel, record: StoredRecord | null): boolean => {
    if (record === null || isGoneBy(model, record.bins)) return false
    if (inverse === undefined) return true
    const named = record.bins[inverse.bin!] as UserKey | undefined
    return named !== undefined && userKeyId(named) === userKeyId(storedRef(inverse, owner.key))
  }
  for (let from = 0; from < staying.length; from += STEP) {
    const step = staying.slice(from, from + STEP)
    const members = step.map((key) => reader.recordKey(target, key))
    const models = members.map((member) => modelAt(target, member))
    const records = await reader.read(
      members.map((member, i) => read(models[i].name, member, [...own, ...goneBinsOf(models[i])])),
    )
    const first = step.find((_, i) => isHere(models[i], records[i]))
    if (first !== undefined) return first
  }
  return undefined
}

/** True when this session deletes the member or moves it away: then it takes part in the same flush, or in the one around it. */
export function leaves(key: KeyValue, { owner, target, inverse, reach, reader }: Forbidding): boolean {
  if (reach.isDeletedAround(reader.recordKey(target, key))) return true
  const known = reader.known(target.name, key)
  if (known?.state === 'removed') {
    reach.join(known.entity)
    return true
  }
  if (known === undefined || inverse === undefined) return false
  const ref = parentRef(known.entity, inverse)
  if (ref.isStored || ref.mayBeAt(owner.entity)) return false
  reach.save(known.entity)
  return true
}
