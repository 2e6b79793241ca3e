import { isNote, type MemberDecorator, type MemberNote } from '../declaration.js'
import type { BinType } from '../bin-type.js'
import type { NamedBinOptions } from '../options.js'
import type { PropertyModel, PropertyRole } from '../property-model.js'
import { KNOWN_OPTIONS, checkChoice, checkOptions } from './check-options.js'
import type { Compilation, EntityNotes, PartNotes } from './compilation.js'
import { compileCopy } from './compile-copy.js'
import { compileSharding } from './compile-sharding.js'
import { embeddedPrefix, embeddedType, type PartModels } from './embedded-type.js'
import type { Member } from './members.js'
import type { Problems } from './problems.js'
import { nestedSubtype } from './subtype.js'
import { valueType } from './value-type.js'

/** A property before it has its place in the loaded-mask. */
export type PropertyDraft = Omit<PropertyModel, 'index'>

const ROLES: { readonly [D in MemberDecorator]?: PropertyRole } = {
  Key: 'key',
  Bin: 'plain',
  Embedded: 'plain',
  Version: 'version',
  CreatedAt: 'createdAt',
  UpdatedAt: 'updatedAt',
  DeletedAt: 'deletedAt',
  Counter: 'counter',
  CountOf: 'countOf',
  Copy: 'copy',
}

/** A property that is stored as a value: in a bin, or as a field of a part. */
export function compileValue(
  notes: EntityNotes | PartNotes,
  { note, sharded, companion }: Member,
  compilation: Compilation,
  models?: PartModels,
): PropertyDraft | undefined {
  const { problems } = compilation
  const place = { className: notes.name, property: note.property }
  const role = ROLES[note.decorator]
  if (role === undefined) return undefined
  checkOptions(problems, note.options, KNOWN_OPTIONS[note.decorator as 'Bin'], place, `@${note.decorator}`)
  if (companion) {
    const message = `@Companion is on a @${note.decorator}; only a collection can have companion records.`
    problems.add('SKEIN_1051', place, message, 'Leave it out.')
  }
  const isCounted = role === 'counter' || role === 'countOf'
  if (sharded && !isCounted) {
    const message = `@Sharded is on a @${note.decorator}; only collections, counters and counts can be sharded.`
    problems.add('SKEIN_1026', place, message, 'Leave it out, or make the property a @Counter or a collection.')
  }
  const sharding = sharded && isCounted && compileSharding(sharded.options, { kind: 'counter' }, place, problems)
  const copied = isNote(note, 'Copy') ? compileCopy(notes, note, compilation) : undefined
  const type = typeOf(notes, note, compilation, models) ?? copied?.type
  if (!type) return undefined
  const nested = notes.kind === 'embeddable' ? nestedSubtype(type) : undefined
  if (nested) problems.add(nested.code, place, nested.message, nested.fix)
  const countOf = isNote(note, 'CountOf') && { countOf: note.options.of }
  const immutable = isNote(note, 'Bin') && isImmutable(notes, note, problems) && { immutable: true as const }
  const draft = { name: note.property, bin: binName(note, type), type, role }
  return { ...draft, ...countOf, ...immutable, ...(copied && { copy: copied.copy }), ...(sharding && { sharding }) }
}

function typeOf(
  notes: EntityNotes | PartNotes,
  note: Member['note'],
  compilation: Compilation,
  models: PartModels | undefined,
): BinType | undefined {
  if (isNote(note, 'Copy')) return undefined
  if (isNote(note, 'Embedded')) return embeddedType(notes, note, compilation, models)
  return valueType(notes, note, compilation.problems)
}

function isImmutable(
  { kind, name: className }: EntityNotes | PartNotes,
  { property, options: { immutable } }: MemberNote<'Bin'>,
  problems: Problems,
): boolean {
  const place = { className, property }
  if (!checkChoice(problems, 'immutable', immutable, [true, false], place)) return false
  if (immutable === true && kind === 'embeddable') {
    const message = `immutable is for bins of records; ${className} is stored inside one, which may replace it as a whole.`
    problems.add('SKEIN_1026', place, message, 'Leave it out, or make the part a record of its own.')
  }
  return immutable === true
}

function binName(note: Member['note'], type: BinType): string {
  if (type.kind !== 'embedded' || type.shape !== 'bins') {
    return (note.options as NamedBinOptions).name ?? note.property
  }
  return embeddedPrefix(note as MemberNote<'Embedded'>)
}
