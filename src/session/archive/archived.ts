import { SkeinError } from '../../errors/index.js'
import { describeKey } from '../../keys/index.js'
import { checkChoice } from '../../model/call-options.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { archivedWith } from './move-members.js'
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

/** Refuses to archive a record by itself that its parent lists: it goes with the parent. */
export function checkAlone(mapped: MappedClass, classes: MappedClasses): void {
  const owner = archivedWith(mapped, classes)
  if (owner === undefined) return
  const { name: className } = mapped.model
  throw new SkeinError('SKEIN_2318', `A ${className} is archived with the ${owner} that it belongs to.`, {
    className,
    fix: `Archive the ${owner}.`,
  })
}

/** Classes as `verify` is asked to look at them. */
export function verifiedClasses(
  classes: MappedClasses,
  verified: readonly MappedClass[],
  from: unknown,
): MappedClasses {
  checkChoice('from', from, ['archive'])
  if (from === undefined) return classes
  for (const mapped of verified) archiveOf(mapped)
  return classes.archived
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
