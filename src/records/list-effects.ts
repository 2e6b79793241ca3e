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

/** The server fills a list up to an index with nothing. */
function fillTo(list: unknown[], index: number): void {
  while (list.length < index) list.push(null)
}
