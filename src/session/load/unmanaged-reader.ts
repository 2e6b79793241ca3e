import { keyOfStoredRef } from '../../codec/index.js'
import { SkeinError } from '../../errors/index.js'
import type { KeyValue, Tenant } from '../../keys/index.js'
import type { EntityModel } from '../../model/index.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { SplitAccess } from '../../plan/split-access.js'
import type { Tracked } from '../../relations/contract/tracked.js'
import type { Reader } from '../../relations/contract/reader.js'
import { keyInTarget, recordOfKey } from '../mapping/several-classes.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'

/** Stands where a session would be: knows keys, but has no entities and nothing to read with. */
export class UnmanagedReader implements Reader {
  readonly #classes: MappedClasses
  readonly #tenant: Tenant | undefined

  constructor(classes: MappedClasses, tenant: Tenant | undefined) {
    this.#classes = classes
    this.#tenant = tenant
  }

  readonly isInside = false
  outside = nothingToRead
  withDeleted = nothingToRead
  find = nothingToRead
  load = nothingToRead
  read = nothingToRead
  foundBy = nothingToRead
  keysBy = nothingToRead
  pageBy = nothingToRead
  unread = nothingToRead
  hasTransactions = nothingToRead
  startAnew = nothingToRead

  get direct(): SplitAccess {
    return nothingToRead()
  }

  release(): void {}
  whenKnown(): void {}

  tracked(): Tracked | undefined {
    return undefined
  }

  isDetached(): boolean {
    return false
  }

  known(): Tracked | undefined {
    return undefined
  }

  entityModel(name: string): EntityModel {
    return this.#classes.model.entity(name)
  }

  keyOf(entity: object, target?: string): KeyValue | null {
    const mapped = this.#classes.ofEntity(entity)
    const key = mapped.codec.key.tryKeyOf(entity)
    return key === null || target === undefined ? key : keyInTarget({ mapped, key }, this.entityModel(target))
  }

  recordKey(model: EntityModel, key: KeyValue): RecordKey {
    return recordOfKey(this.#classes, model, key, this.#tenant)
  }

  fromStored(model: EntityModel, stored: UserKey): KeyValue {
    return keyOfStoredRef(this.#classes.codecs, model, stored, this.#tenant)
  }

  keyOfParts(model: EntityModel, parts: { readonly [part: string]: KeyValue }): KeyValue {
    return this.#classes.of(model.name).codec.key.scheme.toKey(parts, this.#tenant)
  }

  keyPart(model: EntityModel, key: KeyValue, ref: string): KeyValue {
    return this.#classes.of(model.name).codec.key.scheme.parts(key)[ref] as KeyValue
  }
}

/** Entities of such a reader belong to no session, and whoever asks says so before it comes to this. */
function nothingToRead(): never {
  throw new SkeinError('SKEIN_2403', 'An entity outside a session has nothing to load from.', {
    fix: 'Load it with session.load.',
  })
}
