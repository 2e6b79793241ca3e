import { storedKindOf, type KeyKind } from '../../keys/index.js'
import { isNote } from '../declaration.js'
import type { KeyGenerator, KeyModel } from '../key-model.js'
import { isNameList, show } from './check-options.js'
import type { Compilation, EntityNotes, PartNotes } from './compilation.js'
import { compileTemplateKey } from './compile-template-key.js'
import { hasTenants, keyKind, keyProperties, keyTemplate } from './key-kind.js'
import { keyPartType } from './key-part-type.js'
import { mainNote } from './members.js'
import { didYouMean } from './nearest.js'
import { typeOfProperty } from './value-type.js'
import type { Problems } from './problems.js'

/** The key of an entity, or of a part that has one. */
export function compileKey(notes: EntityNotes | PartNotes, compilation: Compilation): KeyModel | undefined {
  const { problems } = compilation
  const template = keyTemplate(notes)
  const tenant = hasTenants(notes)
  if (template !== undefined) return compileTemplateKey(notes, template, tenant, compilation)
  const className = notes.name
  const [property, second] = keyProperties(notes)
  if (property === undefined) {
    if (notes.kind === 'entity') {
      problems.add(
        'SKEIN_1001',
        { className },
        'It has no key.',
        "Put @Key() on a property, or give @Record({ key: '…{property}…' }).",
      )
    }
    return undefined
  }
  if (second !== undefined) {
    const message = `It has a second @Key, beside ${property}.`
    const fix = `Keep one, or make one key of both: @Record({ key: '{${property}}:{${second}}' }).`
    problems.add('SKEIN_1002', { className, property: second }, message, fix)
    return undefined
  }
  const kind = keyKind(notes)
  if (kind === undefined) return undefined
  const generate = compileGenerator(notes, property, kind, problems)
  const properties = [property]
  const storedKind = storedKindOf({ kind, properties, tenant })
  return { kind, storedKind, properties, ...(generate && { generate }), tenant }
}

function compileGenerator(
  notes: EntityNotes | PartNotes,
  property: string,
  kind: KeyKind,
  problems: Problems,
): KeyGenerator | undefined {
  const note = mainNote(notes, property)
  const generate = note && isNote(note, 'Key') ? note.options.generate : undefined
  if (generate === undefined) return undefined
  const place = { className: notes.name, property }
  if (generate === 'uuid' || generate === 'sortable') {
    if (kind !== 'string') {
      const message = `A generated ${generate} is a string, and the key is ${kind}.`
      problems.add('SKEIN_1006', place, message, 'Declare the key as a string.')
    }
    return generate
  }
  if (typeof generate !== 'object' || !isNameList(generate.hash)) {
    problems.add(
      'SKEIN_1006',
      place,
      `${show(generate)} is not a valid way to generate a key.`,
      "Use 'uuid', 'sortable' or { hash: ['property', …] }.",
    )
    return undefined
  }
  if (kind !== 'string' && kind !== 'bytes') {
    problems.add(
      'SKEIN_1006',
      place,
      `A hash is a string or bytes, and the key is ${kind}.`,
      'Declare the key as a string.',
    )
  }
  const usable = [...notes.members.keys()].filter(
    (name) => name !== property && keyPartType(typeOfProperty(notes, name)) !== undefined,
  )
  for (const part of generate.hash.filter((name) => !usable.includes(name))) {
    const message = `The hash names '${part}', which is not another property of ${notes.name} that can be part of a key.`
    const fix = `${didYouMean(part, usable)}Name string, int, bigint, boolean, date, bytes or enum properties.`
    problems.add('SKEIN_1006', place, message, fix)
  }
  return { hash: [...generate.hash] }
}
