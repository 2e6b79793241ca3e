import type { MemberNote } from '../declaration.js'
import type { Compilation, EntityNotes } from './compilation.js'
import { evaluateTargets, isRelation, mainNote } from './members.js'
import { didYouMean } from './nearest.js'
import { RELATIONS, type RelationDecorator, type StrategyRules } from './strategies.js'
import { findRules } from './relation-rules.js'

/** Side of a relation. */
export interface Side {
  readonly notes: EntityNotes
  readonly note: MemberNote<RelationDecorator>
  readonly rules: StrategyRules
}

/** The other side of a two-sided relation, when both sides agree about each other. */
export function checkInverse(side: Side, target: EntityNotes, compilation: Compilation): Side | undefined {
  const { notes, note, rules } = side
  const { problems } = compilation
  const place = { className: notes.name, property: note.property }
  const expected = RELATIONS[note.decorator].inverse
  if (note.inverse === undefined) {
    if (rules.inverse === 'required') {
      const message = `${rules.strategy} needs the property of ${target.name} that holds the key of its ${notes.name}.`
      const fix = `Name it: @${note.decorator}(() => ${target.name}, '…', { strategy: '${rules.strategy}' }).`
      problems.add('SKEIN_1042', place, message, fix)
    }
    return undefined
  }
  const there = `${target.name}.${note.inverse}`
  const otherNote = mainNote(target, note.inverse)
  if (!otherNote) {
    const relations = [...target.members.keys()].filter((name) => mainNote(target, name)?.decorator === expected)
    const fix = `${didYouMean(note.inverse, relations)}Declare there: @${expected}(() => ${notes.name}, '${note.property}').`
    problems.add('SKEIN_1042', place, `Its other side ${there} does not exist, or has no decorator.`, fix)
    return undefined
  }
  const otherRules = isRelation(otherNote) ? findRules(otherNote) : undefined
  if (!isRelation(otherNote) || otherNote.decorator !== expected || otherRules?.inverse === 'none') {
    const what =
      otherRules?.inverse === 'none' ? `${otherRules.strategy}, which has no other side` : `@${otherNote.decorator}`
    const message = `Its other side ${there} is ${what}; the other side of @${note.decorator} is @${expected}.`
    const fix = `Declare there: @${expected}(() => ${notes.name}, '${note.property}').`
    problems.add('SKEIN_1043', place, message, fix)
    return undefined
  }
  if (!otherRules || !pointsBack(side, otherNote, there, compilation)) return undefined
  return { notes: target, note: otherNote, rules: otherRules }
}

function pointsBack(
  { notes, note }: Side,
  other: MemberNote<RelationDecorator>,
  there: string,
  { problems }: Compilation,
): boolean {
  const place = { className: notes.name, property: note.property }
  const backs = evaluateTargets(other.target)
  // An undefined class is reported where it stands.
  if (!backs) return false
  const sameFamily = backs.some(
    (back) => back === notes.class || isSubclass(notes.class, back) || isSubclass(back, notes.class),
  )
  if (sameFamily && other.inverse === note.property) return true
  const names = backs.map(({ name }) => name).join(' or ')
  const says = other.inverse === undefined ? `${names}, one-sided` : `${names}.${other.inverse}`
  const message = `Its other side ${there} is a relation to ${says}, not to ${notes.name}.${note.property}.`
  const fix = `Declare there: @${other.decorator}(() => ${notes.name}, '${note.property}'), or name the right property here.`
  problems.add('SKEIN_1044', place, message, fix)
  return false
}

function isSubclass(sub: EntityNotes['class'], base: EntityNotes['class']): boolean {
  return sub.prototype instanceof base
}
