import { HOOK_NAMES, type EmbeddableModel } from '../model.js'
import type { MemberDecorator, MemberNote } from '../declaration.js'
import type { PartIndexModel } from '../property-model.js'
import { isLostName } from './check-names.js'
import { KNOWN_OPTIONS, checkChoice, checkOptions } from './check-options.js'
import type { Compilation, PartNotes } from './compilation.js'
import { indexedAs } from './compile-index.js'
import { compileKey } from './compile-key.js'
import { checkChildKeys } from './compile-nested.js'
import { compilePartRelation } from './compile-relation.js'
import type { RelationDraft } from './relation-draft.js'
import { compileValue, type PropertyDraft } from './compile-value.js'
import { isRelation, readMemberRoles } from './members.js'
import type { Problems } from './problems.js'

const IN_PARTS: readonly MemberDecorator[] = ['Key', 'Bin', 'Counter', 'Embedded', 'DeletedAt']

/** Everything about one class that is stored inside records. */
export function compilePart(part: PartNotes, compilation: Compilation): EmbeddableModel {
  const { problems } = compilation
  const properties: PropertyDraft[] = []
  const relations: RelationDraft[] = []
  const indexes: PartIndexModel[] = []
  checkOptions(problems, part.embeddable ?? {}, KNOWN_OPTIONS.Embeddable, { className: part.name }, '@Embeddable')
  checkChoice(problems, 'layout', part.embeddable?.layout, ['map', 'tuple'], { className: part.name })
  for (const member of readMemberRoles(part, problems)) {
    const { note, index, sharded, companion } = member
    const misplaced =
      (isRelation(note) ? index : undefined) ??
      sharded ??
      companion ??
      (isRelation(note) || IN_PARTS.includes(note.decorator) ? undefined : note)
    if (misplaced) {
      const message = `@${misplaced.decorator} is for records; ${part.name} is stored inside one.`
      problems.add(
        'SKEIN_1026',
        { className: part.name, property: note.property },
        message,
        'Leave it out, or use @Bin.',
      )
    } else if (isRelation(note)) {
      const relation = compilePartRelation(part, note, compilation)
      if (relation) relations.push(relation)
    } else {
      const property = compileValue(part, member, compilation)
      if (property) properties.push(property)
      if (property && index) indexes.push(...fieldIndex(part, property, index, problems))
    }
  }
  for (const { name } of part.indexes) {
    const message = `@Index on a class is for records; ${part.name} is stored inside one.`
    problems.add('SKEIN_1026', { className: part.name, property: String(name) }, message, 'Put it on the record.')
  }
  if (part.history !== undefined) {
    const message = `@History is for records; ${part.name} is stored inside one.`
    problems.add('SKEIN_1026', { className: part.name }, message, 'Put it on the class of the record.')
  }
  for (const property of new Set(HOOK_NAMES.flatMap((hook) => part.hooks[hook]))) {
    const message = `A lifecycle hook is for records; ${part.name} is stored inside one.`
    problems.add('SKEIN_1026', { className: part.name, property }, message, 'Put it on the class of the record.')
  }
  checkFieldNames(part, [...properties, ...relations], problems)
  checkChildKeys(part.name, [...properties, ...relations], problems)
  const key = compileKey(part, compilation)
  const [deletedAt, second] = properties.filter(({ role }) => role === 'deletedAt').map(({ name }) => name)
  if (second !== undefined) {
    const message = `It is a second @DeletedAt, beside ${deletedAt}.`
    problems.add('SKEIN_1027', { className: part.name, property: second }, message, 'Keep one of them.')
  }
  return {
    kind: 'embeddable',
    class: part.class,
    name: part.name,
    properties: properties.map((property, index) => ({
      ...property,
      role: key?.properties.includes(property.name) ? 'key' : property.role,
      index,
    })),
    ...(part.embeddable?.layout === 'tuple' && { layout: 'tuple' as const }),
    ...(deletedAt !== undefined && { deletedAt }),
    relations: relations.map((relation, i) => ({ ...relation, index: properties.length + i })),
    ...(key && { key }),
    indexes,
    hooks: part.hooks,
  }
}

/** An index has a name of its own in each record that embeds the part, so none can be given here. */
function fieldIndex(
  { name: className }: PartNotes,
  { name: property, bin: field, type }: PropertyDraft,
  { options }: MemberNote<'Index'>,
  problems: Problems,
): PartIndexModel[] {
  const place = { className, property }
  checkOptions(problems, options, ['on'], place, '@Index in an @Embeddable')
  const indexed = indexedAs(options, type, place, problems)
  return indexed ? [{ property, field, ...indexed }] : []
}

/** Fields are keys of a map: any name will do, once. */
function checkFieldNames(
  { name: className }: PartNotes,
  fields: readonly { readonly name: string; readonly bin?: string }[],
  problems: Problems,
): void {
  const takenBy = new Map<string, string>()
  for (const { name: property, bin = property } of fields) {
    const other = takenBy.get(bin)
    if (isLostName(bin)) {
      problems.add(
        'SKEIN_1014',
        { className, property },
        "A field name must not be empty, contain NUL or be '__proto__'.",
        "Give another with the option name: '…'.",
      )
    } else if (other !== undefined) {
      const message = `The field '${bin}' is already used by ${className}.${other}.`
      problems.add(
        'SKEIN_1012',
        { className, property },
        message,
        "Give one of them another name with the option name: '…'.",
      )
    }
    takenBy.set(bin, property)
  }
}
