import type { PartCodec } from '../../codec/index.js'
import type { EntityModel } from '../../model/index.js'
import { binEquals, NOT_DELETING, write, type Guard, type WriteCommand } from '../../plan/command.js'
import { bin, binExists, eq, listCount, mapCount, mapGet, value } from '../../plan/expression.js'
import type { WriteOperation } from '../../plan/operation.js'
import { removeBin, writeBin } from '../../plan/operations.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { MemberStore } from '../contract/member-store.js'
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
    // A bin that names another record already is left to the check of that record.
    add: () => binWrite(model, key, writeBin(name, other), [binEquals(name, null), NOT_DELETING]),
    // Without a part of its key nobody could read the record.
    ...(!model.key.properties.includes(relation.name) && {
      remove: () => binWrite(model, key, removeBin(name), isKey ? [binEquals(name, other)] : []),
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
export function listEnd(store: MemberStore, property: string, owner: RecordKey, other: UserKey): LinkEnd {
  return {
    ...endIn(store, property, owner, other),
    holds: listCount(bin('list', store.bin), other),
    add: (_, isHomeThere) => store.addition({ owner, member: other, isRepair: true }, isHomeThere),
  }
}

function endIn(store: MemberStore, property: string, owner: RecordKey, member: UserKey): LinkEnd {
  return {
    model: store.model,
    key: owner,
    property,
    ...(store.isApart && { apart: { store, member, home: () => store.homeOf(owner, member) } }),
    remove: (home) => store.removal({ owner, member }, placeOf(store, home)),
  }
}

/** The record to take a member out of; undefined where its key says it. */
export const placeOf = (store: MemberStore, home: RecordKey | undefined): RecordKey | undefined =>
  store.lookup === undefined ? undefined : home

/** The end that has the other's key in a map, with the attributes of the link. */
export function mapEnd(
  store: MemberStore,
  property: string,
  owner: RecordKey,
  other: UserKey,
  codec: PartCodec,
): LinkEnd {
  const map = bin('map', store.bin)
  return {
    ...endIn(store, property, owner, other),
    holds: mapCount(map, other),
    carries: mapGet(map, other, 'map'),
    // Ended links are checked by themselves.
    remove: (home) => store.removal({ owner, member: other, endedAt: null }, placeOf(store, home)),
    // Through the codec, because the client does not give back every number as it was stored.
    add(carried, isHomeThere) {
      const attributes = carried === undefined ? undefined : codec.encode(codec.decode(carried), 1)
      return store.addition({ owner, member: other, attributes, isRepair: true }, isHomeThere)
    },
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
