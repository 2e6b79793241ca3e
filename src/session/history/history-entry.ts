import { HISTORY_BIN, MADE_BIN, STORED_KEYS } from '../../model/index.js'
import type { Bins } from '../../plan/command.js'
import type { WriteOperation } from '../../plan/operation.js'
import { mapKeepRange, mapPut, writeBin } from '../../plan/operations.js'
import { recordKey, type RecordKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { MappedClass } from '../mapping/mapped-class.js'

/** State of a record, with when it was made and by whom. */
export interface RecordState {
  /** Milliseconds; 0 where nobody noted it. */
  readonly at: number
  readonly by: string | null
  readonly version: number
  /** Null for the end of the record: it was deleted then. */
  readonly bins: Bins | null
}

/** The record of the history, under the key of the record itself. */
export const historyKey = ({ model }: MappedClass, { key }: RecordKey): RecordKey =>
  recordKey(model.namespace, model.history!.set, key)

/** Notes in the record itself when its new state was made and by whom. */
export const madeNow = (now: Date, by: string | undefined): WriteOperation =>
  writeBin(MADE_BIN, [now.getTime(), by ?? null])

/** State that a record has which was read. */
export function stateOf({ model, binOf }: Named, bins: Bins): RecordState {
  const made = bins[MADE_BIN] as readonly [number, string | null] | undefined
  const [at, by] = made ?? [(bins[binOf(model.updatedAt)] ?? bins[binOf(model.createdAt)] ?? 0) as number, null]
  return { at, by, version: (bins[binOf(model.version)] ?? 0) as number, bins }
}

interface Named {
  readonly model: MappedClass['model']
  readonly binOf: (property: string | undefined) => string
}

/** The class with a lookup that always answers. */
export const named = (mapped: MappedClass): Named => ({
  model: mapped.model,
  binOf: (property) => mapped.binOf(property) ?? '',
})

/**
 * Adds a state to the history, and drops the oldest beyond the number that is kept. Key and value depend on the state alone, so that adding
 * it twice is the same as once.
 */
export function addState(mapped: MappedClass, state: RecordState): readonly WriteOperation[] {
  const { keep } = mapped.model.history!
  const { at, by, version, bins } = state
  const value: Value = [version, at, by, bins === null ? null : storable(mapped, bins)]
  return [mapPut(HISTORY_BIN, entryKey(at, version), value), mapKeepRange(HISTORY_BIN, 'index', -keep, keep)]
}

const entryKey = (at: number, version: number): string =>
  `${String(at).padStart(15, '0')}.${String(version).padStart(10, '0')}`

/** Values and references of the record, as its class would write them: what is read back has lost what kind of number it was. */
function storable(mapped: MappedClass, bins: Bins): ReadonlyMap<string, Value> {
  const { codec, model } = mapped
  const values = codec.dehydrate(codec.hydrate(bins))
  const stamps = [model.version, model.createdAt, model.updatedAt].flatMap((name) => mapped.binOf(name) ?? [])
  const refs = model.relations.flatMap(({ bin, strategy }) => (STORED_KEYS[strategy] === 'one' ? (bin ?? []) : []))
  const kind = model.discriminator === undefined ? [] : [model.discriminator.bin]
  const asRead = [...stamps, ...refs, ...kind].map((name) => [name, bins[name]] as const)
  const all = [...Object.entries(values), ...asRead]
  return new Map(all.filter((entry): entry is [string, Value] => (entry[1] ?? null) !== null))
}

/** States that the record of a history holds, the oldest first. */
export function statesIn(bins: Bins): readonly RecordState[] {
  const stored = bins[HISTORY_BIN] as ReadonlyMap<string, Stored> | Readonly<Record<string, Stored>> | undefined
  if (stored === undefined) return []
  const entries =
    stored instanceof Map
      ? [...(stored as ReadonlyMap<string, Stored>)]
      : Object.entries(stored as Readonly<Record<string, Stored>>)
  return entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, [version, at, by, held]]) => ({ version, at, by, bins: held === null ? null : asBins(held) }))
}

type Stored = readonly [number, number, string | null, ReadonlyMap<string, Value> | Bins | null]

const asBins = (held: ReadonlyMap<string, Value> | Bins): Bins =>
  held instanceof Map ? (Object.fromEntries(held) as Bins) : (held as Bins)
