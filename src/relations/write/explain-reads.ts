import type { EntityModel, RelationModel } from '../../model/index.js'
import type { DescribeStep } from '../../plan/deferred-steps.js'
import { showKey, type RecordKey } from '../../plan/record-key.js'

/** A record that a plan speaks of. */
interface Named {
  readonly model: EntityModel
  readonly key: RecordKey
}

/** Describes the removal of a record from the owner it turns out to belong to. */
export function detaching(record: Named, owner: EntityModel, property: string): DescribeStep {
  return (isTransaction) => {
    const dropping = `the ${owner.name} it belongs to by then drops it from ${property}`
    const name = nameOf(record)
    return isTransaction
      ? `read ${name} in the transaction: ${dropping}`
      : `the answer for ${name} says where it belongs: ${dropping}`
  }
}

/** A transaction looks first: one write for each record cannot leave out a part of itself. */
export function whileItHolds(record: Named): DescribeStep {
  return (isTransaction) =>
    isTransaction
      ? `read ${nameOf(record)} in the transaction: commands whose condition does not hold are left out`
      : undefined
}

/** A record is read again after the write, and where it says otherwise, the write is rolled back. */
export function confirming(record: Named, undone: string): DescribeStep {
  return (isTransaction) =>
    isTransaction ? undefined : `read ${nameOf(record)} again: if it was changed meanwhile, ${undone}`
}

/** An owner that finds its members by index is not written. */
export function askingOwner(record: Named, owner: EntityModel): DescribeStep {
  return (isTransaction) => {
    const name = `the ${owner.name} of ${nameOf(record)}`
    return isTransaction
      ? `${name} is touched in the transaction, so that it cannot be deleted meanwhile`
      : `read ${name}: if it is gone, the reference to it is rolled back`
  }
}

/** Members that come while their owner is being deleted. */
export function lookingAgain(owner: Named, { name }: RelationModel): DescribeStep {
  return (isTransaction) =>
    `read ${name} of ${nameOf(owner)} again${isTransaction ? ' in the transaction' : ''}: what was added meanwhile is treated the same way`
}

/** A write to a companion record, which may not be there yet. */
export function routing(owner: Named, home: RecordKey): DescribeStep {
  return (isTransaction) =>
    isTransaction
      ? `read ${showKey(home, true)} in the transaction: if there is none, it is created and noted in ${nameOf(owner)}`
      : `if ${showKey(home, true)} does not exist yet, it is created and noted in ${nameOf(owner)}; if ${nameOf(owner)} has another number of shards, the write is routed again`
}

/** A write to where members are, as far as this process knows: to their owner's record, or to a companion that is not made for it. */
export function rerouted(owner: Named, isInOwner = false): DescribeStep {
  return (isTransaction) => {
    if (isInOwner) return `if the members of ${nameOf(owner)} are in companion records, the write is routed there`
    if (isTransaction) return undefined
    return `if ${nameOf(owner)} has another number of shards, the write is routed again`
  }
}

/** A write to a bucket of time, which may not be there yet. */
export function routingToBucket(owner: Named, home: RecordKey): DescribeStep {
  return (isTransaction) =>
    isTransaction
      ? `read ${showKey(home, true)} in the transaction: if there is none, it is listed in ${nameOf(owner)} and created`
      : `if ${showKey(home, true)} does not exist yet, it is listed in ${nameOf(owner)} and created; if ${nameOf(owner)} has buckets of another length, the write is routed again`
}

/** A change of members in companions is counted by what they answer, in the owner's record or in shards of the count. */
export function counting(owner: Named, relation: string, shards: string | undefined): DescribeStep {
  return (isTransaction) => {
    if (isTransaction) return undefined
    const place =
      shards === undefined ? nameOf(owner) : `${shards} of ${nameOf(owner)}, made where it does not exist yet`
    return `the answer says by how many members ${relation} has changed: that is added to ${place}`
  }
}

const nameOf = ({ model, key }: Named): string => `${model.name} ${showKey(key, true)}`
