import { isReservedBin, SUBKEYS_BIN } from '../reserved-bins.js'
import type { Place, Problems } from './problems.js'

const MAX_BIN = 15
// The client cuts longer names when it creates an index.
const MAX_INDEXED_BIN = 14
const MAX_SET = 63
const MAX_NAMESPACE = 31

/** No bin or field can be stored, and read again, under such a name: the client loses `__proto__` when it reads. */
export const isLostName = (name: string): boolean => name === '' || name === '__proto__' || name.includes('\0')

/** The bins of one record: every name may be used once, and must be one that the server takes. */
export class BinNames {
  readonly #problems: Problems
  readonly #takenBy = new Map<string, string>()

  constructor(problems: Problems) {
    this.#problems = problems
  }

  /** `option` is what gives another name, for instance `name: '…'`. */
  claim(bin: string, place: Place, option: string): void {
    const bytes = Buffer.byteLength(bin)
    const other = this.#takenBy.get(bin)
    if (isLostName(bin)) {
      this.#problems.add(
        'SKEIN_1014',
        place,
        `'${printable(bin)}' cannot be the name of a bin.`,
        `Give another with the option ${option}.`,
      )
    } else if (bytes > MAX_BIN) {
      const message = `The bin name '${bin}' has ${bytes} bytes; Aerospike takes at most ${MAX_BIN}.`
      this.#problems.add('SKEIN_1010', place, message, `Give a shorter one with the option ${option}.`)
    } else if (isReservedBin(bin)) {
      const message = `The bin name '${bin}' is reserved for Skein itself.`
      this.#problems.add('SKEIN_1013', place, message, `Give another with the option ${option}.`)
    } else if (other !== undefined) {
      const message = `The bin '${bin}' is already used by ${place.className}.${other}.`
      this.#problems.add('SKEIN_1012', place, message, `Give one of them another with the option ${option}.`)
    }
    if (other === undefined) this.#takenBy.set(bin, place.property ?? '')
  }

  /** The bin that says how members are stored; its usual name is reserved for it. */
  claimSubkeys(bin: string, place: Place): void {
    if (bin !== SUBKEYS_BIN) return this.claim(bin, place, "subkeys: '…'")
    const other = this.#takenBy.get(bin)
    if (other === undefined) this.#takenBy.set(bin, place.property ?? '')
    else {
      const message = `The bin '${bin}' already says how ${place.className}.${other} is stored.`
      this.#problems.add('SKEIN_1012', place, message, "Give one of them another with the option subkeys: '…'.")
    }
  }
}

export function checkCompanionSet(problems: Problems, set: string, place: Place): void {
  if (!isBadName(set, MAX_SET)) return
  const message = `'${printable(set)}' cannot be the name of the set of its companion records.`
  problems.add(
    'SKEIN_1032',
    place,
    message,
    `Name one with set: '…', of 1 to ${MAX_SET} bytes without : ; or control characters.`,
  )
}

export function checkIndexedBin(problems: Problems, bin: string, place: Place, option: string): void {
  const bytes = Buffer.byteLength(bin)
  if (bytes > MAX_INDEXED_BIN && bytes <= MAX_BIN) {
    const message = `The bin name '${bin}' has ${bytes} bytes; an indexed bin has at most ${MAX_INDEXED_BIN}.`
    problems.add('SKEIN_1011', place, message, `Give a shorter one with the option ${option}.`)
  }
  if (/[:;=,]/.test(bin)) {
    const message = `The bin name '${bin}' has a character (: ; = ,) that an index cannot name.`
    problems.add('SKEIN_1014', place, message, `Give another with the option ${option}.`)
  }
}

export function checkSet(problems: Problems, set: string | undefined, className: string): void {
  if (set === undefined) {
    problems.add('SKEIN_1032', { className }, 'It has no set.', `Name one: @Record({ set: '…' }).`)
  } else if (isBadName(set, MAX_SET)) {
    const message = `'${printable(set)}' cannot be the name of a set.`
    problems.add('SKEIN_1032', { className }, message, `Use 1 to ${MAX_SET} bytes without : ; or control characters.`)
  }
}

export function checkNamespace(problems: Problems, namespace: string, className: string): void {
  if (isBadName(namespace, MAX_NAMESPACE) || /[\s,="/\\]/.test(namespace) || namespace === 'null') {
    const message = `'${printable(namespace)}' cannot be the name of a namespace.`
    problems.add(
      'SKEIN_1033',
      { className },
      message,
      `Use 1 to ${MAX_NAMESPACE} letters, digits, - or _, as the server's configuration has it.`,
    )
  }
}

function isBadName(name: string, maxBytes: number): boolean {
  return typeof name !== 'string' || name === '' || Buffer.byteLength(name) > maxBytes || /[:;\x00-\x1f\x7f]/.test(name)
}

function printable(name: unknown): string {
  return JSON.stringify(name).replace(/^"|"$/g, '')
}
