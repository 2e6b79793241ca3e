import { readProperty, type PartCodec } from '../../codec/index.js'
import { SkeinError, VersionConflictError } from '../../errors/index.js'
import { describeKey } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import type { Bins } from '../../plan/command.js'
import type { WriteOperation } from '../../plan/operation.js'
import type { UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { StoredMember } from '../contract/member-store.js'
import type { BucketScheme } from './bucket-scheme.js'

/** Attributes that may have a date, and how they are read. */
export type DatedCodec = Pick<PartCodec, 'model' | 'decode'> & {
  /** Attributes in what is stored of a link, where that is more. */
  readonly attributesIn?: (stored: Value) => Value
}

/** Collection that an error about a link names. */
interface LinkContext {
  readonly className: string
  readonly property: string
  readonly key: UserKey
}

/** Times of links, which choose their buckets: that of a date among their attributes, or the time at which they are made. */
export class LinkDates {
  /** The attribute; absent where the time at which a link is made counts. */
  readonly on: string | undefined
  readonly #model: EntityModel
  readonly #relation: string
  readonly #codec: DatedCodec | undefined
  readonly #scheme: BucketScheme

  constructor(model: EntityModel, { name, companions }: RelationModel, scheme: BucketScheme, codec?: DatedCodec) {
    this.on = companions?.buckets?.on
    this.#model = model
    this.#relation = name
    this.#codec = codec
    this.#scheme = scheme
  }

  /** The time of a link that is made now; throws where it has none, or where its bucket has expired. */
  timeOf(at: StoredMember, now: Date): number {
    const time = this.on === undefined ? now.getTime() : this.timeIn(at.attributes)
    const shards = this.#scheme.shardsOf(at.owner)
    const name = time === undefined ? undefined : this.#scheme.nameAt(time, shards)
    if (time === undefined || name === undefined)
      throw this.#refused(at, `has no date '${this.on}' between the years 0 and 9999`, 'Give it one.')
    const expiry = this.#scheme.expiryAt(time, shards)
    if (expiry !== undefined && expiry <= now.getTime())
      throw this.#refused(at, `belongs in '${name}', which has expired`, 'Leave it out, or raise ttl.')
    return time
  }

  /** The date among attributes as they are stored, or are about to be: of the latter only the date can be decoded. */
  timeIn(stored: Value | undefined): number | undefined {
    const attributes = stored == null ? stored : (this.#codec!.attributesIn?.(stored) ?? stored)
    if (attributes === undefined || attributes === null) return undefined
    const field = this.#field!
    const { [field]: date = null } = (attributes instanceof Map ? Object.fromEntries(attributes) : attributes) as Bins
    return this.timeAmong(this.#codec!.decode({ [field]: date }))
  }

  /** Name under which the date is stored. */
  get #field(): string | undefined {
    return this.#codec?.model.properties.find(({ name }) => name === this.on)?.bin
  }

  /** The date among the attributes of a link that is at hand. */
  timeAmong(attributes: object): number | undefined {
    const date = readProperty(attributes, this.on!)
    const time = date instanceof Date ? date.getTime() : Number.NaN
    return Number.isNaN(time) ? undefined : time
  }

  /** Throws where a change of attributes gives the link a date that leads to another bucket. */
  checkChange(at: StoredMember, operations: readonly WriteOperation[], bucket: string): void {
    const field = this.#field
    if (field === undefined) return
    const written = operations.map((operation) => writtenTo(field, operation)).find((value) => value !== undefined)
    if (written === undefined) return
    const time = written === null ? undefined : this.timeAmong(this.#codec!.decode({ [field]: written }))
    const name = time === undefined ? undefined : this.#scheme.nameAt(time, this.#scheme.shardsOf(at.owner))
    if (name === bucket) return
    const fix = 'Keep its date within its bucket, or unlink it and link it again.'
    throw this.#refused(at, `is stored in '${bucket}', and its date leads to ${name ? `'${name}'` : 'no bucket'}`, fix)
  }

  /** Error for a change of a link that no bucket has. */
  gone(at: StoredMember): SkeinError {
    const { message, context } = this.#about(at, 'is no longer there: it was removed, or its bucket has expired')
    return new VersionConflictError(message, {
      ...context,
      fix: 'Remove it from the collection, or link it again.',
    })
  }

  #refused(at: StoredMember, why: string, fix: string): SkeinError {
    const { message, context } = this.#about(at, why)
    return new SkeinError('SKEIN_2426', message, { ...context, fix })
  }

  #about({ owner, member }: StoredMember, what: string): { readonly message: string; readonly context: LinkContext } {
    const { name } = this.#model
    const message = `The link of ${name} ${describeKey(owner.key)} to ${describeKey(member)} in ${this.#relation} ${what}.`
    return { message, context: { className: name, property: this.#relation, key: owner.key } }
  }
}

/** The value that an operation gives to a field; null where it takes it away, undefined where it leaves it. */
function writtenTo(field: string, operation: WriteOperation): Value | undefined {
  if (operation.kind === 'mapPut' && operation.key === field) return operation.value
  if (operation.kind === 'mapPutItems') return operation.items.get(field)
  return operation.kind === 'mapRemoveKeys' && operation.keys.includes(field) ? null : undefined
}
