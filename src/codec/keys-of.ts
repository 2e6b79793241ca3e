import { SkeinError } from '../errors/index.js'
import {
  partAddress,
  type KeyParts,
  type KeyValue,
  type PartAddress,
  type Tenant,
  type TimeRange,
} from '../keys/index.js'
import type { EntityClass, KeyInput, SliceParts } from '../model/index.js'
import type { EntityKey } from './entity-key.js'
import { codecsOf } from './known-codecs.js'

/** The keys of a class, made and taken apart without a session. */
export class Keys<T extends object = never> {
  readonly #className: string
  readonly #key: EntityKey
  readonly #parent: string | undefined
  readonly #tenant: Tenant | undefined

  constructor(className: string, key: EntityKey, parent: string | undefined, tenant: Tenant | undefined) {
    this.#className = className
    this.#key = key
    this.#parent = parent
    this.#tenant = tenant
  }

  /** The key that these parts make, or the key itself, checked. */
  of(parts: KeyInput<T>): KeyValue {
    return this.#key.scheme.toKey(parts, this.#tenant)
  }

  /** Parts of a key. */
  parts(key: KeyValue): KeyParts {
    return this.#key.scheme.parts(this.#key.scheme.toKey(key, this.#tenant))
  }

  /** The keys that cover a range of time, one for each hour, day or month of the template: from `from`, up to but not including `to`. More than `max` (10,000) are refused. */
  covering(parts: SliceParts<T>, range: TimeRange, max?: number): readonly string[] {
    return this.#key.scheme.covering(parts, range, this.#tenant, max)
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
  if (key) return new Keys(model.name, key, model.key?.parent, options.tenant)
  throw new SkeinError('SKEIN_2107', `The parts of ${model.name} have no id.`, {
    className: model.name,
    fix: 'Give it a @Key.',
  })
}
