import { shown } from '../../errors/index.js'
import { findDeclaration } from '../declaration.js'
import type { EntityClass } from '../model.js'
import type { RecordOptions } from '../options.js'
import { checkNamespace, checkSet } from './check-names.js'
import { KNOWN_OPTIONS, checkOptions } from './check-options.js'
import { readClassNotes, type ClassNotes } from './class-notes.js'
import type { Compilation, EntityNotes, PartNotes } from './compilation.js'
import { evaluateTarget } from './members.js'
import type { Problems } from './problems.js'
import { resolveLinkClasses } from './link-class.js'

/** The classes of a model: the entities that are given, and the parts that they lead to. */
export function collectClasses(classes: readonly EntityClass[], namespace: string, problems: Problems): Compilation {
  const entities = new Map<EntityClass, EntityNotes>()
  const parts = new Map<EntityClass, PartNotes>()
  for (const [i, target] of classes.entries()) {
    const declaration = typeof target === 'function' ? findDeclaration(target) : undefined
    if (!declaration?.record && !declaration?.embeddable) {
      reportUnmapped(target, i, problems)
    } else {
      addClass(readClassNotes(target), namespace, { problems, entities, parts })
    }
  }
  return resolveLinkClasses({ problems, entities, parts })
}

interface Collected extends Compilation {
  readonly entities: Map<EntityClass, EntityNotes>
  readonly parts: Map<EntityClass, PartNotes>
}

function addClass(notes: ClassNotes, namespace: string, collected: Collected): void {
  const { problems, entities, parts } = collected
  if (entities.has(notes.class) || parts.has(notes.class)) return
  problems.knowMembers(notes.name, notes.declaredBy)
  if (notes.record && notes.embeddable) {
    problems.add(
      'SKEIN_1031',
      { className: notes.name },
      'It has both @Record and @Embeddable.',
      'Keep the one that says where it is stored.',
    )
  }
  if (notes.record) entities.set(notes.class, entityNotes(notes, namespace, problems))
  else parts.set(notes.class, { ...notes, kind: 'embeddable' })
  for (const target of partsOf(notes)) {
    const isPart = findDeclaration(target)?.embeddable && !findDeclaration(target)?.record
    if (isPart) addClass(readClassNotes(target), namespace, collected)
  }
}

/** Classes that a class names as its parts, as consolidated children or as attributes of links. */
function partsOf(notes: ClassNotes): EntityClass[] {
  return [...notes.members.values()].flat().flatMap((note) => {
    const attributes = 'attributes' in note.options ? evaluateTarget(note.options.attributes) : undefined
    const target = evaluateTarget(note.target)
    return [attributes, target].filter((each) => each !== undefined)
  })
}

function entityNotes(notes: ClassNotes, namespace: string, problems: Problems): EntityNotes {
  const className = notes.name
  const options = inheritedOptions(notes)
  checkOptions(problems, notes.record ?? {}, KNOWN_OPTIONS.Record, { className }, '@Record')
  checkSet(problems, options.set, className)
  const own = options.namespace ?? namespace
  if (options.namespace !== undefined) checkNamespace(problems, own, className)
  return { ...notes, kind: 'entity', options, namespace: own, set: options.set ?? '' }
}

/** Merges the record options of a class over those of its base classes. A set of its own starts a family of its own. */
function inheritedOptions({ record = {}, base }: ClassNotes): RecordOptions {
  if (!base) return record
  const { discriminatorValue: _, name: __, ...inherited } = inheritedOptions(readClassNotes(base))
  if (record.set === undefined || record.set === inherited.set) return { ...inherited, ...record }
  const { discriminator: ___, ...rest } = inherited
  return { ...rest, ...record }
}

function reportUnmapped(target: unknown, position: number, problems: Problems): void {
  if (typeof target === 'function') {
    problems.add(
      'SKEIN_1030',
      { className: target.name },
      'It is not mapped.',
      "Decorate it with @Record({ set: '…' }).",
    )
  } else {
    const message = `The class at position ${position} is ${shown(target)}.`
    const fix = 'Check its export; in a cycle of imports, open the database after all modules are loaded.'
    problems.add('SKEIN_1030', { className: `entities[${position}]` }, message, fix)
  }
}
