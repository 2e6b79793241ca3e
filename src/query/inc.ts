const INCREMENT = Symbol.for('skein.increment')

/** Adds to what is stored, in a bulk update. */
export interface Increment<N extends number | bigint = number | bigint> {
  readonly [INCREMENT]: N
}

/**
 * In `query.update`: adds to what is stored, which counts as 0 where there is nothing.
 *
 * @example
 * await db.query(Listing).where({ city: 'Bern' }).update({ price: inc(10) })
 */
export function inc(by: number): Increment<number>
export function inc(by: bigint): Increment<bigint>
export function inc(by: number | bigint): Increment {
  return Object.freeze({ [INCREMENT]: by })
}

/** Amount to add; undefined for a plain value. */
export function incrementOf(given: unknown): number | bigint | undefined {
  return typeof given === 'object' && given !== null && INCREMENT in given ? (given as Increment)[INCREMENT] : undefined
}
