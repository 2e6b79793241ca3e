import { SkeinError } from '../../errors/index.js'
import { describeKey } from '../../keys/index.js'
import type { MappedClass } from '../mapping/mapped-class.js'

// Kept beside the entities and not on them.
const archived = new WeakSet()

/** Notes that the record of an entity is in the archive: a save would make a second one. */
export const noteArchived = (entity: object): void => void archived.add(entity)

export function checkNotArchived(entity: object, { codec, model: { name: className } }: MappedClass): void {
  if (!archived.has(entity)) return
  const key = codec.key.tryKeyOf(entity) ?? undefined
  throw new SkeinError('SKEIN_2319', `${className} ${describeKey(key)} is in the archive.`, {
    className,
    key,
    fix: `Bring it back with session.unarchive(${className}, key), and load it.`,
  })
}

/** Namespace of the archive of a class. */
export function archiveOf({ model }: MappedClass): string {
  if (model.archive !== undefined) return model.archive
  const { name: className } = model
  throw new SkeinError('SKEIN_2318', `${className} has no archive.`, {
    className,
    fix: `Name one: @Record({ set: '${model.set}', archive: '…' }).`,
  })
}
