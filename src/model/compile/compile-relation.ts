import type { MemberNote } from '../declaration.js'
import type { OneToManyOptions } from '../options.js'
import type { ShardingModel } from '../property-model.js'
import type { RelationModel } from '../relation-model.js'
import { endedLinksBin } from '../reserved-bins.js'
import { checkInverse, type Side } from './check-inverse.js'
import { checkChoice, checkOptions, show } from './check-options.js'
import type { Compilation, EntityNotes, PartNotes } from './compilation.js'
import { compileConsolidate } from './compile-consolidate.js'
import { compileNested } from './compile-nested.js'
import { compileExpect } from './compile-expect.js'
import { compileCompanions, compileSharding, type Spread } from './compile-sharding.js'
import { isInTemplate, keyKind, storedKeyKind } from './key-kind.js'
import { evaluateTarget, type Member } from './members.js'
import { didYouMean, oneOf } from './nearest.js'
import type { Place } from './problems.js'
import type { RelationDraft } from './relation-draft.js'
import { isOwner } from './relation-owner.js'
import { askedStrategy, findRules } from './relation-rules.js'
import { relationTargets } from './relation-target.js'
import { compileSeveral, knownAs, compileSeveralInPart } from './several-targets.js'
import { RELATIONS, STRATEGIES, type RelationDecorator, type StrategyRules } from './strategies.js'

/** Compiles a relation of an entity: its target, its other side and its options, checked against its strategy. */
export function compileRelation(
  notes: EntityNotes,
  { note, sharded, companion }: Member & { readonly note: MemberNote<RelationDecorator> },
  compilation: Compilation,
): RelationDraft | undefined {
  const { problems } = compilation
  const place = { className: notes.name, property: note.property }
  const rules = checkedRules(note, place, compilation)
  if (!rules) return undefined
  const targets = relationTargets(note, rules, place, compilation)
  if (!targets) return undefined
  const [target] = targets
  const side = { notes, note, rules }
  const sides = targets.map((each) => (each.kind === 'entity' ? checkInverse(side, each, compilation) : undefined))
  const [other] = sides
  const several = compileSeveral(side, targets, sides, compilation)
  if (rules.inverse === 'none' && note.inverse !== undefined) {
    const message = `Children stored as ${rules.strategy} have no other side.`
    problems.add('SKEIN_1043', place, message, `Leave out '${note.inverse}'.`)
  }
  if (rules.strategy === 'sharedKey' && target.kind === 'entity') checkSharedKey(notes, target, place, compilation)
  if (rules.strategy === 'linkMap' && target.kind === 'entity' && !several) checkLinkKeys(target, place, compilation)
  if ((sharded || companion) && !rules.canBeSharded) {
    const message = `A relation stored as ${rules.strategy} cannot be ${sharded ? 'sharded' : 'kept in a companion record'}.`
    problems.add(
      'SKEIN_1051',
      place,
      message,
      "Use a collection stored as 'keyList' or 'consolidate', or a @ManyToMany.",
    )
  }
  const shape = RELATIONS[note.decorator]
  const bin = rules.hasBin ? (optionOf<string>(note, 'name') ?? note.property) : undefined
  const attributes = attributesOf(note, place, compilation)
  const areLinks = target.kind === 'entity'
  const spreadOver: Spread = areLinks ? { kind: 'links', dated: attributes } : { kind: 'children', dated: target }
  const sharding = sharded && rules.canBeSharded && compileSharding(sharded.options, spreadOver, place, problems)
  if (sharding && sharding.by !== 'hash' && areLinks) checkLinksByTime(sharding, note, other, place, compilation)
  const expect = compileExpect(optionOf(note, 'expect'), place, problems)
  const spread = sharded ?? companion
  const companions =
    spread && rules.canBeSharded && bin !== undefined
      ? compileCompanions(spread, notes.set, bin, areLinks, place, problems)
      : undefined
  return {
    name: note.property,
    kind: shape.kind,
    strategy: rules.strategy,
    holds: shape.holds,
    target: several?.target ?? target.name,
    ...several,
    ...knownAs(other, compilation),
    ...(note.inverse !== undefined && { inverse: note.inverse }),
    owner: sides.map((each) => isOwner(side, each, problems))[0],
    ...(bin !== undefined && { bin }),
    ...compileOnDelete(side, other),
    orphans: optionOf<RelationModel['orphans']>(note, 'orphans') ?? 'keep',
    // Parts belong to their record as much as its bins do.
    eager: optionOf<boolean>(note, 'eager') ?? (rules.strategy === 'consolidate' && companions === undefined),
    ...(isConsolidate(note.options) &&
      target.kind === 'embeddable' &&
      compileConsolidate(
        note.options,
        bin ?? note.property,
        target,
        place,
        compilation,
        companions && (sharding || {}),
      )),
    ...(attributes !== undefined && { attributes: attributes.name }),
    ...(attributes !== undefined && keepsEnded(attributes) && { endedBin: endedLinksBin(notes.set, note.property) }),
    ...(expect && { expect }),
    ...(sharding && { sharding }),
    ...(companions && { companions }),
    ...(note.through && { through: note.through }),
  }
}

