import type { MemberNote } from '../declaration.js'
import type { EntityClass } from '../model.js'
import type { ThroughOptions } from '../options.js'
import { severalName } from '../several.js'
import { parseTemplate, TENANT } from '../../keys/index.js'
import { checkChoice, checkOptions } from './check-options.js'
import type { Compilation, EntityNotes } from './compilation.js'
import { keyTemplate } from './key-kind.js'
import { evaluateTarget, evaluateTargets, isRelation, mainNote } from './members.js'
import type { Place } from './problems.js'

const OF_LISTS = ['through', 'strategy', 'name', 'eager', 'onDelete', 'expect']
const OF_INDEXES = ['through', 'strategy', 'indexName', 'onDelete']

type ThroughNote = MemberNote<'ManyToMany'> & { readonly options: ThroughOptions }

/**
 * Reads each `@ManyToMany` with `through` as what is stored for it: a collection of link records, which belong to both of their ends and
 * are deleted when they are taken out of the collection of one.
 */
export function resolveLinkClasses(compilation: Compilation): Compilation {
  const entities = new Map<EntityClass, EntityNotes>()
  for (const [target, notes] of compilation.entities) {
    const members = new Map<string, readonly MemberNote[]>()
    for (const [property, all] of notes.members) {
      const resolved = all.flatMap((note) => (isThrough(note) ? (linksOf(note, notes, compilation) ?? []) : note))
      if (resolved.length > 0) members.set(property, resolved)
    }
    entities.set(target, { ...notes, members })
  }
  return { ...compilation, entities }
}

function isThrough(note: MemberNote): note is ThroughNote {
  return note.decorator === 'ManyToMany' && 'through' in note.options && note.options.through !== undefined
}

function linksOf(note: ThroughNote, notes: EntityNotes, compilation: Compilation): MemberNote | undefined {
  const { problems } = compilation
  const { property, options } = note
  const place = { className: notes.name, property }
  const { strategy = 'keyList' } = options
  const known = strategy === 'secondaryIndex' ? OF_INDEXES : OF_LISTS
  checkOptions(problems, options, known, place, '@ManyToMany with through')
  checkChoice(problems, 'strategy', strategy, ['keyList', 'secondaryIndex'], place)
  checkChoice(problems, 'onDelete', options.onDelete, ['cascade', 'restrict'], place)
  const ends = endsOf(note, notes, place, compilation)
  if (ends === undefined) return undefined
  const { near, far } = ends
  const others = Object.entries(options).filter(([name]) => name !== 'through' && known.includes(name))
  return {
    decorator: 'OneToMany',
    property,
    options: {
      onDelete: 'cascade',
      ...Object.fromEntries(others),
      strategy,
      orphans: 'delete',
    } as MemberNote['options'],
    target: options.through,
    inverse: near,
    ...(far && { through: far }),
  }
}

interface Ends {
  /** Reference of the link to the end that has the collection. */
  readonly near: string
  /** The other end, and the reference to it; absent where something is wrong with it. */
  readonly far?: { readonly target: string; readonly ref: string }
}

function endsOf(note: ThroughNote, notes: EntityNotes, place: Place, compilation: Compilation): Ends | undefined {
  const { problems, entities } = compilation
  const linkClass = evaluateTarget(note.options.through)
  const link = linkClass && entities.get(linkClass)
  if (link === undefined) {
    const message = `The class of its links, ${linkClass?.name ?? 'undefined'}, is not among the entities of this model.`
    problems.add(
      'SKEIN_1040',
      place,
      message,
      `Decorate it with @Record and add it: entities: […, ${linkClass?.name ?? '…'}].`,
    )
    return undefined
  }
  const fix = `Declare in ${link.name}: @ManyToOne(() => ${notes.name}, '${note.property}').`
  if (note.inverse !== undefined) {
    const message = `The other side of links is in their own class, not '${note.inverse}'.`
    problems.add('SKEIN_1043', place, message, `Leave '${note.inverse}' out. ${fix}`)
    return undefined
  }
  const refs = [...link.members.keys()].flatMap((name) => refNote(link, name) ?? [])
  const near = refs.find(({ inverse, target }) => inverse === note.property && leadsTo(target, notes.class))
  if (near === undefined) {
    problems.add('SKEIN_1042', place, `${link.name} has no reference to this end of its links.`, fix)
    return undefined
  }
  const far = farOf(note, link, near, refs, place, compilation)
  return { near: near.property, ...(far && { far }) }
}

function farOf(
  note: ThroughNote,
  link: EntityNotes,
  near: MemberNote,
  refs: readonly MemberNote[],
  place: Place,
  { problems, entities }: Compilation,
): Ends['far'] {
  const template = parseTemplate(keyTemplate(link) ?? '')
  const parts = typeof template === 'string' ? [] : template.placeholders.map(({ property }) => property)
  const far = refs.find(({ property }) => property !== near.property && parts.includes(property))
  if (far === undefined || parts.filter((part) => part !== TENANT).length !== 2 || !parts.includes(near.property)) {
    const other = refs.find(({ property }) => property !== near.property)?.property ?? 'to'
    const message = `The key of ${link.name} is not made of its two ends, so a link could not be found by them.`
    const fix = `Declare @Record({ key: '{${near.property}}:{${other}}' }) on ${link.name}.`
    problems.add('SKEIN_1057', place, message, fix)
    return undefined
  }
  const [targets, farClasses] = [note, far].map((each) => evaluateTargets(each.target) ?? [])
  const areSame = targets.length > 0 && targets.length === farClasses.length && targets.every(isOneOf(farClasses))
  if (!areSame) {
    const [here, there] = [targets, farClasses].map((all) => severalName(all.map(({ name }) => name)) || 'undefined')
    const message = `It is a collection of ${here}, and ${link.name}.${far.property} leads to ${there}.`
    const fix = `Declare both with the same class${targets.length + farClasses.length > 2 ? 'es' : ''}.`
    problems.add('SKEIN_1044', place, message, fix)
    return undefined
  }
  return { target: severalName(farClasses.map((each) => entities.get(each)?.name ?? each.name)), ref: far.property }
}

function refNote(link: EntityNotes, name: string): MemberNote | undefined {
  const note = mainNote(link, name)
  return note !== undefined && isRelation(note) && note.decorator === 'ManyToOne' ? note : undefined
}

const leadsTo = (target: (() => unknown) | undefined, end: EntityClass): boolean =>
  isOneOf(evaluateTargets(target) ?? [])(end)

const isOneOf =
  (classes: readonly EntityClass[]) =>
  (end: EntityClass): boolean =>
    classes.some((each) => isFamily(each, end))

const isFamily = (a: EntityClass, b: EntityClass): boolean =>
  a === b || a.prototype instanceof b || b.prototype instanceof a
