import { parseTemplate, storedKindOf, type KeyKind } from '../../keys/index.js'
import { isNote } from '../declaration.js'
import type { EntityNotes, PartNotes } from './compilation.js'
import { typeOfProperty } from './value-type.js'

/** The template of a class that makes its key of several properties. */
export function keyTemplate(notes: EntityNotes | PartNotes): string | undefined {
  return notes.kind === 'entity' ? notes.options.key : notes.embeddable?.key
}

/** True when the tenant of the session enters the keys of a class. */
export function hasTenants(notes: EntityNotes | PartNotes): boolean {
  return notes.kind === 'entity' && notes.options.tenant === true
}

/** Properties with `@Key`. */
export function keyProperties(notes: EntityNotes | PartNotes): string[] {
  return [...notes.members].filter(([, all]) => all.some((note) => isNote(note, 'Key'))).map(([property]) => property)
}

/** The type of the key of a class as people use it, when it can be told. */
export function keyKind(notes: EntityNotes | PartNotes): KeyKind | undefined {
  if (keyTemplate(notes) !== undefined) return 'string'
  const [property] = keyProperties(notes)
  const kind = property === undefined ? undefined : typeOfProperty(notes, property)?.kind
  return kind === 'string' || kind === 'int' || kind === 'bigint' || kind === 'bytes' ? kind : undefined
}

/** The type of the key that records of a class are stored under, when it can be told. */
export function storedKeyKind(notes: EntityNotes | PartNotes): KeyKind | undefined {
  const kind = keyKind(notes)
  return kind && storedKindOf({ kind, properties: keyProperties(notes), tenant: hasTenants(notes) })
}

/** True for a property that the class's key template names. */
export function isInTemplate(notes: EntityNotes | PartNotes, property: string): boolean {
  const template = parseTemplate(keyTemplate(notes) ?? '')
  return typeof template !== 'string' && template.placeholders.some((placeholder) => placeholder.property === property)
}
