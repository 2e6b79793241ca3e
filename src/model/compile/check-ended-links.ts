import type { BinType } from '../bin-type.js'
import type { EmbeddableModel, EntityModel } from '../model.js'
import type { Problems } from './problems.js'

type Parts = ReadonlyMap<string, EmbeddableModel>

/** Checks that a part with `@DeletedAt` is only used for the attributes of links, and chooses no bucket of theirs. */
export function checkEndedLinks(entities: Iterable<EntityModel>, parts: Parts, problems: Problems): void {
  for (const { name: className, properties, relations } of [...entities, ...parts.values()]) {
    for (const { name: property, type } of properties) {
      const part = partsIn(type)
        .map((name) => parts.get(name))
        .find((each) => each?.deletedAt !== undefined)
      if (part !== undefined) refuse(part, 'embedded', { className, property }, problems)
    }
    for (const { name: property, target, attributes, companions } of relations) {
      const child = parts.get(target)
      if (child?.deletedAt !== undefined) refuse(child, 'consolidated', { className, property }, problems)
      const on = companions?.buckets?.on
      if (on === undefined || attributes === undefined || parts.get(attributes)?.deletedAt !== on) continue
      const message = `on: '${on}' is the time at which a link is ended, so that links have no date until then.`
      problems.add('SKEIN_1051', { className, property }, message, 'Leave out on, or name another date.')
    }
  }
}

function refuse(
  { name, deletedAt }: EmbeddableModel,
  how: string,
  place: { readonly className: string; readonly property: string },
  problems: Problems,
): void {
  const message = `${name} has a @DeletedAt (${deletedAt}), which is for records and for the attributes of links; here it is ${how}.`
  problems.add('SKEIN_1026', place, message, `Make ${deletedAt} a @Bin, or use another class.`)
}

/** Classes of the parts that a value is made of. */
function partsIn(type: BinType): readonly string[] {
  if (type.kind === 'embedded') return [type.part]
  if (type.kind === 'map') return partsIn(type.value)
  return type.kind === 'list' ? partsIn(type.item) : []
}
