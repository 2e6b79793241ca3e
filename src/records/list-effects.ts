import { isDeepStrictEqual } from 'node:util'

/** Inserts items before an index of a loaded list, as the server does. */
export function insertAt(list: unknown[], index: number, items: readonly unknown[]): void {
  fillTo(list, index)
  list.splice(index, 0, ...items)
}

/** Replaces the item at an index of a loaded list, as the server does; a negative index counts from the end. */
export function replaceAt(list: unknown[], index: number, replace: (item: unknown) => unknown): void {
  fillTo(list, index)
  const at = index < 0 ? list.length + index : index
  list[at] = replace(list[at])
}

/** Removes items by position of a loaded list, as the server does: a range that begins before the first item is cut. */
export function removeAt(list: unknown[], index: number, count: number): void {
  const begin = index < 0 ? list.length + index : index
  const first = Math.max(0, begin)
  list.splice(first, Math.max(0, begin + count - first))
}

/** Removes every item of a loaded list that equals one of these. */
export function removeItems<V>(list: V[], items: readonly V[]): void {
  replaceAll(
    list,
    list.filter((item) => !isIn(items, item)),
  )
}

/** Gives a loaded list other items and keeps the array. */
export function replaceAll<V>(list: V[], items: readonly V[]): void {
  for (const [i, item] of items.entries()) list[i] = item
  list.length = items.length
}

/** Items that a list does not have yet, each once. */
export function missingFrom<V>(list: readonly V[], items: readonly V[]): V[] {
  return items.filter((item, i) => !isIn(list, item) && !isIn(items.slice(0, i), item))
}

const isIn = (all: readonly unknown[], item: unknown): boolean => all.some((each) => isDeepStrictEqual(each, item))

/** The server fills a list up to an index with nothing. */
function fillTo(list: unknown[], index: number): void {
  while (list.length < index) list.push(null)
}
