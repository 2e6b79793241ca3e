import { tagKey, type KeyValue } from '../keys/index.js'
import { HELD, REF, type EntityModel, type RelationModel } from '../model/index.js'

/** A Ref, of this copy of the package or of another one. */
export interface RefLike {
  readonly key: KeyValue | null
  readonly [HELD]?: object | KeyValue | null
}

export function isRefLike(value: unknown): value is RefLike {
  return typeof value === 'object' && value !== null && REF in value
}

/** The codec of an entity. */
export type CodecOf = (entity: object) => {
  readonly key: { keyOf(entity: object): KeyValue; tryKeyOf(entity: object): KeyValue | null }
  readonly model: Pick<EntityModel, 'set'>
}

/**
 * The key that a reference stores. Outside a session a Ref knows neither a key that is made of a template nor the set of what it holds: the
 * class of the entity says both. `isNeeded`: throws where it has no key yet.
 */
export function heldKey(
  ref: RefLike,
  { several }: Pick<RelationModel, 'several'>,
  codecOf: CodecOf,
  isNeeded = false,
): KeyValue | null {
  const held = ref[HELD]
  if (typeof held !== 'object' || held === null || held instanceof Uint8Array) return ref.key
  const known = several === undefined ? ref.key : null
  if (known !== null) return known
  const { key, model } = codecOf(held)
  const own = isNeeded ? key.keyOf(held) : key.tryKeyOf(held)
  if (several === undefined) return own
  return own === null ? null : tagKey(model.set, own)
}
