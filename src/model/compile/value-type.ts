import type { BinType } from '../bin-type.js'
import { isNote, type MemberNote } from '../declaration.js'
import type { ClassNotes } from './class-notes.js'
import { checkChoice } from './check-options.js'
import { Problems } from './problems.js'
import { reflectType, reflectedConstructor } from './reflect-type.js'
import { isTypeProblem, resolveType, scalarOfConstructor } from './resolve-type.js'
import { mainNote } from './members.js'

const KEY_KINDS: readonly BinType['kind'][] = ['string', 'int', 'bigint', 'bytes']

/** Decorators whose property always has the same type. */
const FIXED: { readonly [decorator: string]: { readonly kind: 'int' | 'date'; readonly constructor: unknown } } = {
  Version: { kind: 'int', constructor: Number },
  CountOf: { kind: 'int', constructor: Number },
  CreatedAt: { kind: 'date', constructor: Date },
  UpdatedAt: { kind: 'date', constructor: Date },
  DeletedAt: { kind: 'date', constructor: Date },
}

/** The stored type of a property with `@Key`, `@Bin`, `@Version`, `@Counter`, `@CreatedAt`, `@UpdatedAt` or `@DeletedAt`. */
export function valueType(notes: ClassNotes, note: MemberNote, problems: Problems): BinType | undefined {
  const place = { className: notes.name, property: note.property }
  if (note.decorator in FIXED) return fixedType(notes, note, problems)
  if (isNote(note, 'Counter')) return counterType(notes, note, problems)
  const isKey = isNote(note, 'Key')
  const spec = isKey || isNote(note, 'Bin') ? note.options.type : undefined
  const type = spec === undefined ? reflectType(notes.class, note.property, note.decorator) : resolveType(spec)
  if (isTypeProblem(type)) {
    problems.add(type.code, place, type.message, type.fix)
    return undefined
  }
  if (isKey && !KEY_KINDS.includes(type.kind)) {
    const message = `A ${type.kind} cannot be a key.`
    problems.add('SKEIN_1003', place, message, 'Use a string, an integer, a bigint or bytes.')
    return undefined
  }
  return type
}

function fixedType(notes: ClassNotes, note: MemberNote, problems: Problems): BinType {
  const { kind, constructor } = FIXED[note.decorator]
  const seen = reflectedConstructor(notes.class, note.property)
  if (scalarOfConstructor(seen) !== undefined && seen !== constructor) {
    const message = `@${note.decorator} is on a ${(seen as { name: string }).name}.`
    const fix = `Declare it as ${kind === 'int' ? 'number' : 'Date'}.`
    problems.add('SKEIN_1023', { className: notes.name, property: note.property }, message, fix)
  }
  return { kind }
}

const COUNTS: readonly unknown[] = ['int', 'bigint']

/** Said by the option, otherwise by the declaration, where the compiler tells it. */
function counterType(
  notes: ClassNotes,
  { property, options: { type } }: MemberNote<'Counter'>,
  problems: Problems,
): BinType {
  const place = { className: notes.name, property }
  if (!checkChoice(problems, 'type', type, COUNTS, place)) return { kind: 'int' }
  const seen = scalarOfConstructor(reflectedConstructor(notes.class, property))
  const kind = type ?? (seen === 'bigint' ? 'bigint' : 'int')
  if (seen !== undefined && seen !== kind) {
    const message = `@Counter is on a ${(reflectedConstructor(notes.class, property) as { name: string }).name}.`
    problems.add('SKEIN_1023', place, message, `Declare it as ${kind === 'int' ? 'number' : 'bigint'}.`)
  }
  return { kind }
}

/** The stored type of a property by name, without noting problems: they are noted where the property itself is compiled. */
export function typeOfProperty(notes: ClassNotes, property: string): BinType | undefined {
  const note = mainNote(notes, property)
  if (
    !note ||
    !(note.decorator in FIXED || note.decorator === 'Counter' || note.decorator === 'Key' || note.decorator === 'Bin')
  )
    return undefined
  return valueType(notes, note, new Problems())
}
