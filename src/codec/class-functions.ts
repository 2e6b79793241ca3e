import type { EntityClass } from '../model/index.js'
import type { Bins } from '../plan/command.js'
import type { Loaded, MutableBins, PropertyCodec } from './property-codec.js'

/** Puts Ref and Collection on an instance that was read; `stored` are its bins (or the part's map), `only` limits it to some of them. */
type Attach = (instance: object, stored: Bins, loaded: Loaded, only?: ReadonlySet<string>) => void

/** Input of the functions of one class. */
export interface ClassShape {
  readonly class: EntityClass
  readonly properties: readonly PropertyCodec[]
  /** Bins with a fixed value: the discriminator. */
  readonly constants: readonly (readonly [bin: string, value: string | number])[]
  readonly attach: Attach | undefined
}

/** Values of all properties when the snapshot was taken; opaque to everyone else. */
export type Snapshot = object

/** Everything that runs once per instance. Made by the generator, or, where that is forbidden, by the interpreter. */
export interface ClassFunctions {
  hydrate(bins: Bins, loaded: Loaded): object
  /** Like hydrate, into an instance that exists. */
  fill(instance: object, bins: Bins, loaded: Loaded): void
  dehydrate(instance: object, depth: number): MutableBins
  snapshot(instance: object): Snapshot
  /** Indexes of the properties that differ from the snapshot; undefined when none does. */
  changed(instance: object, snapshot: Snapshot): number[] | undefined
  /** Value of the snapshot for the property with that index. */
  snapshotOf(snapshot: Snapshot, index: number): unknown
  setSnapshot(snapshot: Snapshot, index: number, value: unknown): void
}
