// Global symbols, so that a Ref made by another copy of the package is still a Ref.
export const REF = Symbol.for('skein.ref')
export const COLLECTION = Symbol.for('skein.collection')
