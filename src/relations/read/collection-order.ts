import type { CollectionOrder } from '../../model/related.js'
import type { Binding } from '../contract/binding.js'
import type { OrderView } from '../contract/collection-members.js'
import { checkNumber } from '../contract/relation-errors.js'

/** A further order of a collection, as people read it; each read asks for the view anew. */
export function collectionOrder<T extends object>(
  order: () => OrderView,
  binding: () => Binding | undefined,
): CollectionOrder<T> {
  const counted = (count: number): number => (checkNumber('count', count, 0, binding()), count)
  return {
    count: () => order().count(),
    first: async (count) => (await order().first(counted(count))) as T[],
    last: async (count) => (await order().last(counted(count))) as T[],
    page: async ({ offset = 0, count }) => {
      checkNumber('offset', offset, -Infinity, binding())
      return (await order().page({ offset, count: counted(count) })) as T[]
    },
    range: async (options) => (await order().range(options)) as T[],
  }
}
