import type { Bins } from '../plan/command.js'
import type { WriteOperation } from '../plan/operation.js'
import { listOfOne, removeBin, writeBin } from '../plan/operations.js'
import type { Value } from '../plan/value.js'
import { isInherited, ownProperty, writeProperty } from './own-property.js'
import { rereadItem } from './reread-entries.js'
import { isMissing, type InlineKind, type Loaded, type MutableBins, type SingleBin } from './property-codec.js'
import type { TypeCodec } from './type-codec.js'
import { throwIn } from './value-problem.js'

interface BinPropertyOptions {
  readonly name: string
  readonly bin: string
  readonly codec: TypeCodec
  readonly inline: InlineKind
  readonly isCompared: boolean
}

/** A property whose value is one bin. */
export class BinProperty implements SingleBin {
  readonly name: string
  readonly bin: string
  readonly bins: readonly string[]
  readonly inline: InlineKind
  readonly isCompared: boolean
  readonly isAssigned: boolean = true
  readonly codec: TypeCodec
  /** Judged once: each load of each record asks for it. */
  readonly #isInherited: boolean

  constructor(options: BinPropertyOptions) {
    this.name = options.name
    this.bin = options.bin
    this.bins = [options.bin]
    this.inline = options.inline
    this.isCompared = options.isCompared
    this.codec = options.codec
    this.#isInherited = isInherited(options.bin)
  }

  get isPlain(): boolean {
    return this.codec.create === undefined
  }

  /** Stored form of the property's value: the value itself, or the key of a ref. */
  storable(value: unknown): unknown {
    return value
  }

  decode(bins: Bins, _loaded: Loaded): unknown {
    const stored = (this.#isInherited ? ownProperty(bins, this.bin) : bins[this.bin]) as Value | undefined
    if (isMissing(stored)) return undefined
    try {
      return this.codec.decode(stored)
    } catch (error) {
      return throwIn(this.name, error)
    }
  }

  encode(value: unknown, depth: number): Value | undefined {
    if (isMissing(value)) return undefined
    try {
      return this.codec.encode(value, depth)
    } catch (error) {
      return throwIn(this.name, error)
    }
  }

  encodeInto(bins: MutableBins, value: unknown, depth: number): void {
    const stored = this.encode(value, depth)
    if (stored !== undefined) writeProperty(bins, this.bin, stored)
  }

  snapshot(value: unknown): unknown {
    return isMissing(value) ? undefined : this.codec.snapshot(value)
  }

  same(value: unknown, snapshot: unknown): boolean {
    if (!this.isCompared) return true
    return isMissing(value) || snapshot === undefined
      ? isMissing(value) && snapshot === undefined
      : this.codec.same(value, snapshot)
  }

  reread(snapshot: unknown, sent: unknown, stored: Bins): unknown {
    return rereadItem(this.codec, snapshot, sent, this.snapshot(this.decode(stored, undefined)))
  }

  advanceAdded(known: unknown, sent: unknown): unknown {
    if (sent === undefined || this.codec.advanceAdded === undefined) return sent
    return this.codec.advanceAdded(known, sent)
  }

  change(value: unknown, snapshot: unknown): readonly WriteOperation[] {
    if (isMissing(value)) return [removeBin(this.bin)]
    try {
      if (snapshot === undefined) return this.#add(value)
      return this.codec.patch?.(value, snapshot, { bin: this.bin }) ?? this.#write(value)
    } catch (error) {
      return throwIn(this.name, error)
    }
  }

  create(operations: WriteOperation[], value: unknown): void {
    if (isMissing(value)) return
    try {
      operations.push(...(this.codec.create?.(value, this.bin) ?? this.#write(value)))
    } catch (error) {
      throwIn(this.name, error)
    }
  }

  /** Stores the value where there was none: beside what others have stored meanwhile, if it is something that grows. */
  #add(value: unknown): readonly WriteOperation[] {
    const { nothing } = this.codec
    if (nothing === undefined) return this.#write(value)
    const added = this.codec.patch!(value, nothing, { bin: this.bin })
    if (added !== undefined && added.length > 0) return added
    // Values that are not of the type are rejected here.
    this.codec.encode(value, 0)
    return [this.codec.empty!(this.bin)]
  }

  #write(value: unknown): readonly WriteOperation[] {
    return listOfOne(writeBin(this.bin, this.codec.encode(value, 0)))
  }
}
