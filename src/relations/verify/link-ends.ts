import type { PartCodec } from '../../codec/index.js'
import type { EntityModel } from '../../model/index.js'
import { binEquals, write, type Guard, type WriteCommand } from '../../plan/command.js'
import { bin, binExists, eq, listCount, mapCount, mapGet, value } from '../../plan/expression.js'
import type { WriteOperation } from '../../plan/operation.js'
import { removeBin, writeBin } from '../../plan/operations.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import { NOT_DELETING, linked, listed, unlinked, unlisted } from '../write/key-list-bin.js'
import { mapBin } from '../write/link-bin.js'
import type { LinkEnd } from '../contract/link-verification.js'

/** Facts of a relation that an end needs. */
interface StoredRelation {
  readonly name: string
  readonly bin?: string
}

/** The end that has the other's key in a bin. */
export function binEnd(model: EntityModel, relation: StoredRelation, key: RecordKey, other: UserKey): LinkEnd {
  const name = relation.bin!
  const isKey = isUserKey(other)
  return {
    model,
    key,
    property: relation.name,
    holds: isKey ? eq(bin(typeOf(other), name), value(other)) : binExists(name),
    // Whom the bin names already is for its own record to say.
    add: () => binWrite(model, key, writeBin(name, other), [binEquals(name, null), NOT_DELETING]),
    // Without a part of its key nobody could read the record.
    ...(!model.key.properties.includes(relation.name) && {
      remove: binWrite(model, key, removeBin(name), isKey ? [binEquals(name, other)] : []),
    }),
  }
}

function binWrite(
  model: EntityModel,
  key: RecordKey,
  operation: WriteOperation,
  guards: readonly Guard[],
): WriteCommand {
  return write(model.name, key, [operation], { exists: 'mustExist', ttl: 'keep', guards })
}

/** The end that has the other's key on a list. */
export function listEnd(model: EntityModel, relation: StoredRelation, key: RecordKey, other: UserKey): LinkEnd {
  const name = relation.bin!
  return {
    model,
    key,
    property: relation.name,
    holds: listCount(bin('list', name), other),
    add: () => listed(model, key, name, other),
    remove: unlisted(model, key, name, other),
  }
}

/** The end that has the other's key in a map, with the attributes of the link. */
export function mapEnd(
  model: EntityModel,
  relation: StoredRelation,
  key: RecordKey,
  other: UserKey,
  attributes: PartCodec,
): LinkEnd {
  const end = { model, key, bin: relation.bin! }
  const map = bin('map', end.bin)
  return {
    model,
    key,
    property: relation.name,
    holds: mapCount(map, other),
    carries: mapGet(map, other, 'map'),
    // Through the codec, because the client does not give back every number as it was stored.
    add: (carried) =>
      linked(mapBin, end, other, carried === undefined ? undefined : attributes.encode(attributes.decode(carried), 1)),
    remove: unlinked(mapBin, end, [other]),
  }
}

/** False for what only somebody else can have stored in the place of a key. */
export function isUserKey(stored: unknown): stored is UserKey {
  if (typeof stored === 'string') return stored !== ''
  if (stored instanceof Uint8Array) return stored.length > 0
  return typeof stored === 'bigint' || Number.isInteger(stored)
}

const typeOf = (key: UserKey): 'str' | 'blob' | 'int' =>
  typeof key === 'string' ? 'str' : key instanceof Uint8Array ? 'blob' : 'int'
