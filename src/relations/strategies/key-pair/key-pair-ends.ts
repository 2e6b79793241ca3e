import type { EntityModel, RelationModel } from '../../../model/index.js'
import { read } from '../../../plan/command.js'
import { recordId, type RecordKey, type UserKey } from '../../../plan/record-key.js'
import type { Tracked } from '../../contract/tracked.js'
import { isCreation } from '../../contract/member.js'
import type { Reader } from '../../contract/reader.js'
import { keepHeld, keepInKey } from '../../write/ref-in-key.js'

/** Either of the two records that point to each other. */
export interface End {
  readonly model: EntityModel
  readonly relation: RelationModel
  readonly key: RecordKey
  readonly tracked: Tracked | undefined
}

/** A record that shall no longer point to another, if it still does. */
export interface Parting {
  readonly from: End
  readonly to: End
}

/** Reads the keys that the records point to now, all at once. */
export async function keysIn(ends: readonly End[], reader: Reader): Promise<(UserKey | undefined)[]> {
  const records = await reader.read(ends.map(({ model, key, relation }) => read(model.name, key, [relation.bin!])))
  return ends.map(({ relation }, i) => records[i]?.bins[relation.bin!] as UserKey | undefined)
}

/** Throws where one of the two has another partner in its key. */
export function keepPair(here: End, to: End | undefined, reader: Reader): void {
  if (!isCreated(here)) keepInKey(here.model, here.relation, here.key, to?.key.key ?? null, reader)
  if (to !== undefined && !isNew(to)) keepInKey(to.model, to.relation, to.key, here.key.key, reader)
}

/** Throws where the former partner has this one in its key, and stays. */
export function keepPartner({ model, relation, key, tracked }: End, here: End, reader: Reader): void {
  if (tracked?.state !== 'removed') keepHeld(model, relation, key, here.key.key, reader)
}

/** True where the record is deleted only while it points to its partner: it must not be cleared before. */
export const isDeletedAsPartner = ({ relation, tracked }: End): boolean =>
  tracked?.state === 'removed' &&
  tracked.deleteGuards.some((guard) => guard.kind === 'binEquals' && guard.bin === relation.bin)

export const parting = (from: End, to: End): Parting => ({ from, to })
export const pointId = ({ key, relation }: End): string => `${recordId(key)}#${relation.bin!}`
export const clearId = (stage: string, from: End, to: End): string => `${stage} ${pointId(from)} -> ${recordId(to.key)}`
/** Another record on the same side. */
export const endAt = (end: End, key: UserKey): End => ({ ...end, key: { ...end.key, key }, tracked: undefined })
export const isNew = ({ tracked }: End): boolean => tracked?.state === 'new'
export const isCreated = ({ tracked }: End): boolean => tracked !== undefined && isCreation(tracked)
export const pairId = (owner: End, other: End): string => `${recordId(owner.key)} ~ ${recordId(other.key)}`
