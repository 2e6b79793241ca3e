import { CHILDREN, readProperty, type ChildrenField } from '../codec/index.js'
import { describeKey, type KeyValue } from '../keys/index.js'

/** A step from a part to one of its own children. */
export interface ChildStep {
  readonly field: ChildrenField
  readonly id: KeyValue
}

interface HasChildren {
  readonly [CHILDREN]: Iterable<object>
}

/** The part at the end of these steps; undefined where one on the way is not there. */
export function partInside(child: object, steps: readonly ChildStep[]): object | undefined {
  let part: object | undefined = child
  for (const { field, id } of steps) {
    const key = field.keyOf(id)
    const members: Iterable<object> = (readProperty(part, field.name) as HasChildren)[CHILDREN]
    part = [...members].find((each) => field.keyOf(field.codec.key!.keyOf(each)) === key)
    if (part === undefined) return undefined
  }
  return part
}

/** Steps as messages name them. */
export const wayOf = (steps: readonly ChildStep[]): string =>
  steps.map(({ field, id }) => `.${field.name}[${describeKey(id)}]`).join('')
