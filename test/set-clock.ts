const Real = Date

/** Lets `Date` of this process follow another clock; gives what sets it back. */
export function setClock(now: () => number): () => void {
  globalThis.Date = new Proxy(Real, {
    construct: (_, given: []) => (given.length === 0 ? new Real(now()) : new Real(...given)),
    get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
  })
  return () => void (globalThis.Date = Real)
}
