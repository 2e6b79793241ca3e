import type { InverseIndexModel } from '../../../model/index.js'
import type { PartStep } from './part-tree.js'

/** Whether an inverse index is about parts at the end of these steps: of a collection that contains itself, at every level. */
export function indexCovers({ through = [] }: InverseIndexModel, steps: readonly PartStep[]): boolean {
  if (steps.length < through.length || (through.length === 0 && steps.length > 0)) return false
  return steps.every(({ field }, i) => field.name === through[Math.min(i, through.length - 1)])
}