/** A part may point to records by key, and have consolidated children of its own. */
export function compilePartRelation(
  notes: PartNotes,
  note: MemberNote<RelationDecorator>,
  compilation: Compilation,
): RelationDraft | undefined {
  const { problems } = compilation
  const place = { className: notes.name, property: note.property }
  const rules = checkedRules(note, place, compilation)
  if (rules?.target === 'embeddable') return compileNested(notes, note, rules, compilation)
  if (
    RELATIONS[note.decorator].holds !== 'ref' ||
    (rules && rules.strategy !== 'keyBin') ||
    note.inverse !== undefined
  ) {
    const message = `A part can only point to a record by its key, or have children of its own; it cannot have ${note.inverse === undefined ? `such a @${note.decorator}` : 'a two-sided relation'}.`
    const fix = `Use a one-sided @ManyToOne, @OneToMany with strategy: 'consolidate', or make ${notes.name} a @Record.`
    problems.add('SKEIN_1026', place, message, fix)
    return undefined
  }
  const targets = rules && relationTargets(note, rules, place, compilation)
  if (!rules || !targets) return undefined
  return {
    name: note.property,
    kind: RELATIONS[note.decorator].kind,
    strategy: rules.strategy,
    holds: 'ref',
    target: targets[0].name,
    ...compileSeveralInPart(notes, note, targets, compilation),
    owner: true,
    bin: optionOf<string>(note, 'name') ?? note.property,
    onDelete: 'detach',
    orphans: 'keep',
    eager: optionOf<boolean>(note, 'eager') ?? false,
  }
}

function checkedRules(
  note: MemberNote<RelationDecorator>,
  place: Place,
  { problems }: Compilation,
): StrategyRules | undefined {
  const rules = findRules(note)
  if (!rules) {
    const known = STRATEGIES[note.decorator].map((each) => each.strategy)
    const asked = askedStrategy(note)
    const fix = `${didYouMean(String(asked), known)}Use ${oneOf(known)}.`
    problems.add('SKEIN_1050', place, `@${note.decorator} has no strategy ${show(asked)}.`, fix)
    return undefined
  }
  const owner = STRATEGIES[note.decorator].length === 1 ? `@${note.decorator}` : `The strategy '${rules.strategy}'`
  checkOptions(problems, note.options, rules.options, place, owner)
  checkChoice(problems, 'onDelete', optionOf(note, 'onDelete'), ['cascade', 'detach', 'restrict'], place)
  checkChoice(problems, 'orphans', optionOf(note, 'orphans'), ['delete', 'keep'], place)
  return rules
}

/** A child whose key contains this entity's key cannot be detached. */
function compileOnDelete(
  { note, rules }: Side,
  other: Side | undefined,
): Pick<RelationModel, 'onDelete' | 'inTheirKeys'> {
  // Left behind under the same key, it would be found again by the next owner of that key.
  const isOwned = rules.strategy === 'sharedKey' && (other === undefined || optionOf<boolean>(note, 'owner') === true)
  const onDelete = optionOf<RelationModel['onDelete']>(note, 'onDelete') ?? (isOwned ? 'cascade' : 'detach')
  if (other === undefined || rules.strategy === 'sharedKey' || !isInTemplate(other.notes, other.note.property))
    return { onDelete }
  return { onDelete: onDelete === 'detach' ? 'restrict' : onDelete, inTheirKeys: true }
}

