export { companionKey, companionSet, hashShard } from './companion-key.js'
export { DateFormat, type SliceUnit } from './date-format.js'
export { generateId, sortableId, sortableIdTime, uuid, type IdGenerator } from './generate-id.js'
export { hashId, hashIdBytes } from './hash-id.js'
export { KeyFormat, type KeyFormatOptions, type KeyParts } from './key-format.js'
export { keyPartText, type KeyPartType, type KeyPartValue } from './key-part.js'
export { KeyScheme, type KeySchemeOptions, type Tenant } from './key-scheme.js'
export {
  checkKey,
  describeKey,
  isInt64,
  isSafeText,
  keyProblem,
  MAX_KEY_BYTES,
  type KeyKind,
  type KeyValue,
} from './key-value.js'
export { partAddress, type PartAddress } from './part-id.js'
export { storedKindOf, TENANT } from './stored-kind.js'
export { keyOfTag, setOfTag, tagKey } from './tagged-key.js'
export { parseTemplate, type KeyTemplate, type Placeholder } from './template.js'
export { bucketEnd, bucketName, bucketStart, startOfBucket, type Buckets, type BucketUnit } from './time-bucket.js'
export { checkTimeRange, MAX_SLICES, sliceKeys, timeSlices, type TimeRange } from './time-slice.js'
