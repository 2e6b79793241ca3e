import { readProperty } from '../../codec/index.js'
import { SkeinError } from '../../errors/index.js'
import type { KeyValue } from '../../keys/index.js'
import { describeKey } from '../../keys/index.js'
import type { EntityModel, PropertyModel } from '../../model/index.js'
import { binEquals, type Guard } from '../../plan/command.js'
import { bin, binExists, eq, not, or, value } from '../../plan/expression.js'
import type { Value } from '../../plan/value.js'
import { expressionTypeOf } from '../../query/fields-of.js'
import type { ManagedEntity } from './managed-entity.js'

const NONE: readonly never[] = Object.freeze([])

/** Throws where a stored value was changed that never changes; where there was none, the guards see to it that there still is none. */
export const guardImmutable = (managed: ManagedEntity): readonly Guard[] =>
  managed.mapped.immutable.length === 0 ? NONE : guardsOfChanged(managed)

function guardsOfChanged(managed: ManagedEntity): readonly Guard[] {
  const { mapped, entity, snapshot, loaded } = managed
  return mapped.immutable.flatMap((property): readonly Guard[] => {
    const isKnown = loaded === undefined || loaded.has(property.name)
    if (!isKnown || !mapped.codec.isChanged(entity, snapshot!, property.name)) return NONE
    if (mapped.codec.isStored(snapshot!, property.name)) throw changed(managed, property.name)
    return [binEquals(property.bin, null)]
  })
}

/** Guards an upsert: the server compares what is not known to be stored. */
export function guardImmutableUpsert(managed: ManagedEntity): readonly Guard[] {
  const { mapped, entity, snapshot, isUnread } = managed
  if (mapped.immutable.length === 0) return NONE
  if (snapshot !== undefined && !isUnread) guardImmutable(managed)
  return mapped.immutable.map((property) => unlessOther(managed, property, readProperty(entity, property.name)))
}

function unlessOther(managed: ManagedEntity, property: PropertyModel, given: unknown): Guard {
  const { model, mapped, key, entity } = managed
  const { name, bin: binName } = property
  const isMissing = not(binExists(binName))
  if (given === undefined || given === null)
    return Object.freeze({ kind: 'filter', expression: isMissing, immutable: name })
  const type = expressionTypeOf(property.type)
  if (type === undefined) throw notComparable(model, name, key.key)
  const [operation] = mapped.codec.binOperations(entity, name) as readonly { readonly value: Value }[]
  const expression = or(isMissing, eq(bin(type, binName), value(operation.value)))
  return Object.freeze({ kind: 'filter', expression, immutable: name })
}

function changed({ model, key }: ManagedEntity, property: string): SkeinError {
  return immutableChanged(model, key.key, property)
}

export function immutableChanged({ name: className }: EntityModel, key: KeyValue, property: string): SkeinError {
  const message = `${className} ${describeKey(key)}: ${property} never changes once it is stored.`
  return new SkeinError('SKEIN_2210', message, {
    className,
    property,
    key,
    fix: `Leave ${property} as it was loaded, or store another entity with the new value.`,
  })
}

function notComparable({ name: className }: EntityModel, property: string, key: KeyValue): SkeinError {
  const message = `${className} ${describeKey(key)}: the server cannot compare ${property}, which never changes, with what an upsert brings.`
  return new SkeinError('SKEIN_2210', message, {
    className,
    property,
    key,
    fix: 'Save a new entity, or load and change it.',
  })
}
