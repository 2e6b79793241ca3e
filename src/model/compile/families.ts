import type { DiscriminatorModel } from '../model.js'
import type { EntityNotes } from './compilation.js'
import type { Problems } from './problems.js'

/** Classes that share a set are told apart by the discriminator of their common base class. */
export function checkFamilies(entities: Iterable<EntityNotes>, problems: Problems): void {
  const bySet = new Map<string, EntityNotes[]>()
  for (const entity of entities) {
    const place = `${entity.namespace}\0${entity.set}`
    bySet.set(place, [...(bySet.get(place) ?? []), entity])
  }
  for (const family of bySet.values()) {
    checkToldApart(family, problems)
    checkValues(family, problems)
  }
}

function checkToldApart(family: readonly EntityNotes[], problems: Problems): void {
  const [first, ...others] = family.toSorted((a, b) => depth(a) - depth(b))
  for (const other of others) {
    const related = other.class.prototype instanceof first.class
    if (related && first.options.discriminator !== undefined) continue
    const message = `It is stored in the set '${other.set}', like ${first.name}, and nothing tells them apart.`
    const fix = related
      ? `Name the bin on ${first.name}: @Record({ set: '${first.set}', discriminator: 'kind' }), or give ${other.name} a set of its own.`
      : `Give ${other.name} a set of its own, or let it extend ${first.name} with @Record({ discriminator: 'kind' }).`
    problems.add('SKEIN_1034', { className: other.name }, message, fix)
  }
}

function checkValues(family: readonly EntityNotes[], problems: Problems): void {
  const taken = new Map<unknown, string>()
  for (const entity of family) {
    const { discriminator, discriminatorValue: value } = entity.record ?? {}
    const place = { className: entity.name }
    if (entity.options.discriminator === undefined) {
      if (value === undefined) continue
      const message = 'It has a discriminatorValue, but no base class names the bin for it.'
      problems.add('SKEIN_1035', place, message, "Add discriminator: 'kind' to the @Record of the base class.")
    } else if (entity.base && discriminator !== undefined && family.some((other) => other.class === entity.base)) {
      const message = 'It names a discriminator, which its base class already does.'
      problems.add('SKEIN_1035', place, message, 'Leave discriminator out here; give only discriminatorValue.')
    } else if (value === undefined) {
      if (family.some((other) => other.class.prototype instanceof entity.class)) continue
      const message = `Nothing says which value of the bin '${entity.options.discriminator}' means ${entity.name}.`
      problems.add('SKEIN_1035', place, message, "Add discriminatorValue: '…' to its @Record.")
    } else if (taken.has(value)) {
      const message = `Its discriminatorValue '${value}' is also that of ${taken.get(value)}.`
      problems.add('SKEIN_1036', place, message, 'Give it another value.')
    } else {
      taken.set(value, entity.name)
    }
  }
}

/** Tells how an entity's class is told from others of its set, and which classes may come back when it is loaded. */
export function compileDiscriminator(
  entity: EntityNotes,
  entities: Iterable<EntityNotes>,
): DiscriminatorModel | undefined {
  const bin = entity.options.discriminator
  if (bin === undefined) return undefined
  const value = entity.record?.discriminatorValue
  const subclasses = [...entities]
    .filter((other) => other === entity || (other.class.prototype instanceof entity.class && other.set === entity.set))
    .flatMap((other) => {
      const otherValue = other.record?.discriminatorValue
      return otherValue === undefined ? [] : [{ value: otherValue, entity: other.name }]
    })
  return { bin, ...(value !== undefined && { value }), subclasses }
}

function depth({ class: target }: EntityNotes): number {
  let length = 0
  for (let c: unknown = target; typeof c === 'function'; c = Object.getPrototypeOf(c)) length++
  return length
}
