import type { KeyValue } from '../../keys/index.js'
import { DELETING_BIN, goneBinsOf, isShown, type DeletedMode } from '../../model/index.js'
import { onlyIf, read } from '../../plan/command.js'
import { farKey, type LinkClass } from '../../relations/contract/link-class.js'
import { isEntity } from '../../relations/contract/member.js'
import type { Reader } from '../../relations/contract/reader.js'
import type { CollectionState } from '../../relations/state/collection-state.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import { isEntityShown } from '../tracking/soft-deleted.js'
import type { Hop } from './hop.js'

/** Keys that link records lead to: the records are asked, because a list may name one that has expired, or was deleted softly. */
export async function followLinks(
  links: LinkClass,
  keys: readonly KeyValue[],
  hop: Hop,
  reader: Reader,
  deleted: DeletedMode | undefined,
  state: CollectionState | undefined,
): Promise<readonly KeyValue[]> {
  const found = await Promise.all(
    keys.map(async (key) => {
      const unsent = state?.findAdded(key)
      return isEntity(unsent) ? isMatch(unsent, hop) : isThere(links, key, hop, reader, deleted)
    }),
  )
  return keys.filter((_, i) => found[i]).map((key) => farKey(links, key, reader))
}

/** The server does not know the values of a link that was made or changed here. */
function isMatch(link: object, { linkFilter, linkMatch }: Hop): boolean {
  return linkFilter === undefined || linkMatch?.(link) === true
}

async function isThere(
  { model }: LinkClass,
  key: KeyValue,
  { linkFilter }: Hop,
  reader: Reader,
  deleted: DeletedMode | undefined,
): Promise<boolean> {
  const known = reader.known(model.name, key) as ManagedEntity | undefined
  if (known !== undefined && (known.shownState === 'removed' || !isEntityShown(known, deleted))) return false
  if (known !== undefined && !known.isUnread && linkFilter === undefined) return true
  const record = reader.recordKey(model, key)
  if (linkFilter !== undefined)
    return (await reader.read([onlyIf(read(model.name, record, 'none'), linkFilter)]))[0] !== null
  const [stored] = await reader.read([read(model.name, record, goneBinsOf(model))])
  return stored !== null && !(DELETING_BIN in stored.bins) && isShown(model, stored.bins, deleted)
}