/** Refuses links that expire with their buckets where something else depends on them. */
function checkLinksByTime(
  { ttl }: Extract<ShardingModel, { by: 'hour' | 'day' }>,
  note: MemberNote<RelationDecorator>,
  other: Side | undefined,
  place: Place,
  { problems }: Compilation,
): void {
  if (ttl === undefined) return
  if (note.through !== undefined) {
    const message = 'Link records would stay when their keys expire here.'
    return problems.add('SKEIN_1051', place, message, 'Leave out ttl here, and give it to the class of the links.')
  }
  if (other !== undefined) {
    const message = 'Links that expire here would stay on the other side.'
    problems.add('SKEIN_1051', place, message, `Leave out ttl, or the other side ('${note.inverse}').`)
  }
  const onDelete = optionOf<string>(note, 'onDelete') ?? 'detach'
  if (onDelete !== 'detach' || optionOf<string>(note, 'orphans') === 'delete') {
    const option = onDelete === 'detach' ? "orphans: 'delete'" : `onDelete: '${onDelete}'`
    const message = `${option} would not find members whose links have expired.`
    problems.add('SKEIN_1051', place, message, 'Leave it out, or ttl.')
  }
}

function checkSharedKey(notes: EntityNotes, target: EntityNotes, place: Place, { problems }: Compilation): void {
  if (notes.set === target.set && notes.namespace === target.namespace) {
    const message = `sharedKey stores both under one key, and both are in the set '${notes.set}'.`
    problems.add('SKEIN_1052', place, message, 'Put them in different sets or namespaces.')
  }
  const [here, there] = [keyKind(notes), keyKind(target)]
  if (here !== undefined && there !== undefined && here !== there) {
    const message = `sharedKey stores both under one key, but the key of ${notes.name} is ${here} and that of ${target.name} is ${there}.`
    problems.add('SKEIN_1052', place, message, 'Give both keys the same type.')
  }
}

/** The client gives the keys of a map as text, and bytes cannot be told from that. */
function checkLinkKeys(target: EntityNotes, place: Place, { problems }: Compilation): void {
  if (storedKeyKind(target) !== 'bytes') return
  const message = `Links with attributes are stored by the key of ${target.name}, which is bytes and cannot be the key of a map.`
  const fix = `Leave out the attributes, or give ${target.name} a key that is a string or an integer.`
  problems.add('SKEIN_1049', place, message, fix)
}

/** True where the attributes of a link say when it was ended: it stays stored then. */
const keepsEnded = (attributes: PartNotes): boolean =>
  [...attributes.members.values()].flat().some(({ decorator }) => decorator === 'DeletedAt')

function attributesOf(
  note: MemberNote<RelationDecorator>,
  place: Place,
  { problems, parts }: Compilation,
): PartNotes | undefined {
  if (!('attributes' in note.options) || note.options.attributes === undefined) return undefined
  const target = evaluateTarget(note.options.attributes)
  const part = target && parts.get(target)
  if (!part) {
    const message = `Its attributes, ${target?.name ?? 'undefined'}, are not an @Embeddable class.`
    problems.add(
      'SKEIN_1053',
      place,
      message,
      'Give attributes: () => Class, and decorate the class with @Embeddable().',
    )
  } else if (part.embeddable?.layout === 'tuple') {
    const message = `Its attributes, ${part.name}, are stored as a map, not as a tuple.`
    problems.add('SKEIN_1049', place, message, `Leave the layout out of ${part.name}.`)
  }
  return part
}

function isConsolidate(options: object): options is Extract<OneToManyOptions, { strategy: 'consolidate' }> {
  return 'strategy' in options && options.strategy === 'consolidate'
}

// Reads the options alike for all strategies; which of them a strategy knows is checked above.
function optionOf<T>({ options }: MemberNote<RelationDecorator>, name: string): T | undefined {
  return (options as { readonly [option: string]: T | undefined })[name]
}
