import type { KeyValue } from '../../keys/index.js'
import { userKeyId } from '../../plan/record-key.js'
import type { Binding } from '../contract/binding.js'

/** A collection that has taken in a child which is known by its key alone. */
interface NewParent {
  giveAway(key: KeyValue): void
}

/** Parents that take in children known by their keys alone, for each session. */
const NEW_PARENTS = new WeakMap<object, Map<string, NewParent>>()

/** A child that nobody has loaded has one parent, too: the one it was given last. */
export function takeFromOthers(parent: NewParent, { relation, reader }: Binding, key: KeyValue): void {
  if (relation.kind !== 'oneToMany' || relation.inverse === undefined) return
  let parents = NEW_PARENTS.get(reader)
  if (parents === undefined) NEW_PARENTS.set(reader, (parents = new Map<string, NewParent>()))
  const id = `${relation.target}.${relation.inverse} ${userKeyId(key)}`
  const before = parents.get(id)
  parents.set(id, parent)
  if (before !== parent) before?.giveAway(key)
}
