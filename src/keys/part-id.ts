import type { KeyFormat, KeyParts } from './key-format.js'
import type { KeyPartValue } from './key-part.js'

/** Location of a part: the key of the record that holds it, and the rest of its id. */
export interface PartAddress {
  readonly recordKey: KeyPartValue
  readonly parts: KeyParts
}

/**
 * Reads where a part is stored from its own id: with `{regionId}:{storeId}` the id says which region's record holds the store.
 * `recordProperty` is the placeholder that holds the record's key; make the format with it as `parent` and the record's key stays readable.
 */
export function partAddress(format: KeyFormat, recordProperty: string, id: string): PartAddress {
  const { [recordProperty]: recordKey, ...parts } = format.parse(id)
  return { recordKey: recordKey, parts }
}
