import { SkeinError } from '../../errors/index.js'

/** As deep as a value may be stored, and some levels for the lists and parts around it. */
const MAX_DEPTH = 64

/** Refuses data that is not an object, too deep to walk, or has keys that would stand for the class or the prototype of what is made of it. */
export function checkPlain(className: string, data: unknown): void {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    const given = Array.isArray(data) ? 'a list' : data === null ? 'null' : `a ${typeof data}`
    throw unfit(className, undefined, `fromPlain takes an object, not ${given}`, 'Give one object for each entity')
  }
  checkKeys(className, data, '', 0)
}

function checkKeys(className: string, value: unknown, path: string, depth: number): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > MAX_DEPTH) {
    throw unfit(
      className,
      firstStep(path),
      `the data is circular or deeper than ${MAX_DEPTH} levels`,
      'Send it flatter',
    )
  }
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) checkKeys(className, item, `${path}[${i}]`, depth + 1)
    return
  }
  if (!isPlainObject(value)) return
  for (const name of Object.keys(value)) {
    const place = path === '' ? name : `${path}.${name}`
    if (name === 'constructor' || name === '__proto__') {
      throw unfit(className, firstStep(place), `'${shownPath(place)}' cannot be the name of a property`, 'Leave it out')
    }
    checkKeys(className, (value as Record<string, unknown>)[name], place, depth + 1)
  }
}

/** True for what JSON.parse makes, also where a key hides its constructor. */
function isPlainObject(value: object): boolean {
  const proto: unknown = Object.getPrototypeOf(value)
  return proto === Object.prototype || proto === null
}

/** The data of a request cannot become an entity as the call allows it. */
export function unfit(className: string, property: string | undefined, problem: string, fix: string): SkeinError {
  return new SkeinError('SKEIN_2205', `${className}: ${problem}.`, { className, property, fix: `${fix}.` })
}

const firstStep = (path: string): string | undefined => /^[^.[]+/.exec(path)?.[0]

const shownPath = (path: string): string => (path.length > 80 ? `…${path.slice(-80)}` : path)
