import { types } from 'node:util'
import type { Bins } from '../plan/command.js'
import type { WriteOperation } from '../plan/operation.js'
import type { ClassFunctions } from './class-functions.js'
import { CounterProperty } from './counter-property.js'
import { readProperty } from './own-property.js'
import { isMissing, type Loaded, type MutableBins, type PropertyCodec } from './property-codec.js'
import { MAX_DEPTH } from './type-codec.js'
import { ValueProblem, shown, throwIn } from './value-problem.js'

/** A part whose fields are bins of the record itself. It is there as soon as one of its bins is. */
export class SpreadProperty implements PropertyCodec {
  readonly name: string
  readonly bins: readonly string[]
  readonly inline = 'other'
  readonly isCompared = true
  readonly isAssigned = true
  readonly isPlain: boolean
  readonly #fields: readonly PropertyCodec[]
  readonly #part: ClassFunctions

  constructor(name: string, fields: readonly PropertyCodec[], part: ClassFunctions) {
    this.name = name
    this.bins = fields.flatMap((field) => field.bins)
    this.isPlain = fields.every((field) => field.isPlain)
    this.#fields = fields
    this.#part = part
  }

  decode(bins: Bins, loaded: Loaded): unknown {
    if (this.bins.every((bin) => isMissing(readProperty(bins, bin)))) return undefined
    try {
      // The mask names properties of the record, not fields of the part.
      return this.#part.hydrate(bins, loaded === undefined || loaded.has(this.name) ? undefined : loaded)
    } catch (error) {
      return throwIn(this.name, error)
    }
  }

  encodeInto(bins: MutableBins, value: unknown, depth: number): void {
    if (isMissing(value)) return
    this.#guard(value, depth, (part) => {
      for (const field of this.#fields) field.encodeInto(bins, readProperty(part, field.name), depth + 1)
    })
  }

  snapshot(value: unknown): unknown {
    return isMissing(value) ? undefined : this.#part.snapshot(value)
  }

  same(value: unknown, snapshot: unknown): boolean {
    if (isMissing(value)) return snapshot === undefined || this.#isEmpty(snapshot)
    if (typeof value !== 'object' || isOfTheLanguage(value)) return false
    return this.#part.changed(value, (snapshot as object | undefined) ?? this.#part.snapshot({})) === undefined
  }

  reread(snapshot: unknown, stored: Bins, bins: ReadonlySet<string>): unknown {
    const known = snapshot ?? this.#part.snapshot({})
    const found = this.#fields.map((field, index) => {
      const before = this.#part.snapshotOf(known, index)
      return field.bins.some((bin) => bins.has(bin)) ? field.reread(before, stored, bins) : before
    })
    if (found.every((value) => value === undefined)) return undefined
    const reread = this.#part.snapshot({})
    for (const [index, value] of found.entries()) this.#part.setSnapshot(reread, index, value)
    return reread
  }

  /** Each field has a bin of its own; those that were set are sent again. */
  advanceAdded(known: unknown, sent: unknown): unknown {
    if (known === undefined || sent === undefined) return sent
    const advanced = this.#part.snapshot({})
    for (const [index, field] of this.#fields.entries()) {
      const [before, now] = [
        this.#part.snapshotOf(known as object, index),
        this.#part.snapshotOf(sent as object, index),
      ]
      this.#part.setSnapshot(advanced, index, field instanceof CounterProperty ? now : before)
    }
    return advanced
  }

  change(value: unknown, snapshot: unknown): readonly WriteOperation[] {
    // A part that comes or goes as a whole is one whose fields all do.
    const before = snapshot ?? this.#part.snapshot({})
    return this.#guard(value ?? {}, 0, (part) =>
      (this.#part.changed(part, before) ?? []).flatMap((index) => {
        const field = this.#fields[index]
        return field.change(readProperty(part, field.name), this.#part.snapshotOf(before, index))
      }),
    )
  }

  create(operations: WriteOperation[], value: unknown): void {
    if (isMissing(value)) return
    this.#guard(value, 0, (part) => {
      for (const field of this.#fields) field.create(operations, readProperty(part, field.name))
    })
  }

  /** A part without values has no bins, and is stored as no part at all. */
  #isEmpty(snapshot: unknown): boolean {
    return this.#fields.every((_, index) => this.#part.snapshotOf(snapshot as object, index) === undefined)
  }

  #guard<T>(value: unknown, depth: number, run: (part: object) => T): T {
    try {
      return run(checkPart(value, depth))
    } catch (error) {
      return throwIn(this.name, error)
    }
  }
}

// A Date or a Map has none of a part's fields: it would be stored as a part without any.
function isOfTheLanguage(value: object): boolean {
  return (
    Array.isArray(value) || types.isDate(value) || types.isMap(value) || types.isSet(value) || ArrayBuffer.isView(value)
  )
}

/** A part must be an object, and must not contain itself. */
export function checkPart(value: unknown, depth: number): object {
  if (typeof value !== 'object' || value === null || isOfTheLanguage(value)) {
    throw new ValueProblem(`${shown(value)} is not a part`, 'Give an instance of its class.')
  }
  if (depth < MAX_DEPTH) return value
  throw new ValueProblem(
    `the part contains itself, or is deeper than ${MAX_DEPTH} levels`,
    'Store it flatter, or in records of its own.',
  )
}
