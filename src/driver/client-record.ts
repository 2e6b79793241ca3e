import type { Bins, WriteCommand } from '../plan/command.js'
import type { RecordKey } from '../plan/record-key.js'
import { Double, GeoJSON, type ClientKey, type ClientRecord } from './aerospike-client.js'
import type { StoredRecord } from './outcome.js'
import { SkeinError } from '../errors/index.js'
import { isDouble, isGeo, type Value } from '../plan/value.js'

const NEVER_EXPIRES = 0xffffffff
export const NO_BINS: Bins = Object.freeze({})

/** Made by a constructor, as commands are. */
class KeyOfCall implements ClientKey {
  readonly ns: string
  readonly set: string
  readonly key: RecordKey['key']
  // The client puts the digest into the key it is given, which costs less where there is a place for it.
  readonly digest: undefined

  constructor({ namespace, set, key }: RecordKey) {
    this.ns = namespace
    this.set = set
    this.key = key
    this.digest = undefined
  }
}

export const clientKey = (key: RecordKey): ClientKey => new KeyOfCall(key)

class ReadRecord implements StoredRecord {
  readonly bins: Bins
  readonly generation: number
  readonly ttl: number | null

  constructor(bins: Bins, generation: number, ttl: number | null) {
    this.bins = bins
    this.generation = generation
    this.ttl = ttl
  }
}

export const storedRecord = ({ bins, gen, ttl }: ClientRecord): StoredRecord =>
  new ReadRecord((bins as Bins | null | undefined) ?? NO_BINS, gen ?? 0, storedTtl(ttl))

/** Seconds until a record expires, or null. */
export const storedTtl = (ttl: number | null): number | null =>
  ttl === null || ttl < 0 || ttl === NEVER_EXPIRES ? null : ttl

/** The bins as `put` takes them, of a write that sets and removes bins and asks for nothing else; else undefined. */
export function plainBins(command: WriteCommand): object | undefined {
  if (command.watchSize || command.watchGeneration) return undefined
  if (command.bins !== undefined) return convertBins(command.bins)
  const { operations } = command
  for (let i = 0; i < operations.length; i++) {
    const { kind } = operations[i]
    if (kind !== 'writeBin' && kind !== 'removeBin') return undefined
  }
  const bins: Record<string, unknown> = {}
  for (let i = 0; i < operations.length; i++) {
    const operation = operations[i]
    if (operation.kind === 'writeBin') setBin(bins, operation.bin, clientValue(operation.value, operation.bin))
    else if (operation.kind === 'removeBin') setBin(bins, operation.bin, null)
  }
  return bins
}

/** Bins with values that the client takes; the object itself where none has to be converted. */
function convertBins(bins: Bins): object {
  let copy: Record<string, unknown> | undefined
  for (const name in bins) {
    const value = bins[name]!
    const converted = clientValue(value, name)
    if (converted !== value && !Object.is(converted, value)) setBin((copy ??= { ...bins }), name, converted)
  }
  return copy ?? bins
}

// A plain assignment to a bin of this name would replace the prototype.
function setBin(bins: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(bins, name, { value, enumerable: true, configurable: true, writable: true })
  else bins[name] = value
}

// Far deeper than any sensible value, far shallower than where the binding's recursion ends the process.
const DEEPEST = 64

/**
 * The value as the client must be given it. The client crashes on circular or very deep values and stores garbage for
 * objects it does not know, so those are refused here; a value without doubles or geo texts is passed on as it is.
 */
export function clientValue(value: Value, bin: string, depth = 0): unknown {
  if (typeof value === 'string') return checkText(value, bin)
  if (typeof value !== 'object' || value === null) return checkScalar(value, bin)
  if (isDouble(value)) return clientDouble(value.value)
  if (isGeo(value)) return new GeoJSON(value.json)
  if (value instanceof Uint8Array)
    return Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  if (depth >= DEEPEST) throw unsendable(bin, `is nested more than ${DEEPEST} levels deep, or contains itself`)
  if (Array.isArray(value)) return clientList(value as readonly Value[], bin, depth)
  if (value instanceof Map) return clientMap(value as ReadonlyMap<unknown, Value>, bin, depth)
  return clientObject(value as { readonly [key: string]: Value }, bin, depth)
}

// `new Double(NaN)` throws, but a bare NaN is sent as a double anyway; and it reads its argument as text, which has no -0.
function clientDouble(value: number): unknown {
  if (Number.isNaN(value)) return value
  const double = new Double(value)
  if (value === 0) double.Double = value
  return double
}

function clientList(list: readonly Value[], bin: string, depth: number): unknown {
  let copy: unknown[] | undefined
  for (let i = 0; i < list.length; i++) {
    const converted = clientValue(list[i], bin, depth + 1)
    if (converted !== list[i] && !Object.is(converted, list[i])) (copy ??= [...list])[i] = converted
  }
  return copy ?? list
}

function clientMap(map: ReadonlyMap<unknown, Value>, bin: string, depth: number): unknown {
  const copy = new Map<unknown, unknown>()
  for (const [key, item] of map) copy.set(checkMapKey(key, bin), clientValue(item, bin, depth + 1))
  return copy
}

function clientObject(object: { readonly [key: string]: Value }, bin: string, depth: number): unknown {
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null) {
    throw unsendable(bin, `is a ${object.constructor.name}, which the client would store as garbage`)
  }
  let copy: Record<string, unknown> | undefined
  for (const key of Object.keys(object)) {
    checkText(key, bin)
    const converted = clientValue(object[key], bin, depth + 1)
    if (!Object.is(converted, object[key])) (copy ??= { ...object })[key] = converted
  }
  return copy ?? object
}

function checkScalar(value: null | boolean | number | bigint, bin: string): unknown {
  if (typeof value === 'bigint' && BigInt.asIntN(64, value) !== value)
    throw unsendable(bin, 'does not fit into 64 bits')
  if (value === undefined || typeof value === 'function' || typeof value === 'symbol') {
    throw unsendable(bin, `is ${typeof value}, which cannot be stored`)
  }
  return value
}

function checkText(text: string, bin: string): string {
  // The client cuts strings at the first NUL.
  if (text.includes('\0')) throw unsendable(bin, 'contains a NUL character, at which the client would cut it')
  return text
}

function checkMapKey(key: unknown, bin: string): unknown {
  if (typeof key === 'string') return checkText(key, bin)
  if (typeof key === 'bigint' || Number.isSafeInteger(key) || key instanceof Uint8Array) return key
  throw unsendable(bin, `has a map key of type ${typeof key}, which the client would drop silently`)
}

function unsendable(bin: string, problem: string): SkeinError {
  return new SkeinError('SKEIN_2290', `The value of bin '${bin}' ${problem}.`, {
    bin,
    fix: 'Store plain data: numbers, strings, booleans, bytes, lists, maps and plain objects of them; give the property a codec for anything else.',
  })
}
