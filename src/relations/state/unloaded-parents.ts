import type { KeyValue } from '../../keys/index.js'
import { userKeyId } from '../../plan/record-key.js'
import type { Binding } from '../contract/binding.js'

/** A collection that has taken in a child which is known by its key alone. */
interface Adopter {
  giveAway(key: KeyValue): void
}

/** Who takes in which child that is known by its key alone, for each session. */
const ADOPTERS = new WeakMap<object, Map<string, Adopter>>()

/** A child that nobody has loaded has one parent, too: the one it was given last. */
export function adopt(parent: Adopter, { relation, reader }: Binding, key: KeyValue): void {
  if (relation.kind !== 'oneToMany' || relation.inverse === undefined) return
  let adopters = ADOPTERS.get(reader)
  if (adopters === undefined) ADOPTERS.set(reader, (adopters = new Map<string, Adopter>()))
  const id = `${relation.target}.${relation.inverse} ${userKeyId(key)}`
  const before = adopters.get(id)
  adopters.set(id, parent)
  if (before !== parent) before?.giveAway(key)
}
