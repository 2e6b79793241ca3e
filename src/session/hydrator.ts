import { readProperty } from '../codec/index.js'
import { DELETING_BIN } from '../model/index.js'
import type { StoredRecord } from '../plan/outcome.js'
import type { RecordKey } from '../plan/record-key.js'
import type { ReadBins } from '../relations/attach.js'
import { Managed } from './managed.js'
import type { MappedClass } from './mapped-class.js'
import { missingOf, type Projection } from './projection.js'
import type { SessionContext } from './session-context.js'
import { otherClass } from './session-errors.js'
import { shownTtl } from './ttl.js'

/** Gives an entity that has become managed its Refs and Collections. */
export type Attach = (managed: Managed, stored?: ReadBins) => void

/** Turns records that were read into managed entities. */
export class Hydrator {
  readonly #context: SessionContext

  readonly #attach: Attach

  constructor(context: SessionContext, attach: Attach) {
    this.#context = context
    this.#attach = attach
  }

  /** The entity of the record; null when there is none. One that the session already has stays, and only what it lacked is added. */
  take(mapped: MappedClass, key: RecordKey, record: StoredRecord | null, projection: Projection): Managed | null {
    if (isGone(record)) return null
    const known = this.#context.identity.get(mapped, key.key)
    if (known === undefined) return this.#add(mapped, key, record, projection)
    if (!mapped.is(known.entity)) throw otherClass(mapped, known)
    if (known.loaded !== undefined) this.#complete(known, record, projection)
    return known
  }

  /** Reads the record into an entity that the session has; what was changed there is lost. */
  refresh(managed: Managed, record: StoredRecord): void {
    const { codec } = managed.mapped
    codec.fill(managed.entity, record.bins, undefined, record)
    managed.loaded = undefined
    this.#attach(managed, { bins: record.bins, isRead: () => true })
    this.#isAsStored(managed)
  }

  #add(mapped: MappedClass, key: RecordKey, record: StoredRecord, projection: Projection): Managed {
    const { identity, classes } = this.#context
    const entity = mapped.codec.hydrate(record.bins, projection.loaded, record)
    const own = mapped.model.discriminator === undefined ? mapped : classes.ofEntity(entity)
    const managed = new Managed(own, entity, key, identity, 'stored')
    managed.loaded = projection.loaded
    this.#attach(managed, readBins(record, projection))
    this.#isAsStored(managed)
    return identity.add(managed)
  }

  #complete(managed: Managed, record: StoredRecord, { loaded }: Projection): void {
    const have = managed.loaded!
    const missing = missingOf(have, managed.mapped, loaded)
    const { codec } = managed.mapped
    codec.complete(managed.entity, managed.snapshot!, record.bins, missing)
    managed.loaded = loaded === undefined ? undefined : new Set([...have, ...missing])
  }

  #isAsStored(managed: Managed): void {
    const { entity, model, mapped } = managed
    managed.snapshot = mapped.codec.snapshot(entity)
    managed.doubt = undefined
    if (model.version !== undefined) managed.version = readProperty(entity, model.version) as number | undefined
    if (model.ttlProperty !== undefined) managed.ttl = shownTtl(managed, model.ttlProperty)
  }
}

function readBins({ bins }: StoredRecord, { bins: wanted }: Projection): ReadBins {
  return { bins, isRead: (name) => wanted === 'all' || wanted.includes(name) }
}

/** Also while a cascading delete of it is under way. */
export function isGone(record: StoredRecord | null): record is null {
  return record === null || DELETING_BIN in record.bins
}
