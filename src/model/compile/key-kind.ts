import type { KeyKind } from '../../keys/index.js'
import { isNote } from '../declaration.js'
import type { EntityNotes, PartNotes } from './compilation.js'
import { typeOfProperty } from './value-type.js'

/** The template of a class that makes its key of several properties. */
export function keyTemplate(notes: EntityNotes | PartNotes): string | undefined {
  return notes.kind === 'entity' ? notes.options.key : notes.embeddable?.key
}

/** Properties with `@Key`. */
export function keyProperties(notes: EntityNotes | PartNotes): string[] {
  return [...notes.members].filter(([, all]) => all.some((note) => isNote(note, 'Key'))).map(([property]) => property)
}

/** The type of the finished key of a class, when it can be told. */
export function keyKind(notes: EntityNotes | PartNotes): KeyKind | undefined {
  if (keyTemplate(notes) !== undefined) return 'string'
  const [property] = keyProperties(notes)
  const kind = property === undefined ? undefined : typeOfProperty(notes, property)?.kind
  return kind === 'string' || kind === 'int' || kind === 'bigint' || kind === 'bytes' ? kind : undefined
}
