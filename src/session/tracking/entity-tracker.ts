import { TENANT } from '../../keys/index.js'
import { readProperty, writeProperty } from '../../codec/index.js'
import { isRef } from '../../relations/contract/member.js'
import { checkNewHolders } from '../../relations/state/state-of.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { TrackedState } from '../../relations/contract/tracked.js'
import type { RelationHydration } from '../load/hydrator.js'
import { shown } from '../../model/call-options.js'
import { notTaken } from '../context/check-arguments.js'
import type { DeleteConditions, PendingDelete } from './delete-intent.js'
import { ManagedEntity } from './managed-entity.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { managedOf } from './identity-map.js'
import type { SessionContext } from '../context/session-context.js'
import {
  abstractClass,
  beingDeleted,
  hasHandle,
  notManaged,
  otherInstance,
  otherSession,
} from '../context/session-errors.js'

/** Entities that a flush is sending. */
export interface InFlight {
  readonly saved: Iterable<ManagedEntity>
  isSaving(managed: ManagedEntity): boolean
  isRemoving(managed: ManagedEntity): boolean
}

/** Tracks which entities belong to a session, and in which state. */
export class EntityTracker {
  readonly #context: SessionContext
  readonly #relations: Pick<RelationHydration, 'attach'>
  #inFlight: Set<InFlight> | undefined

  constructor(context: SessionContext, relations: Pick<RelationHydration, 'attach'>) {
    this.#context = context
    this.#relations = relations
  }

