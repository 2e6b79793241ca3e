import type { MemberNote } from '../declaration.js'
import type { Side } from './check-inverse.js'
import { evaluateTarget } from './members.js'
import type { Problems } from './problems.js'
import type { RelationDecorator } from './strategies.js'

/** Finds the owner side, whose stored value is the truth. Where both sides store one, exactly one must declare `owner: true`. */
export function isOwner(side: Side, other: Side | undefined, problems: Problems): boolean {
  const { note, rules, notes } = side
  if (note.decorator === 'ManyToOne') return true
  if (note.decorator === 'OneToMany') return other === undefined && rules.hasBin
  const place = { className: notes.name, property: note.property }
  const own = saysOwner(note)
  if (note.inverse === undefined) {
    if (own === false) {
      problems.add(
        'SKEIN_1045',
        place,
        'It says owner: false, but has no other side.',
        'Leave owner out, or name the other side.',
      )
    }
    return true
  }
  if (!other || other.note === note) return true
  checkSameStorage(side, other, problems)
  const owners = [own, saysOwner(other.note)].filter((owner) => owner === true).length
  // The problem shows on both sides; the one that comes first by name reports it.
  if (owners !== 1 && sideName(side) < sideName(other)) {
    const message =
      owners === 0
        ? `Neither it nor ${sideName(other)} says owner: true.`
        : `Both it and ${sideName(other)} say owner: true.`
    problems.add(
      'SKEIN_1045',
      place,
      message,
      'Say owner: true on the side whose stored value is the truth, and only there.',
    )
  }
  return own === true
}

function checkSameStorage(side: Side, other: Side, problems: Problems): void {
  if (sideName(side) > sideName(other)) return
  const place = { className: side.notes.name, property: side.note.property }
  if (side.rules.strategy !== other.rules.strategy) {
    const message = `It is stored as ${side.rules.strategy}, and its other side ${sideName(other)} as ${other.rules.strategy}.`
    const fix =
      side.note.decorator === 'ManyToMany' ? 'Give both sides the same attributes.' : 'Give both the same strategy.'
    problems.add('SKEIN_1052', place, message, fix)
  } else if (attributesOf(side.note) !== attributesOf(other.note)) {
    const message = `Its other side ${sideName(other)} has other attributes.`
    problems.add('SKEIN_1052', place, message, 'Give both sides the same attributes: () => Class.')
  }
}

function attributesOf({ options }: MemberNote<RelationDecorator>): object | undefined {
  return 'attributes' in options ? evaluateTarget(options.attributes) : undefined
}

function saysOwner({ options }: MemberNote<RelationDecorator>): boolean | undefined {
  return 'owner' in options ? options.owner : undefined
}

function sideName({ notes, note }: Side): string {
  return `${notes.name}.${note.property}`
}
