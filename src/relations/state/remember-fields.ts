/** Gives what puts the inside of an object back as it is now. A symbol, because entities may have a method of any name. */
export const REMEMBER = Symbol('remember')

interface Rememberable {
  [REMEMBER](): () => void
}

/** Returns a function that restores all fields of the object, and the maps in them: none can be left out. */
export function rememberFields<T extends object>(fields: T): () => void {
  const undo = (Object.keys(fields) as (keyof T)[]).map((name) => {
    const value = fields[name]
    const inside = rememberInside(value)
    return () => {
      fields[name] = value
      inside?.()
    }
  })
  return () => undo.forEach((each) => each())
}

function rememberInside(value: unknown): (() => void) | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (value instanceof Map) return rememberMap(value as Map<unknown, unknown>)
  return isRememberable(value) ? value[REMEMBER]() : undefined
}

const isRememberable = (value: object): value is Rememberable => REMEMBER in value

/** Returns a function that restores the entries of the map. */
export function rememberMap<K, V>(map: Map<K, V>): () => void {
  const entries = [...map]
  return () => {
    map.clear()
    for (const [key, value] of entries) map.set(key, value)
  }
}
