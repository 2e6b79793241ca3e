import { KeyFormat, parseTemplate, type KeyPartType, type KeyTemplate } from '../../keys/index.js'
import { isNote } from '../declaration.js'
import type { KeyModel } from '../key-model.js'
import type { Compilation, EntityNotes, PartNotes } from './compilation.js'
import { keyKind, keyProperties } from './key-kind.js'
import { keyPartType } from './key-part-type.js'
import { evaluateTarget, isRelation, mainNote, namesSeveral } from './members.js'
import { didYouMean } from './nearest.js'
import { RELATIONS } from './strategies.js'
import { typeOfProperty } from './value-type.js'

/** A key such as `tenant:{tenant}:order:{orderId}`: every placeholder is a stored property, or a ref that stands for the key it holds. */
export function compileTemplateKey(
  notes: EntityNotes | PartNotes,
  text: string,
  tenant: boolean,
  compilation: Compilation,
): KeyModel | undefined {
  const { problems } = compilation
  const place = { className: notes.name }
  const template = parseTemplate(text)
  if (typeof template === 'string') {
    problems.add('SKEIN_1004', place, `The key template '${text}' is wrong: ${template}.`, 'Correct the option key.')
    return undefined
  }
  const properties = template.placeholders.map((placeholder) => placeholder.property)
  for (const property of keyProperties(notes).filter((name) => !properties.includes(name))) {
    const message = `It has @Key, but the key of ${notes.name} is the template '${text}'.`
    const fix = `Name it in the template as {${property}}, or make it a @Bin.`
    problems.add('SKEIN_1002', { className: notes.name, property }, message, fix)
  }
  for (const property of keyProperties(notes)) {
    const note = mainNote(notes, property)
    if (note === undefined || !isNote(note, 'Key') || note.options.generate === undefined) continue
    const message = `generate makes whole keys, and the key of ${notes.name} is the template '${text}'.`
    const fix = `Leave generate out and set ${property} yourself, for instance to uuid() or sortableId().`
    problems.add('SKEIN_1006', { className: notes.name, property }, message, fix)
  }
  const parent = findParent(notes, properties, compilation)
  checkTemplate(notes, template, parent, compilation)
  const kind = 'string'
  return { kind, storedKind: kind, properties, template: text, ...(parent !== undefined && { parent }), tenant }
}

function checkTemplate(
  notes: EntityNotes | PartNotes,
  template: KeyTemplate,
  parent: string | undefined,
  compilation: Compilation,
): void {
  const { problems } = compilation
  const place = { className: notes.name }
  // Without a prototype, so that a property called __proto__ is just a name.
  const types = Object.create(null) as { [property: string]: KeyPartType }
  for (const { property } of template.placeholders) {
    const type = partType(notes, property, compilation)
    if (type !== undefined) {
      types[property] = type
    } else if (!notes.members.has(property)) {
      const message = `The key template '${template.text}' names {${property}}, which is not a mapped property.`
      const fix = `${didYouMean(property, notes.members.keys())}Name a property that has a decorator.`
      problems.add('SKEIN_1005', place, message, fix)
      return
    } else {
      const message = `The key template '${template.text}' names {${property}}, whose type cannot be part of a key.`
      const fix = 'Use a string, int, bigint, boolean, date or bytes property, an enum of one of them, or a reference.'
      problems.add('SKEIN_1003', { ...place, property }, message, fix)
      return
    }
  }
  const format = KeyFormat.create(template, { className: notes.name, types, ...(parent !== undefined && { parent }) })
  if (typeof format === 'string') {
    problems.add(
      'SKEIN_1004',
      place,
      `The key template '${template.text}' is wrong: ${format}.`,
      'Correct the option key.',
    )
  }
}

/** The placeholder that holds another record's key: a ref of an entity, or what `@Embeddable({ parent })` names. */
function findParent(
  notes: EntityNotes | PartNotes,
  properties: readonly string[],
  { problems }: Compilation,
): string | undefined {
  const declared = notes.kind === 'embeddable' ? notes.embeddable?.parent : undefined
  if (declared !== undefined && !properties.includes(declared)) {
    const message = `parent: '${declared}' is not named by the key template.`
    problems.add(
      'SKEIN_1005',
      { className: notes.name },
      message,
      `${didYouMean(declared, properties)}Name a placeholder.`,
    )
  }
  // The first parent's key goes in as it is; further ones are escaped like any other part.
  const refs = properties.filter((property) => isRefNote(notes, property))
  return declared ?? refs[0]
}

function isRefNote(notes: EntityNotes | PartNotes, property: string): boolean {
  const note = mainNote(notes, property)
  return note !== undefined && isRelation(note) && RELATIONS[note.decorator].holds === 'ref'
}

function partType(
  notes: EntityNotes | PartNotes,
  property: string,
  { entities }: Compilation,
): KeyPartType | undefined {
  const note = mainNote(notes, property)
  if (note && isRefNote(notes, property)) {
    // Keys of several classes are texts with their sets.
    if (namesSeveral(note.target)) return 'string'
    const target = evaluateTarget(note.target)
    const other = target && entities.get(target)
    return other && keyKind(other)
  }
  return keyPartType(typeOfProperty(notes, property))
}