  /** The entity as this session knows it; undefined when it does not. */
  find(entity: object): ManagedEntity | undefined {
    checkEntity(entity)
    const managed = managedOf(entity)
    if (managed === undefined || managed.state === 'gone') return undefined
    if (managed.home !== this.#context.identity) throw otherSession(managed)
    return managed
  }

  /** As `get`, also for an entity that only the plan of an `explain` has detached. */
  getShown(entity: object): ManagedEntity {
    checkEntity(entity)
    const managed = managedOf(entity)
    const isHere = managed?.home === this.#context.identity && managed.shownState !== 'gone'
    return isHere ? managed : this.get(entity)
  }

  get(entity: object): ManagedEntity {
    const managed = this.find(entity)
    if (managed !== undefined) return managed
    throw notManaged(this.#context.classes.ofEntity(entity))
  }

  /** Takes the entity in as a new one unless the session has it; one that was to be removed stays after all. */
  manage(entity: object): ManagedEntity {
    const managed = this.find(entity) ?? this.#add(entity)
    managed.keep()
    return managed
  }

  /** Marks the entity to be deleted by a cascade; one that the session does not know is deleted by its key. */
  remove(entity: object, conditions?: DeleteConditions): ManagedEntity {
    const known = this.find(entity)
    if (known !== undefined && this.forgetUnsent(known)) return known
    const managed = known ?? this.#add(entity)
    managed.remove(conditions)
    return managed
  }

  /** Marks the entity to be deleted by the next flush. */
  removeAtFlush(entity: object): void {
    const managed = this.find(entity) ?? this.#add(entity)
    managed.removeAtFlush()
  }

  /** Marks the entity to be deleted by a call that is sent now. */
  removeNow(entity: object, conditions?: DeleteConditions): PendingDelete {
    const known = this.find(entity)
    return (known ?? this.#add(entity)).removeNow(known !== undefined, conditions)
  }

  /** Detaches an entity that was never sent: there is nothing of it to delete. False for all others. */
  forgetUnsent(managed: ManagedEntity): boolean {
    const { state, queued, doubt, home } = managed
    const isUnsent = state === 'new' && queued === undefined && doubt === undefined && !this.#isInFlight(managed)
    if (isUnsent) home.remove(managed)
    return isUnsent
  }

  /** Marks entities as in flight, so that none is dropped as "never sent". */
  beginSending(work: InFlight): void {
    this.#inFlight ??= new Set()
    this.#inFlight.add(work)
  }

  endSending(work: InFlight): void {
    this.#inFlight?.delete(work)
    for (const managed of work.saved) managed.noteWritten()
  }

  /** True while a write of the entity is under way; that of a single entity is not a flush. */
  isWriting(managed: ManagedEntity): boolean {
    return managed.sending !== undefined || this.#isInFlight(managed)
  }

  #isInFlight(managed: ManagedEntity): boolean {
    for (const work of this.#inFlight ?? []) if (work.isSaving(managed)) return true
    return false
  }

  /** True while a delete of the entity is under way, or waits for its turn. */
  isDeleting(managed: ManagedEntity): boolean {
    if (managed.state !== 'removed') return false
    if (managed.deleteIntent!.pending?.isUnderWay === true) return true
    for (const work of this.#inFlight ?? []) if (work.isRemoving(managed)) return true
    return false
  }

  /** Gives an entity that was deleted and is to be stored again the relations of a new one. */
  takeInAgain(managed: ManagedEntity): void {
    this.#relations.attach(managed)
  }

  /** Rolls back the mark of a cascade, unless somebody has asked for the delete since; `before` undefined: the session did not know the entity. */
  unmark(managed: ManagedEntity, before: TrackedState | undefined): void {
    const { mapped, key, state, deleteIntent } = managed
    if (deleteIntent !== undefined && deleteIntent.asked > 0) return
    const { identity } = this.#context
    if (before === undefined) identity.remove(managed)
    else if (state === 'removed') managed.keep()
    else if (state === 'gone' && before === 'new' && identity.get(mapped, key.key) === undefined)
      identity.add(managed).comeBack()
  }

  #add(entity: object): ManagedEntity {
    const { classes, identity } = this.#context
    const mapped = classes.ofEntity(entity)
    const { discriminator } = mapped.model
    if (discriminator !== undefined && discriminator.value === undefined) throw abstractClass(mapped)
    checkNewHolders(entity, mapped.model)
    const isMade = this.#completeKey(mapped, entity)
    const given = mapped.recordKey(mapped.codec.key.keyOf(entity), identity.tenant)
    const key: RecordKey = isMade ? { ...given, isMade } : managedOf(entity) ? { ...given, isReused: true } : given
    const other = identity.get(mapped, key.key)
    if (other !== undefined) throw other.isUnread ? hasHandle(mapped, key) : otherInstance(mapped, key)
    if (identity.isLeaving(mapped, key.key)) throw beingDeleted(mapped, key)
    const managed = identity.add(new ManagedEntity(mapped, entity, key, identity, 'new'))
    this.#relations.attach(managed)
    identity.announce(managed)
    return managed
  }

  /** Parents that are as new as the entity, and whose keys its own is made of. */
  #completeParents({ model }: MappedClass, entity: object): void {
    for (const { name } of model.relations) {
      const ref = model.key.properties.includes(name) ? readProperty(entity, name) : undefined
      const parent = isRef(ref) && ref.isLoaded ? ref.value : null
      if (parent !== null && managedOf(parent) === undefined)
        this.#completeKey(this.#context.classes.ofEntity(parent), parent)
    }
  }

  /** True when a key was made that nobody else can have. */
  #completeKey(mapped: MappedClass, entity: object): boolean {
    const { tenant } = this.#context.identity
    const { key } = mapped.model
    const lacksTenant = key.tenant && key.properties.includes(TENANT) && readProperty(entity, TENANT) === undefined
    if (lacksTenant && tenant !== undefined) writeProperty(entity, TENANT, tenant)
    this.#completeParents(mapped, entity)
    return mapped.codec.key.generate(entity)
  }
}

function checkEntity(given: unknown): void {
  if (typeof given === 'object' && given !== null) return
  throw notTaken(`${shown(given)} is not an entity.`, 'Give an instance of a mapped class.')
}
