/** Waits for what has to be read first; nothing is awaited where there is nothing. */
export function together(planned: readonly unknown[]): void | Promise<void> {
  const reading = planned.filter((each) => each instanceof Promise)
  if (reading.length > 0) return Promise.all(reading).then(() => undefined)
}
