import type { EntityClass } from '../model/index.js'
import { MAX_DEPTH } from './type-codec.js'
import { ValueProblem, shown } from './value-problem.js'

/** True for an instance of the class and for a plain object. Any other, such as a Date or a Promise, has none of the fields and would be stored as a part without any. */
export function isPartOf(value: object, partClass: EntityClass): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null
  if (prototype === partClass.prototype || prototype === Object.prototype || prototype === null) return true
  // Plain objects may come from another realm.
  return value instanceof partClass || Object.getPrototypeOf(prototype) === null
}

/** Throws for what is not a part of the class, or contains itself. */
export function checkPart(value: unknown, depth: number, partClass: EntityClass): object {
  if (typeof value !== 'object' || value === null || !isPartOf(value, partClass))
    throw new ValueProblem(
      `${shown(value)} is not an instance of ${partClass.name}`,
      'Give an instance, or a plain object with its fields.',
    )
  if (depth < MAX_DEPTH) return value
  throw new ValueProblem(
    `the part contains itself, or is deeper than ${MAX_DEPTH} levels`,
    'Store it flatter, or in records of its own.',
  )
}
