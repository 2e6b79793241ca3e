import type { BinType } from './bin-type.js'
import type { EntityModel, Model } from './model.js'
import { STORED_KEYS } from './relation-model.js'
import { COMPANION_ROOT_BIN } from './reserved-bins.js'

/** A bin with the type of its value. */
interface TypedBin {
  readonly property: string
  readonly bin: string
  readonly type: BinType
}

/** Bins of the properties of a class; those of a part that is spread over bins are listed one by one. */
export function typedBins({ properties }: Pick<EntityModel, 'properties'>): readonly TypedBin[] {
  return properties.flatMap(({ name: property, bin, type }) =>
    type.kind === 'embedded' && type.shape === 'bins'
      ? type.fields.map((field) => ({ property, bin: field.bin, type: field.type }))
      : [{ property, bin, type }],
  )
}

export const isByteKeyed = (type: BinType): boolean => type.kind === 'map' && type.key === 'bytes'

export const hasByteKeys = (entity: Pick<EntityModel, 'properties'>): boolean =>
  entity.properties.some(({ type }) => isByteKeyed(type))

/**
 * Sets whose records have maps with bytes as keys, each with the bins that hold bytes. The client returns the keys of such a map as text, so
 * these records are read as raw bytes, where a list or map looks like a value of type bytes.
 */
export function byteKeyedSets({ entities }: Pick<Model, 'entities'>): ReadonlyMap<string, ReadonlySet<string>> {
  const all = [...entities.values()]
  const sets = new Map<string, Set<string>>()
  for (const { set, history, key } of all.filter(hasByteKeys)) {
    sets.set(set, new Set())
    if (history !== undefined) sets.set(history.set, new Set(key.storedKind === 'bytes' ? [COMPANION_ROOT_BIN] : []))
  }
  for (const entity of all) for (const bin of bytesBins(entity, entities)) sets.get(entity.set)?.add(bin)
  return sets
}

function bytesBins(entity: EntityModel, entities: Model['entities']): readonly string[] {
  const values = typedBins(entity).flatMap(({ bin, type }) => (type.kind === 'bytes' ? [bin] : []))
  const refs = entity.relations.flatMap(({ bin, strategy, target, several }) => {
    const isBytes = several === undefined && entities.get(target)?.key.storedKind === 'bytes'
    return isBytes && bin !== undefined && STORED_KEYS[strategy] === 'one' ? [bin] : []
  })
  return [...values, ...refs]
}
