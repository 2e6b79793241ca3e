import { SkeinError } from '../errors/index.js'
import {
  keyOfTag,
  partAddress,
  setOfTag,
  tagKey,
  type KeyParts,
  type KeyValue,
  type PartAddress,
  type Tenant,
  type TimeRange,
} from '../keys/index.js'
import type { EntityClass, KeyInput, KeyModel, SliceParts } from '../model/index.js'
import type { EntityKey } from './entity-key.js'
import { codecsOf } from './known-codecs.js'

/** A class whose instances have keys; parts have no set. */
interface KeyedClass {
  readonly name: string
  readonly key?: KeyModel
  readonly set?: string
}

/** The keys of a class, made and taken apart without a session. */
export class Keys<T extends object = never> {
  readonly #className: string
  readonly #key: EntityKey
  readonly #parent: string | undefined
  readonly #tenant: Tenant | undefined
  readonly #set: string | undefined

  constructor({ name, key, set }: KeyedClass, codec: EntityKey, tenant: Tenant | undefined) {
    this.#className = name
    this.#key = codec
    this.#parent = key?.parent
    this.#tenant = tenant
    this.#set = set
  }

  /** The key that these parts make, or the key itself, checked. */
  of(parts: KeyInput<T>): KeyValue {
    return this.#key.scheme.toKey(parts, this.#tenant)
  }

  /**
   * The key with its set, as text: how references to several classes hold it.
   *
   * @example
   * comment.subject.set(keysOf(Post).withSet(1)) // 'post:1'
   */
  withSet(parts: KeyInput<T>): string {
    return tagKey(this.#recordSet(), this.of(parts))
  }

  /** The key of a text that `withSet` made, or null where it is of another set. */
  withoutSet(key: string): KeyValue | null {
    return setOfTag(key) === this.#recordSet() ? (keyOfTag(key, this.#key.scheme.kind) ?? null) : null
  }

  /** Parts of a key. */
  parts(key: KeyValue): KeyParts {
    return this.#key.scheme.parts(this.#key.scheme.toKey(key, this.#tenant))
  }

  /** The keys that cover a range of time, one for each hour, day or month of the template: from `from`, up to but not including `to`. More than `max` (10,000) are refused. */
  covering(parts: SliceParts<T>, range: TimeRange, max?: number): readonly string[] {
    return this.#key.scheme.covering(parts, range, this.#tenant, max)
  }

  #recordSet(): string {
    if (this.#set !== undefined) return this.#set
    throw new SkeinError('SKEIN_2107', `${this.#className} is a part, and has no set.`, {
      className: this.#className,
      fix: 'Give the class of a record.',
    })
  }

  /** Splits the id of a part that embeds the key of its record: that key, and the rest. */
  recordOf(id: string): PartAddress {
    const { format } = this.#key.scheme
    if (format && this.#parent !== undefined) return partAddress(format, this.#parent, id)
    throw new SkeinError('SKEIN_2107', `The keys of ${this.#className} do not say which record they belong to.`, {
      className: this.#className,
      fix: "Say it in the template: @Embeddable({ key: '{regionId}:{storeId}', parent: 'regionId' }).",
    })
  }
}

/**
 * The keys of a class that was given to `open` (or of a part that has an id).
 *
 * @example
 * const days = keysOf(Reading).covering({ sensor: 7 }, { from: new Date('2024-05-01'), to: new Date('2024-06-01') })
 */
export function keysOf<T extends object>(
  entityClass: EntityClass<T>,
  options: { readonly tenant?: Tenant } = {},
): Keys<T> {
  const codecs = codecsOf(entityClass)
  const isPart = [...codecs.model.embeddables.values()].some((part) => part.class === entityClass)
  const { model, key } = isPart ? codecs.part(entityClass) : codecs.entity(entityClass)
  if (key) return new Keys(model, key, options.tenant)
  throw new SkeinError('SKEIN_2107', `The parts of ${model.name} have no id.`, {
    className: model.name,
    fix: 'Give it a @Key.',
  })
}
