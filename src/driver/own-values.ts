/** Drops options whose value is undefined: `{ alone: config.alone }` may give undefined, which means the default. */
export function ownValues<T extends object>(given: T | undefined): Partial<T> {
  return Object.fromEntries(Object.entries(given ?? {}).filter(([, value]) => value !== undefined)) as Partial<T>
}
