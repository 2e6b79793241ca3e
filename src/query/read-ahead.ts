/** The same items, each asked for while the one before is being used: at most one waits. */
export async function* readAhead<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = items.next()
  try {
    for (;;) {
      const item = await next
      if (item.done === true) return
      next = items.next()
      // Thrown again where it is awaited.
      next.catch(() => undefined)
      yield item.value
    }
  } finally {
    // What was asked for ends before the caller is told that all has ended.
    await next.catch(() => undefined)
    await items.return(undefined)
  }
}
