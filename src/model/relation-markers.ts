// Global symbols, so that a Ref made by another copy of the package is still a Ref.
export const REF = Symbol.for('skein.ref')
/** Symbol under which a Ref says what it holds: an entity, a key or null. */
export const HELD = Symbol.for('skein.held')
export const COLLECTION = Symbol.for('skein.collection')
