import type { EntityClass } from '../model.js'
import type { RecordOptions } from '../options.js'
import type { ClassNotes } from './class-notes.js'
import type { Problems } from './problems.js'

/** A class that is stored as records, with the options it inherits filled in. */
export interface EntityNotes extends ClassNotes {
  readonly kind: 'entity'
  readonly options: RecordOptions
  readonly namespace: string
  readonly set: string
}

/** A class that is stored inside records. */
export interface PartNotes extends ClassNotes {
  readonly kind: 'embeddable'
}

/** State that all steps of compiling a model share: its classes, and the list of problems. */
export interface Compilation {
  readonly problems: Problems
  readonly entities: ReadonlyMap<EntityClass, EntityNotes>
  readonly parts: ReadonlyMap<EntityClass, PartNotes>
}

/** Mapped classes of both kinds, by class. */
export function findNotes({ entities, parts }: Compilation, target: EntityClass): EntityNotes | PartNotes | undefined {
  return entities.get(target) ?? parts.get(target)
}
