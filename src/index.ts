export {
  AlreadyExistsError,
  BulkStoppedError,
  CommitInDoubtError,
  EntityGoneError,
  InDoubtError,
  ModelError,
  NotFoundError,
  PartialFailureError,
  RecordTooLargeError,
  RestrictedError,
  RetriesExhaustedError,
  SkeinError,
  ValidationFailedError,
  VersionConflictError,
  type ErrorCode,
  type ErrorDetails,
  type ModelProblem,
  type RecordOutcome,
  type ValidationFailure,
} from './errors/index.js'
export {
  AfterDelete,
  AfterLoad,
  AfterSave,
  BeforeDelete,
  BeforeSave,
  Bin,
  Companion,
  Copy,
  CountOf,
  Counter,
  CreatedAt,
  DeletedAt,
  Embeddable,
  Embedded,
  Generation,
  History,
  Index,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  Sharded,
  Ttl,
  UpdatedAt,
  Version,
} from './decorators/index.js'
export {
  compileModel,
  KEY,
  type BinOptions,
  type BinType,
  type CapModel,
  type Collection,
  type ConsolidateOptions,
  type EmbeddableModel,
  type EmbeddableOptions,
  type EmbeddedOptions,
  type EntityClass,
  type EntityModel,
  type ExpectedSize,
  type IndexModel,
  type CalculatedIndexOptions,
  type CopyOptions,
  type HistoryOptions,
  type IndexOptions,
  type InverseIndexOptions,
  type KeyBinOptions,
  type KeyGenerator,
  type KeyOf,
  type KeyListOptions,
  type KeyModel,
  type KeyOptions,
  type KeyValue,
  type ManyToManyOptions,
  type ManyToOneOptions,
  type Model,
  type CounterOptions,
  type NamedBinOptions,
  type OneToManyOptions,
  type OneToOneOptions,
  type Page,
  type CollectionOrder,
  type KeysOptions,
  type PageOptions,
  type QuestionOptions,
  type PropertyModel,
  type RangeBound,
  type RangeOptions,
  type RecordOptions,
  type Ref,
  type RelationModel,
  type SecondaryIndexOptions,
  type CompanionOptions,
  type ShardedOptions,
  type SharedKeyOptions,
  type SliceParts,
  type StoredValue,
  type TypeSpec,
  type ValueCodec,
} from './model/index.js'
export { fromPlain, keysOf, toPlain, type FromPlainOptions, type Keys, type ToPlainOptions } from './codec/index.js'
export {
  hashId,
  hashIdBytes,
  sortableId,
  sortableIdTime,
  uuid,
  type KeyParts,
  type PartAddress,
  type Tenant,
  type TimeRange,
} from './keys/index.js'
export { collection } from './relations/collection.js'
export { ref } from './relations/ref.js'
export type { CommandEvent, FlushEvent, HiddenError, TransactionEvent, WarningEvent } from './driver/events.js'
export type { SplitEvent } from './driver/split-event.js'
export type { Finding, FindingKind, FindingState } from './relations/contract/finding.js'
export { Database } from './session/database/database.js'
export type {
  DatabaseQueryOptions,
  DeleteProgress,
  FlushOptions,
  SessionOptions,
  SessionQueryOptions,
} from './session/context/option-types.js'
export { RecordHandle } from './records/record-handle.js'
export type { ItemsHandle, ItemValues, NestedItems } from './records/items-handle.js'
export type { ItemConditions } from './records/conditions.js'
export type { OperateOptions, OperateResults } from './session/raw-operate.js'
export type { RawOperation } from './driver/aerospike-client.js'
export { CounterHandle } from './records/counter-handle.js'
export { ListHandle } from './records/list-handle.js'
export { ChildHandle } from './records/child-handle.js'
export { ChildrenHandle } from './records/children-handle.js'
export { MapHandle } from './records/map-handle.js'
export { SetHandle } from './records/set-handle.js'
export type { Slice } from './records/place-handle.js'
export { open } from './session/database/open.js'
export { type OpenOptions, type TransactionMode } from './session/context/open-options.js'
export { Session } from './session/session.js'
export type {
  AtOptions,
  Changes,
  KeyInput,
  LoadOneOptions,
  LoadOptions,
  NewValues,
  RelationPath,
  RefreshOptions,
  SaveOptions,
  UpsertOptions,
  ValueProperty,
} from './session/context/session-types.js'
export { Walk } from './session/walk/walk.js'
export type { HopOptions, WalkExplanation, WalkOptions } from './session/walk/walk-types.js'
export type { TransactionOptions } from './session/transaction/retry-transaction.js'
export type { OutsideTransaction } from './model/related.js'
export type { VerifyOptions } from './session/verify/verify-options.js'
export type { VerifyProgress, VerifySetOptions } from './session/verify/verify-set.js'
export { TimeSlices, type LoadRangeOptions, type SliceOptions } from './session/load/time-slices.js'
export type { ReadOptions } from './session/load/unmanaged-read.js'
export type { Explanation } from './plan/explain.js'
export type { IndexDiff, NeededIndex } from './query/index-diff.js'
export type { IndexProgress, Indexes, SyncOptions } from './query/indexes.js'
export type {
  Layout,
  LayoutDifference,
  LayoutOptions,
  LayoutProgress,
  LayoutSyncOptions,
} from './session/layout/layout.js'
export type { Capabilities, NamespaceCapabilities } from './driver/capabilities.js'
export { Copies, type CopyProgress, type RefreshCopiesOptions } from './session/copies/copies.js'
export type { ArchiveOptions, ArchiveProgress } from './session/archive/archive-class.js'
export type { ArchiveOneOptions } from './session/archive/archive-one.js'
export { RecordHistory, type HistoryEntry } from './session/history/history.js'
export type { PurgeOptions, PurgeProgress } from './session/delete/purge.js'
export type { DeletedMode, DeletedOption } from './model/index.js'
export { Query } from './query/query.js'
export { DatabaseQuery, type BulkOptions, type BulkProgress, type BulkResult } from './query/database-query.js'
export type { BulkChanges } from './query/bulk-changes.js'
export { inc, type Increment } from './query/inc.js'
export type {
  BigintOperand,
  Filter,
  FilterFields,
  ListOperand,
  MapOperand,
  NumberOperand,
  OrderedOperand,
  TextOperand,
  ValueOperand,
} from './query/filter-types.js'
export { Groups, type SumOf } from './query/groups.js'
export type { GroupKey } from './query/group-key.js'
export type { QueryExplanation } from './query/explain-query.js'
export type { QueryOptions, QueryProgress } from './query/query-source.js'
export type {
  Condition,
  Equality,
  ListConditions,
  MapConditions,
  Ordering,
  Target,
  TextConditions,
  Where,
} from './query/where.js'
export { SessionQuery } from './query/session-query.js'
