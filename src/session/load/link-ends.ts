import { readProperty } from '../../codec/index.js'
import { SkeinError } from '../../errors/index.js'
import type { KeyValue } from '../../keys/index.js'
import { isEntity } from '../../relations/contract/member.js'
import type { Reader } from '../../relations/contract/reader.js'
import { findCollectionState } from '../../relations/state/state-of.js'
import type { MappedClass } from '../mapping/mapped-class.js'

/** The parts of the key of a link record, of its two ends in the order of its key; each is an entity or its key. */
export function keyOfEnds(
  { model }: MappedClass,
  ends: readonly [object | KeyValue, object | KeyValue],
  reader: Reader,
): { readonly [ref: string]: KeyValue } {
  const { name: className, key, relations } = model
  const refs = key.properties.flatMap((name) => relations.find((each) => each.name === name) ?? [])
  if (refs.length !== 2)
    throw new SkeinError('SKEIN_2407', `The key of ${className} is not made of two references.`, {
      className,
      fix: `linkOf is for link records: @Record({ key: '{from}:{to}' }). Load others with find(${className}, key).`,
    })
  return Object.fromEntries(
    refs.map(({ name, target }, i) => [name, keyOfEnd(ends[i], className, name, target, reader)]),
  )
}

/** The link as an unsent change of the session has it, null where that ends it; undefined where there is none. */
export function unsentLink(
  { model }: MappedClass,
  ends: { readonly [ref: string]: KeyValue },
  reader: Reader,
): object | null | undefined {
  const key = reader.keyOfParts(model, ends)
  for (const { name, target, inverse } of model.relations) {
    const end = name in ends && inverse !== undefined ? reader.known(target, ends[name])?.entity : undefined
    const state = end && findCollectionState(readProperty(end, inverse!) ?? {})
    if (state?.isRemoved(key) === true) return null
    const added = state?.findAdded(key)
    if (isEntity(added)) return added
  }
  return undefined
}

function keyOfEnd(
  end: object | KeyValue,
  className: string,
  property: string,
  target: string,
  reader: Reader,
): KeyValue {
  if (!isEntity(end)) {
    // Refuses a key of another type, under which there can be no link.
    reader.recordKey(reader.entityModel(target), end)
    return end
  }
  if (!(end instanceof reader.entityModel(target).class))
    throw new SkeinError('SKEIN_2408', `linkOf: ${className}.${property} is of ${target}.`, {
      className,
      property,
      fix: `Give a ${target} or its key; the ends are in the order of the key of ${className}.`,
    })
  const key = reader.keyOf(end, target)
  if (key !== null) return key
  throw new SkeinError('SKEIN_2305', `linkOf: the ${target} has no key yet.`, { className, fix: 'Save it first.' })
}
