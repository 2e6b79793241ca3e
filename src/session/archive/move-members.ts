import { archivedAlong, type Model } from '../../model/index.js'
import type { Bins } from '../../plan/command.js'
import { userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { IndexedBy } from '../../relations/contract/index-lookup.js'
import type { RelationStrategy } from '../../relations/contract/relation-strategy.js'
import type { MappedClass } from '../mapping/mapped-class.js'

/** All classes of a database, as moves need them. */
export interface ArchivedClasses {
  readonly model: Model
  of(name: string): MappedClass
  ofEntity(entity: object): MappedClass
}

/** Records of one class that move with others, each with the record that it belongs to. */
export interface MovingMembers {
  readonly mapped: MappedClass
  readonly keys: readonly RecordKey[]
  /** False for a record that a list names, and that belongs to another by now. */
  readonly belongs: (key: RecordKey, bins: Bins) => boolean
}

/** A record as it was read, whichever namespace it is in. */
export interface ReadRecord {
  readonly key: RecordKey
  readonly bins: Bins
}

/** Members that move with these records of one set, by class. */
export function membersOf(
  mapped: MappedClass,
  records: readonly ReadRecord[],
  classes: ArchivedClasses,
): readonly MovingMembers[] {
  if (!mapped.kinds.some((kind) => alongIn(kind, classes).length > 0)) return []
  const found = new Map<string, { strategy: RelationStrategy; owners: Map<string, UserKey>; keys: RecordKey[] }>()
  for (const { key, bins } of records) {
    const kind = classes.ofEntity(mapped.codec.hydrate(bins))
    for (const strategy of alongIn(kind, classes)) {
      const id = `${kind.model.name}.${strategy.relation}`
      const entry = found.get(id) ?? { strategy, owners: new Map<string, UserKey>(), keys: [] }
      found.set(id, entry)
      const target = classes.of(strategy.model.target).model
      for (const member of strategy.listed!(bins, key)) {
        entry.owners.set(userKeyId(member), key.key)
        entry.keys.push({ ...key, set: target.set, key: member })
      }
    }
  }
  return [...found.values()].map(({ strategy, owners, keys }) => {
    const target = classes.of(strategy.model.target)
    const back = target.model.relations.find(({ name }) => name === strategy.model.inverse)?.bin
    return {
      mapped: target,
      keys,
      belongs: ({ key }, bins) =>
        back === undefined ||
        (bins[back] != null && userKeyId(bins[back] as UserKey) === userKeyId(owners.get(userKeyId(key))!)),
    }
  })
}

/** Members that an index of a namespace finds by one record, class by class and step by step. */
export async function* indexedMembers(
  mapped: MappedClass,
  { key, bins }: ReadRecord,
  classes: ArchivedClasses,
  query: (lookup: IndexedBy) => AsyncIterable<readonly RecordKey[]>,
): AsyncGenerator<MovingMembers> {
  const { model, relations } = classes.ofEntity(mapped.codec.hydrate(bins))
  for (const { lookup, model: relation } of relations) {
    if (lookup === undefined || !archivedAlong(model, relation, classes.model.entities)) continue
    const { index, value, model: target } = lookup({ key })
    const isOwn: MovingMembers['belongs'] = (_, { [index.bin]: back }) =>
      back != null && userKeyId(back as UserKey) === userKeyId(value)
    for await (const keys of query({ index, value, model: target, marked: true }))
      yield { mapped: classes.of(target.name), keys, belongs: isOwn }
  }
}

/** Relations whose members move with a record of the class. */
const alongIn = ({ model, relations }: MappedClass, { model: { entities } }: ArchivedClasses): RelationStrategy[] =>
  relations.filter((strategy) => strategy.listed !== undefined && archivedAlong(model, strategy.model, entities))

/** The class with which records of this one are archived; undefined where they are archived by themselves. */
export function archivedWith({ model }: MappedClass, { model: { entities } }: ArchivedClasses): string | undefined {
  for (const owner of entities.values())
    for (const relation of owner.relations)
      if (relation.target === model.name && archivedAlong(owner, relation, entities)) return owner.name
  return undefined
}
