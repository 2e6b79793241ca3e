/** Freezes plain data all the way down. Classes and the user's own codecs are left as they are. */
export function deepFreeze<T>(value: T): T {
  if (value instanceof Map) {
    for (const item of value.values()) deepFreeze(item)
  } else if (isPlain(value) && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const [name, item] of Object.entries(value)) if (name !== 'codec') deepFreeze(item)
  }
  return value
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const proto: unknown = Object.getPrototypeOf(value)
  return proto === Object.prototype || proto === null || Array.isArray(value)
}
