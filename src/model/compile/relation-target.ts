import { findDeclaration, type MemberNote } from '../declaration.js'
import type { EntityClass } from '../model.js'
import { findNotes, type Compilation, type EntityNotes, type PartNotes } from './compilation.js'
import { circularFix } from './embedded-type.js'
import { keyProperties, keyTemplate } from './key-kind.js'
import { evaluateTargets } from './members.js'
import type { Place, Problems } from './problems.js'
import type { RelationDecorator, StrategyRules } from './strategies.js'

/** The class on the other side, or the several of them, when they are such that the strategy can work with. */
export function relationTargets(
  note: MemberNote<RelationDecorator>,
  rules: StrategyRules,
  place: Place,
  compilation: Compilation,
): readonly [EntityNotes | PartNotes, ...(EntityNotes | PartNotes)[]] | undefined {
  const { problems } = compilation
  const targets = evaluateTargets(note.target)
  if (!targets) {
    problems.add('SKEIN_1040', place, 'The class on the other side is undefined.', circularFix())
    return undefined
  }
  const found = targets.map((target) => {
    if (rules.target === 'embeddable') return consolidatedPart(target, place, compilation)
    const entity = compilation.entities.get(target)
    if (!entity) reportNoEntity(target, place, problems)
    return entity
  })
  const [first, ...others] = found.filter((each) => each !== undefined)
  return found.includes(undefined) ? undefined : [first, ...others]
}

function reportNoEntity(target: EntityClass, place: Place, problems: Problems): void {
  const declaration = findDeclaration(target)
  if (declaration?.record) {
    const message = `${target.name} is not among the entities of this model.`
    problems.add('SKEIN_1040', place, message, `Add it: entities: […, ${target.name}].`)
  } else if (declaration?.embeddable) {
    const message = `${target.name} is a part and has no record to refer to.`
    const fix = `Use @Embedded(() => ${target.name}), or @OneToMany with strategy: 'consolidate'; or make ${target.name} a @Record.`
    problems.add('SKEIN_1041', place, message, fix)
  } else {
    const fix = `Decorate it with @Record({ set: '…' }) and add it to the entities.`
    problems.add('SKEIN_1041', place, `${target.name} is not mapped.`, fix)
  }
}

function consolidatedPart(target: EntityClass, place: Place, compilation: Compilation): PartNotes | undefined {
  const { problems } = compilation
  if (findDeclaration(target)?.record) {
    const message = `${target.name} is a record of its own; consolidated children live inside their parent's record.`
    const fix = `Make ${target.name} an @Embeddable, or use strategy: 'keyList'.`
    problems.add('SKEIN_1046', place, message, fix)
    return undefined
  }
  const part = findNotes(compilation, target)
  if (part?.kind !== 'embeddable') {
    problems.add('SKEIN_1041', place, `${target.name} is not mapped.`, `Decorate it with @Embeddable().`)
    return undefined
  }
  if (part.embeddable?.layout === 'tuple') {
    const message = `${target.name} is stored as a tuple, but the fields of consolidated children are changed one by one.`
    problems.add(
      'SKEIN_1049',
      place,
      message,
      `Leave the layout out of ${target.name}, or store it with @Embedded and as: 'array'.`,
    )
  }
  if (keyProperties(part).length === 0 && keyTemplate(part) === undefined) {
    const message = `${target.name} has no key, so one child could not be told from another.`
    problems.add('SKEIN_1047', place, message, `Put @Key() on a property of ${target.name}.`)
  }
  return part
}
