/** Waits for the contributors that have to read first; undefined where none has to. */
export function together(planned: readonly (void | Promise<unknown>)[]): Promise<void> | undefined {
  const reading = planned.filter((each) => each !== undefined)
  return reading.length === 0 ? undefined : Promise.all(reading).then(() => undefined)
}
