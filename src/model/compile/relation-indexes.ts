import type { MemberNote } from '../declaration.js'
import type { IndexModel } from '../property-model.js'
import type { RelationStrategy } from '../relation-model.js'
import { targetsOf } from '../several.js'
import { checkOptions } from './check-options.js'
import type { Compilation, EntityNotes } from './compilation.js'
import { compileKeyIndex } from './compile-index.js'
import { indexedPart, inverseOption } from './compile-inverse-index.js'
import type { RelationDraft } from './relation-draft.js'
import { keyKind, storedKeyKind } from './key-kind.js'
import { evaluateTarget, isRelation, mainNote, namesSeveral } from './members.js'

/** The indexes that a relation needs on its own side: asked for by `@Index`, by the other side's strategy, or by an inverse index. */
export function relationIndexes(
  entity: EntityNotes,
  relation: RelationDraft,
  asked: MemberNote<'Index'> | undefined,
  compilation: Compilation,
): IndexModel[] {
  const { problems, entities, parts } = compilation
  const place = { className: entity.name, property: relation.name }
  const target = [...entities.values()].find((other) => other.name === targetsOf(relation)[0])
  // Keys of several classes are stored with their sets, as text.
  const kind = relation.several === undefined ? target && storedKeyKind(target) : 'string'
  const indexes: IndexModel[] = []
  const bin = relation.bin
  const isIndexed = target && indexedByInverse(relation, target)
  const on = bin === undefined ? undefined : KEYS_ON[relation.strategy]
  if (asked) checkOptions(problems, asked.options, ['name'], place, '@Index on a relation')
  if (asked && relation.through) {
    const message = '@Index is on a collection of link records, whose keys say both ends at once.'
    const { target: link, through } = relation
    problems.add('SKEIN_1026', place, message, `Put it on ${link}.${through.ref}, and ask db.query(${link}).`)
  } else if (asked && on === undefined) {
    const message = '@Index is on a relation that stores no keys here.'
    const fix = 'Leave it out; references by key bin, key lists and link maps can be indexed.'
    problems.add('SKEIN_1026', place, message, fix)
  } else if ((asked || isIndexed) && bin !== undefined && kind !== undefined) {
    const name = asked?.options.name ?? (isIndexed ? isIndexed.indexName : undefined)
    const { set: apart, when } = relation.companions ?? {}
    const isInOwner = apart === undefined || when !== undefined
    if (isInOwner) indexes.push(compileKeyIndex(name, kind, on ?? 'value', { set: entity.set, bin, place }, problems))
    if (apart !== undefined) {
      // Of two indexes, the given name belongs to that of the owners.
      const ofShards = name === undefined || !isInOwner ? name : `${name}_shards`
      const index = compileKeyIndex(ofShards, kind, on ?? 'value', { set: apart, bin, place }, problems)
      indexes.push({ ...index, set: apart })
    }
  }
  for (const inverse of relation.inverseIndexes ?? []) {
    const child = [...parts.values()].find((other) => other.name === relation.target)
    const part = indexedPart(child, inverse, compilation)
    const pointed = part && mainNote(part, inverse.ref)?.target
    const pointsTo = entities.get(evaluateTarget(pointed) ?? Object)
    // Parts hold keys as people use them.
    const pointedKind = namesSeveral(pointed) ? 'string' : pointsTo && keyKind(pointsTo)
    if (pointedKind === undefined) continue
    const option = inverseOption(inverse)
    const { set: apart, when } = relation.companions ?? {}
    const compile = (set: string): IndexModel =>
      compileKeyIndex(undefined, pointedKind, 'mapKeys', { set, bin: inverse.bin, place, option }, problems)
    if (apart === undefined || when !== undefined) indexes.push(compile(entity.set))
    if (apart !== undefined) indexes.push({ ...compile(apart), set: apart })
  }
  return indexes
}

/** Bin and kind of an index on the keys of a relation. */
const KEYS_ON: { readonly [strategy in RelationStrategy]?: IndexModel['on'] } = {
  keyBin: 'value',
  keyList: 'listElements',
  linkMap: 'mapKeys',
}

/** The other side's options, when it finds its children by an index on this side's bin. */
function indexedByInverse(relation: RelationDraft, target: EntityNotes): { readonly indexName?: string } | undefined {
  const note = relation.inverse === undefined ? undefined : mainNote(target, relation.inverse)
  if (!note || !isRelation(note)) return undefined
  const { options } = note
  return 'strategy' in options && options.strategy === 'secondaryIndex' ? options : undefined
}
