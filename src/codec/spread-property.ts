import type { EntityClass } from '../model/index.js'
import type { Bins } from '../plan/command.js'
import type { WriteOperation } from '../plan/operation.js'
import { checkPart, isPartOf } from './check-part.js'
import type { ClassFunctions } from './class-functions.js'
import { readProperty } from './own-property.js'
import { isMissing, type Loaded, type MutableBins, type PropertyCodec } from './property-codec.js'
import { throwIn } from './value-problem.js'

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
  readonly #class: EntityClass

  constructor(name: string, partClass: EntityClass, fields: readonly PropertyCodec[], part: ClassFunctions) {
    this.#class = partClass
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
    if (typeof value !== 'object' || !isPartOf(value, this.#class)) return false
    return this.#part.changed(value, (snapshot as object | undefined) ?? this.#part.snapshot({})) === undefined
  }

  reread(snapshot: unknown, sent: unknown, stored: Bins, bins: ReadonlySet<string>): unknown {
    const nothing = this.#part.snapshot({})
    const found = this.#fields.map((field, index) => {
      const [before, wanted] = [snapshot, sent].map((one) => this.#part.snapshotOf(one ?? nothing, index))
      return field.bins.some((bin) => bins.has(bin)) ? field.reread(before, wanted, stored, bins) : before
    })
    if (found.every((value) => value === undefined)) return undefined
    const reread = this.#part.snapshot({})
    for (const [index, value] of found.entries()) this.#part.setSnapshot(reread, index, value)
    return reread
  }

  /** Each field has a bin of its own; those that were set are sent again. */
  advanceAdded(known: unknown, sent: unknown, bins: ReadonlySet<string>): unknown {
    const advanced = this.#part.snapshot({})
    for (const [index, field] of this.#fields.entries()) {
      const [before, now] = [known, sent].map((one) => one && this.#part.snapshotOf(one, index))
      const isAdded = field.bins.some((bin) => bins.has(bin))
      this.#part.setSnapshot(advanced, index, isAdded ? field.advanceAdded(before, now, bins) : before)
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
      return run(checkPart(value, depth, this.#class))
    } catch (error) {
      return throwIn(this.name, error)
    }
  }
}
