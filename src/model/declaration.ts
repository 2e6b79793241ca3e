import type { KeyValue } from '../keys/index.js'
import type { EntityClass, HookName } from './model.js'
import type {
  BinOptions,
  CalculatedIndexOptions,
  CompanionOptions,
  CopyDeclaration,
  CountOfOptions,
  EmbeddableOptions,
  EmbeddedOptions,
  HistoryOptions,
  IndexOptions,
  KeyOptions,
  ManyToManyOptions,
  ManyToOneOptions,
  CounterOptions,
  NamedBinOptions,
  OneToManyOptions,
  OneToOneOptions,
  RecordOptions,
  ShardedOptions,
  ThroughOptions,
} from './options.js'

/** The options each property decorator takes. */
export interface MemberOptions {
  Key: KeyOptions
  Bin: BinOptions
  Embedded: EmbeddedOptions
  Version: NamedBinOptions
  CreatedAt: NamedBinOptions
  DeletedAt: NamedBinOptions
  UpdatedAt: NamedBinOptions
  Counter: CounterOptions
  CountOf: CountOfOptions
  Copy: CopyDeclaration
  Generation: object
  Ttl: object
  Index: IndexOptions
  Sharded: ShardedOptions
  Companion: CompanionOptions
  OneToOne: OneToOneOptions
  OneToMany: OneToManyOptions
  ManyToOne: ManyToOneOptions
  ManyToMany: ManyToManyOptions | ThroughOptions
}

export type MemberDecorator = keyof MemberOptions

/** Declaration of one property by one decorator. */
export interface MemberNote<D extends MemberDecorator = MemberDecorator> {
  readonly decorator: D
  readonly property: string
  readonly options: MemberOptions[D]
  /** The class named by `@Embedded` and the relations; a function, because it may not exist yet when the decorator runs. */
  readonly target?: () => unknown
  /** The property on the other side of a relation. */
  readonly inverse?: string
  /** For a collection of link records: the class that the links lead to, and their reference to it. */
  readonly through?: { readonly target: string; readonly ref: string }
}

interface HookNote {
  readonly hook: HookName
  readonly method: string
}

/** Declarations of one class in the order its decorators ran; nothing is checked yet. */
interface ClassDeclaration {
  record?: RecordOptions
  embeddable?: EmbeddableOptions
  history?: HistoryOptions
  readonly members: MemberNote[]
  readonly hooks: HookNote[]
  /** Indexes on calculated values. */
  indexes?: CalculatedIndexOptions[]
}

// A global symbol, so that classes declared through another copy of the package are understood.
const DECLARATION = Symbol.for('skein.declaration')

/** The declaration of the class itself, made on first use; base classes have their own. */
export function declarationOf(target: EntityClass): ClassDeclaration {
  const existing = findDeclaration(target)
  if (existing) return existing
  const declaration: ClassDeclaration = { members: [], hooks: [] }
  Object.defineProperty(target, DECLARATION, { value: declaration })
  return declaration
}

export function findDeclaration(target: EntityClass): ClassDeclaration | undefined {
  return Object.getOwnPropertyDescriptor(target, DECLARATION)?.value as ClassDeclaration | undefined
}

export function isNote<D extends MemberDecorator>(note: MemberNote, decorator: D): note is MemberNote<D> {
  return note.decorator === decorator
}

/** The value of an entity's `@Key` property, read from its class alone; null while it has none, or when the key is a template. */
export function declaredKey(entity: object): KeyValue | null {
  for (let proto = parentOf(entity); proto !== null; proto = parentOf(proto)) {
    const declaration = findDeclaration(proto.constructor as EntityClass)
    if ((declaration?.record?.key ?? declaration?.embeddable?.key) !== undefined) return null
    const note = declaration?.members.find((member) => member.decorator === 'Key')
    if (note) return (entity as { readonly [property: string]: KeyValue | null | undefined })[note.property] ?? null
  }
  return null
}

/** The set that an entity's class declares, or the class that it extends. */
export function declaredSet(entity: object): string | undefined {
  for (let proto = parentOf(entity); proto !== null; proto = parentOf(proto)) {
    const set = findDeclaration(proto.constructor as EntityClass)?.record?.set
    if (set !== undefined) return set
  }
  return undefined
}

function parentOf(value: object): object | null {
  return Object.getPrototypeOf(value) as object | null
}
