import type { MemberNote } from '../declaration.js'
import type { RelationModel } from '../relation-model.js'
import { severalName } from '../several.js'
import type { Side } from './check-inverse.js'
import type { Compilation, EntityNotes, PartNotes } from './compilation.js'
import { isInTemplate } from './key-kind.js'
import { evaluateTargets, namesSeveral } from './members.js'
import type { RelationDecorator } from './strategies.js'

/** The classes of a relation to several; undefined for a relation to one. What cannot work is reported. */
export function compileSeveral(
  { notes, note, rules }: Side,
  targets: readonly (EntityNotes | PartNotes)[],
  sides: readonly (Side | undefined)[],
  { problems }: Compilation,
): Pick<RelationModel, 'target' | 'several'> | undefined {
  if (!namesSeveral(note.target)) return undefined
  const place = { className: notes.name, property: note.property }
  const refuse = (message: string, fix: string): void => problems.add('SKEIN_1058', place, message, fix)
  const isList = note.decorator === 'OneToMany' && rules.strategy === 'keyList'
  if (note.decorator === 'ManyToMany') {
    if (sides.some((side) => side?.note === note)) {
      const fix = 'Declare the other side under another name, or a relation for each class.'
      refuse('A collection of several classes cannot be its own other side.', fix)
    }
  } else if (note.decorator !== 'ManyToOne' && !isList) {
    const stored = note.decorator === 'OneToMany' ? ` stored as ${rules.strategy}` : ''
    const fix =
      "Use @ManyToOne, @ManyToMany, or a @OneToMany with strategy: 'keyList' and no other side; or a relation for each class."
    refuse(`A @${note.decorator}${stored} leads to one class only.`, fix)
  } else if (isList && note.inverse !== undefined) {
    const fix = `Leave '${note.inverse}' out, use @ManyToMany, or declare a collection for each class.`
    refuse('A @OneToMany of several classes is one-sided.', fix)
  }
  checkSides(targets, sides, refuse)
  return checkedClasses(targets, refuse)
}

/** The name under which a reference of the other side knows the class, where it leads to several. */
export function knownAs(other: Side | undefined, { entities }: Compilation): Pick<RelationModel, 'knownAs'> {
  if (other === undefined || !namesSeveral(other.note.target)) return {}
  const names = evaluateTargets(other.note.target)?.map((each) => entities.get(each)?.name ?? each.name) ?? []
  return { knownAs: severalName(names) }
}

type Refuse = (message: string, fix: string) => void

/** The classes that a reference of a part leads to, where it names several. What cannot work is reported. */
export function compileSeveralInPart(
  notes: PartNotes,
  note: MemberNote<RelationDecorator>,
  targets: readonly (EntityNotes | PartNotes)[],
  { problems }: Compilation,
): Pick<RelationModel, 'target' | 'several'> | undefined {
  if (!namesSeveral(note.target)) return undefined
  const place = { className: notes.name, property: note.property }
  const refuse = (message: string, fix: string): void => problems.add('SKEIN_1058', place, message, fix)
  if (note.decorator !== 'ManyToOne') refuse(`A @${note.decorator} leads to one class only.`, 'Use @ManyToOne.')
  if (isInTemplate(notes, note.property))
    refuse(
      'A reference to several classes cannot be part of the id of a part.',
      'Take it out of the key, or name one class.',
    )
  return checkedClasses(targets, refuse)
}

/** Checks what holds for every relation to several classes, in records and in parts. */
function checkedClasses(
  targets: readonly (EntityNotes | PartNotes)[],
  refuse: Refuse,
): Required<Pick<RelationModel, 'target' | 'several'>> {
  const names = targets.map(({ name }) => name)
  if (names.length === 1) refuse('Its list of classes has only one.', `Write () => ${names[0]}.`)
  checkSets(targets, refuse)
  return { target: severalName(names), several: names }
}

/** The set is what tells the classes apart. */
function checkSets(targets: readonly (EntityNotes | PartNotes)[], refuse: Refuse): void {
  const bySet = new Map<string, EntityNotes>()
  for (const target of targets) {
    if (target.kind !== 'entity') continue
    const other = bySet.get(target.set)
    bySet.set(target.set, target)
    if (other === undefined) continue
    const message = `${other.name} and ${target.name} are both in a set '${target.set}', which is stored to tell them apart.`
    const fix =
      other.namespace === target.namespace && other !== target
        ? 'Name their base class instead of both: a reference to it leads to each of its subclasses.'
        : 'Name each class once, and give classes of different namespaces sets of different names.'
    refuse(message, fix)
  }
}

/** A change of the reference treats all owners alike, so their collections must agree. */
function checkSides(
  targets: readonly (EntityNotes | PartNotes)[],
  sides: readonly (Side | undefined)[],
  refuse: Refuse,
): void {
  const [first, ...others] = sides
  if (first === undefined) return
  others.forEach((side, i) => {
    if (side === undefined) return
    for (const option of ['strategy', 'onDelete', 'orphans'] as const) {
      const [here, there] = [first, side].map(({ note, rules }) =>
        option === 'strategy'
          ? rules.strategy
          : ((note.options as { readonly [name: string]: string | undefined })[option] ?? DEFAULTS[option]),
      )
      if (here === there) continue
      const property = side.note.property
      const message = `${targets[0].name}.${property} has ${option}: '${here}', and ${targets[i + 1].name}.${property} has '${there}'.`
      refuse(message, 'Declare the other sides of a reference to several classes alike.')
    }
  })
}

const DEFAULTS = { onDelete: 'detach', orphans: 'keep' } as const
