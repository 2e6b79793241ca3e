import { BinProperty } from './bin-property.js'
import { isMissing, type MutableBins } from './property-codec.js'

/** A property that is copied from another record: it is read, and written with the reference, never from the entity. */
export class CopyProperty extends BinProperty {
  override encodeInto(_bins: MutableBins): void {}

  /** True where the value is what the snapshot shows. */
  isCopyOf(value: unknown, snapshot: unknown): boolean {
    return isMissing(value) || snapshot === undefined
      ? isMissing(value) && snapshot === undefined
      : this.codec.same(value, snapshot)
  }
}
