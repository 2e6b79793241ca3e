export { CHILDREN, type ChildCodec, type ChildrenField } from './children-field.js'
export type { Snapshot } from './class-functions.js'
export { keyChanged, unreadable, unstorable } from './codec-errors.js'
export { fieldStep, inEntry, keyStep, ValueProblem } from './value-problem.js'
export { Codecs } from './codecs.js'
export type { RelationFactory } from './relation-factory.js'
export { compileCodecs, type CompileOptions } from './compile-codecs.js'
export { EntityCodec } from './entity-codec.js'
export { EntityKey } from './entity-key.js'
export { instantiate } from './instantiate.js'
export { classOf, readProperty, writeProperty } from './own-property.js'
export { Keys, keysOf } from './keys-of.js'
export { PartCodec } from './part-codec.js'
export { isPartCovered, joinParts } from './loaded-part.js'
export {
  loadedSet,
  type Loaded,
  type LoadedEntries,
  type LoadedPart,
  type LoadedSet,
  type LoadedSlice,
} from './property-codec.js'
export { asReturned } from './types/as-returned.js'
export { tokenOf } from './types/token.js'
export { sameBytesIn } from './types/byte-keyed-map.js'
export { mapKeyCodec, storedMap } from './types/map-type.js'
export { mapSubtype, typeCodecOf } from './types/compile-type.js'
export { inOrder } from './types/sorted-list-type.js'
export { decodeItem, encodeItem } from './types/item.js'
export type { TypeCodec } from './type-codec.js'
export type { RecordMeta, Stamp } from './stamps.js'
export { fromPlain, type FromPlainOptions } from './plain/from-plain.js'
export { toPlain, type ToPlainOptions } from './plain/to-plain.js'
export { hasRules, validateEntity, validatePart } from './validate.js'
