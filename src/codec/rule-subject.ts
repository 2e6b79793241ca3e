import type { BinType, EmbeddableModel, EntityClass, EntityModel, Model } from '../model/index.js'
import { defineProperty, readProperty } from './own-property.js'

/** Deeper parts are refused by the codec, circular ones among them. */
const MAX_DEPTH = 60

/**
 * The object that class-validator is shown. It finds rules by `constructor`, which plain data lacks and a request body may replace:
 * such instances, and such parts in them, are shown as copies of their mapped class.
 */
export function ruleSubject(
  instance: object,
  mappedClass: EntityClass,
  model: EntityModel | EmbeddableModel,
  parts: Model,
  depth = 0,
): object {
  const shown = new Map<string, unknown>()
  for (const { name, type } of model.properties) {
    if (type.kind !== 'embedded') continue
    const value = readProperty(instance, name)
    const subject = partSubjects(type, value, parts, depth)
    if (subject !== value) shown.set(name, subject)
  }
  const isOwnClass = instance instanceof mappedClass && !Object.hasOwn(instance, 'constructor')
  return isOwnClass && shown.size === 0 ? instance : copyOf(instance, mappedClass, shown)
}

function copyOf(instance: object, mappedClass: EntityClass, shown: ReadonlyMap<string, unknown>): object {
  const proto: unknown = instance instanceof mappedClass ? Object.getPrototypeOf(instance) : mappedClass.prototype
  const copy = Object.create(proto as object) as object
  for (const name of Object.keys(instance)) {
    if (name !== 'constructor') defineProperty(copy, name, shown.get(name) ?? readProperty(instance, name))
  }
  return copy
}

function partSubjects(type: BinType & { kind: 'embedded' }, value: unknown, parts: Model, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value
  const model = parts.embeddable(type.part)
  const one = (part: unknown): unknown =>
    typeof part === 'object' && part !== null ? ruleSubject(part, model.class, model, parts, depth + 1) : part
  if (type.shape === 'array') {
    return Array.isArray(value) && value.some((part) => one(part) !== part) ? value.map(one) : value
  }
  if (type.shape !== 'map') return one(value)
  if (!(value instanceof Map) || ![...value.values()].some((part) => one(part) !== part)) return value
  return new Map([...value].map(([key, part]) => [key, one(part)]))
}

/** Paths of parts, and of the instance itself, whose own `constructor` hides their class without being a stored property. */
export function hiddenClasses(
  instance: object,
  model: EntityModel | EmbeddableModel,
  parts: Model,
  path = '',
  depth = 0,
): readonly string[] {
  const found: string[] = []
  const isMapped = model.properties.some(({ name }) => name === 'constructor')
  if (!isMapped && Object.hasOwn(instance, 'constructor')) found.push(`${path}constructor`)
  for (const { name, type } of depth > MAX_DEPTH ? [] : model.properties) {
    if (type.kind !== 'embedded') continue
    const part = parts.embeddable(type.part)
    for (const [place, each] of partsIn(readProperty(instance, name))) {
      found.push(...hiddenClasses(each, part, parts, `${path}${name}${place}.`, depth + 1))
    }
  }
  return found
}

function* partsIn(value: unknown): Iterable<[place: string, part: object]> {
  if (typeof value !== 'object' || value === null) return
  const many = Array.isArray(value) ? value.entries() : value instanceof Map ? value.entries() : undefined
  if (many === undefined) yield ['', value]
  for (const [at, part] of many ?? []) {
    if (typeof part === 'object' && part !== null) yield [`[${String(at)}]`, part as object]
  }
}
