import type { Bins } from '../plan/command.js'
import { BinProperty } from './bin-property.js'
import type { Loaded, MutableBins } from './property-codec.js'

/** The number of members of a collection, which the server counts: it is read, and never written from here. */
export class CountProperty extends BinProperty {
  override decode(bins: Bins, loaded: Loaded): unknown {
    const value = super.decode(bins, loaded)
    if (value !== undefined) return value
    return loaded === undefined || loaded.has(this.name) ? 0 : undefined
  }

  override encodeInto(_bins: MutableBins): void {}
}
