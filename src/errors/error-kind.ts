// Symbol.for is shared by every copy of the package in a process, so `instanceof` works across copies.
const KIND = Symbol.for('skein.error.kind')

type Constructor = abstract new (...args: never[]) => object

/** Gives an error class its name and lets `instanceof` recognise instances made by another copy of Skein. */
export function nameErrorClass(errorClass: Constructor, kind: string): void {
  Object.defineProperty(errorClass.prototype, KIND, { value: kind })
  Object.defineProperty(errorClass.prototype, 'name', { value: kind, configurable: true, writable: true })
}

/** True when a class in the value's prototype chain has the same kind as the class asked for. */
export function isOfKind(value: unknown, errorClass: Constructor): boolean {
  const wanted = ownKind(errorClass.prototype as object)
  for (let proto = parentOf(value); proto !== null; proto = parentOf(proto)) {
    if (proto === errorClass.prototype) return true
    if (wanted !== undefined && ownKind(proto) === wanted) return true
  }
  return false
}

function ownKind(proto: object): unknown {
  return Object.getOwnPropertyDescriptor(proto, KIND)?.value
}

function parentOf(value: unknown): object | null {
  return typeof value === 'object' && value !== null ? (Object.getPrototypeOf(value) as object | null) : null
}
