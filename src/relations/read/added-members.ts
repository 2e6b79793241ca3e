import type { KeyValue } from '../../keys/index.js'
import { userKeyId } from '../../plan/record-key.js'
import type { Binding } from '../contract/binding.js'
import { isEntity, type Member } from '../contract/member.js'

/** The entities of members, in their order; those that are known by their keys alone are loaded, and those without a record left out. */
export async function entitiesOf(members: readonly Member[], { reader, relation }: Binding): Promise<object[]> {
  const keys = members.filter((member): member is KeyValue => !isEntity(member))
  if (keys.length === 0) return members.filter(isEntity)
  const found = await reader.find(reader.entityModel(relation.target), keys)
  await reader.load(found.filter((tracked) => tracked !== null))
  const byKey = new Map(keys.map((key, i) => [userKeyId(key), found[i]?.entity]))
  return members.flatMap((member) => (isEntity(member) ? member : (byKey.get(userKeyId(member)) ?? [])))
}
