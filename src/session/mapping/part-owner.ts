import { SkeinError } from '../../errors/index.js'
import { partAddress } from '../../keys/index.js'
import type { EntityClass } from '../../model/index.js'
import type { MappedClass } from './mapped-class.js'
import type { MappedClasses } from './mapped-classes.js'
import type { KeyInput } from '../context/session-types.js'

/** Location of a stored part. */
interface PartHome {
  readonly owner: MappedClass
  readonly key: KeyInput
  /** Key of the part itself. */
  readonly id: string
  /** The collection that has it. */
  readonly relation: string
}

/** Reads from a part's own id which record holds it. */
export function partHome(partClass: EntityClass, id: KeyInput, classes: MappedClasses): PartHome {
  const { model, key } = classes.codecs.part(partClass)
  const homes = [...classes.model.entities.values()].flatMap((entity) =>
    entity.relations.filter(({ target }) => target === model.name).map((relation) => ({ entity, relation })),
  )
  const format = key?.scheme.format
  const parent = model.key?.parent
  if (homes.length !== 1 || format === undefined || parent === undefined) throw noHome(model.name, homes.length)
  const [{ entity, relation }] = homes
  const text = key!.scheme.toKey(id) as string
  return {
    owner: classes.of(entity.name),
    id: text,
    key: partAddress(format, parent, text).recordKey as KeyInput,
    relation: relation.name,
  }
}

function noHome(name: string, homes: number): SkeinError {
  const why = homes === 1 ? 'their id does not hold the key of their record' : `${homes} relations store them`
  return new SkeinError('SKEIN_2422', `The parts of ${name} cannot be found by their own id: ${why}.`, {
    className: name,
    fix: "Store them as consolidate in one class, with an id such as @Embeddable({ key: '{regionId}:{storeId}', parent: 'regionId' }); or load the record and call get() of its collection.",
  })
}
