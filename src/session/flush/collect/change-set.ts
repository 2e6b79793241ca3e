import type { Outcome } from '../../../plan/outcome.js'
import { recordId, type RecordKey } from '../../../plan/record-key.js'
import type { Drain } from '../../../relations/contract/drain.js'
import type { InFlight } from '../../tracking/entity-tracker.js'
import { isSoftDelete } from '../../tracking/soft-deleted.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'

interface Undo {
  readonly undo: () => void
  readonly of: ManagedEntity | undefined
  readonly about: ManagedEntity | undefined
}

/** Entities that one save, delete or flush works on, in the order in which they were found, and all that holds only while it does. */
export class ChangeSet implements InFlight {
  readonly #saved = new Set<ManagedEntity>()
  readonly #removed = new Set<ManagedEntity>()
  /** Change set that this one is a part of, or itself. */
  readonly #whole: ChangeSet
  /** Records that a flush around this one deletes in steps. */
  readonly #around: ReadonlySet<string>
  readonly #depths = new Map<ManagedEntity, number>()
  /** Ids of the records to delete, once somebody has asked for them. */
  #ids: Set<string> | undefined
  /** Members of large collections, which have to go before the plan is made. */
  readonly drains: Drain[] = []
  readonly #reached = new Map<ManagedEntity, Set<ManagedEntity>>()
  /** Members that others are deleted with, once somebody has asked. */
  #taking: Set<ManagedEntity> | undefined
  readonly #detached = new Map<ManagedEntity, Set<string>>()
  readonly #undo: Undo[] = []

  constructor(members: readonly ManagedEntity[] = [], around = NOT_AROUND, whole?: ChangeSet) {
    this.#around = around
    this.#whole = whole ?? this
    for (const managed of members) this.add(managed)
  }

  get saved(): Iterable<ManagedEntity> {
    return this.#saved
  }

  get removed(): Iterable<ManagedEntity> {
    return this.#removed
  }

  get isDeleting(): boolean {
    return this.#removed.size > 0
  }

  /** True when the answer to an earlier write of a member was lost. */
  get isInDoubt(): boolean {
    for (const { doubt } of this.#saved) if (doubt !== undefined) return true
    for (const { doubt } of this.#removed) if (doubt !== undefined) return true
    return false
  }

  isSaving(managed: ManagedEntity): boolean {
    return this.#saved.has(managed)
  }

  isRemoving(managed: ManagedEntity): boolean {
    return this.#removed.has(managed)
  }

  /** Tests by its id whether a record is deleted by this flush, or by one around it. */
  readonly deletes = (id: string): boolean => {
    if (this.#whole !== this) return this.#whole.deletes(id)
    this.#ids ??= new Set([...this.#removed].filter(isHardDelete).map(({ key }) => recordId(key)))
    return this.#ids.has(id) || this.#around.has(id)
  }

  isDeletedAround(key: RecordKey): boolean {
    return this.#around.size > 0 && this.#around.has(recordId(key))
  }

  /** Number of cascades away from what was asked to be deleted: children are deleted before their parents. */
  depthOf(managed: ManagedEntity): number {
    return this.#depths.get(managed) ?? 0
  }

  setDepth(managed: ManagedEntity, depth: number): void {
    this.#depths.set(managed, depth)
  }

  /** Members that were cascaded to, each with those that reached it. */
  get cascadedFrom(): ReadonlyMap<ManagedEntity, ReadonlySet<ManagedEntity>> {
    return this.#reached
  }

  noteCascade(managed: ManagedEntity, from: ManagedEntity): void {
    const origins = this.#reached.get(managed)
    if (origins === undefined) this.#reached.set(managed, new Set([from]))
    else origins.add(from)
    this.#taking = undefined
  }

  /** True for a member that others are deleted with. */
  takesAlong(managed: ManagedEntity): boolean {
    const removed = this.#taking ? [] : [...this.#reached].filter(([{ state }]) => state === 'removed')
    this.#taking ??= new Set(removed.flatMap(([, origins]) => [...origins]))
    return this.#taking.has(managed)
  }

  /** Members that were taken off parents that are deleted, each with the references that say so. */
  get detached(): ReadonlyMap<ManagedEntity, ReadonlySet<string>> {
    return this.#detached
  }

  noteDetached(managed: ManagedEntity, relation: string): void {
    const relations = this.#detached.get(managed)
    if (relations === undefined) this.#detached.set(managed, new Set([relation]))
    else relations.add(relation)
  }

  /** Notes how to put back what collecting has changed in the session; `of`: the entity that it has marked, `about`: another one that shows the change. */
  onRollback(undo: () => void, of?: ManagedEntity, about?: ManagedEntity): void {
    this.#undo.push({ undo, of, about })
  }

  /** Puts the session back as it was before this work was collected, because nothing was sent. */
  rollback(): void {
    for (let last = this.#undo.pop(); last !== undefined; last = this.#undo.pop()) last.undo()
  }

  /** Rolls back the marks of these members alone. */
  rollbackWhere(wanted: (managed: ManagedEntity) => boolean): void {
    this.#rollbackThose(({ of }) => of !== undefined && wanted(of))
  }

  /** Rolls back all but what these entities show. */
  rollbackUnless(isKept: (managed: ManagedEntity) => boolean): void {
    this.#rollbackThose(({ about }) => about === undefined || !isKept(about))
  }

  #rollbackThose(wanted: (mark: Undo) => boolean): void {
    const marks = this.#undo.splice(0)
    const isRolledBack = marks.map(wanted)
    marks.forEach((mark, i) => isRolledBack[i] || this.#undo.push(mark))
    for (let i = marks.length - 1; i >= 0; i--) if (isRolledBack[i]) marks[i].undo()
  }

  /** Tests for members that are one of `those`, or were cascaded to only from them. */
  onlyFor(those: ReadonlySet<ManagedEntity>): (managed: ManagedEntity) => boolean {
    const reaches = new Map<ManagedEntity, ManagedEntity[]>()
    const forOthers = new Set<ManagedEntity>()
    for (const [managed, origins] of this.#reached) {
      for (const origin of origins) {
        if (!this.#reached.has(origin)) forOthers.add(origin)
        const reached = reaches.get(origin)
        if (reached === undefined) reaches.set(origin, [managed])
        else reached.push(managed)
      }
    }
    // The set grows while it is walked.
    for (const other of forOthers)
      if (!those.has(other)) for (const managed of reaches.get(other) ?? []) forOthers.add(managed)
    return (managed) => those.has(managed) || (this.#reached.has(managed) && !forOthers.has(managed))
  }

  /** Change set of the members for which this holds, with those that reached them. */
  filter(wanted: (managed: ManagedEntity) => boolean): ChangeSet {
    return this.#part([...this.#saved, ...this.#removed].filter(wanted))
  }

  /** Change sets of the members of each group, made in one pass. */
  split(groupOf: (managed: ManagedEntity) => string): (group: string) => ChangeSet {
    const groups = new Map<string, ManagedEntity[]>()
    for (const managed of [...this.#saved, ...this.#removed]) {
      const group = groupOf(managed)
      const members = groups.get(group)
      if (members === undefined) groups.set(group, [managed])
      else members.push(managed)
    }
    return (group) => this.#part(groups.get(group) ?? [])
  }

  #part(members: readonly ManagedEntity[]): ChangeSet {
    const work = new ChangeSet(
      members.filter((managed) => isToSave(managed) || this.#removed.has(managed)),
      this.#around,
      this.#whole,
    )
    for (const managed of members) {
      work.#depths.set(managed, this.depthOf(managed))
      const origins = this.#reached.get(managed)
      if (origins !== undefined) work.#reached.set(managed, origins)
      const detached = this.#detached.get(managed)
      if (detached !== undefined) work.#detached.set(managed, detached)
    }
    return work
  }

  get isEmpty(): boolean {
    return this.#saved.size === 0 && this.#removed.size === 0
  }

  has(managed: ManagedEntity): boolean {
    return this.#saved.has(managed) || this.#removed.has(managed)
  }

  /** Drops members that were kept, removed or forgotten since they were added, and returns them. */
  dropReclassified(): ManagedEntity[] {
    const saved = [...this.#saved].filter(({ state }) => state === 'removed' || state === 'gone')
    const removed = [...this.#removed].filter(({ state }) => state !== 'removed')
    this.drop([...saved, ...removed])
    return [...saved, ...removed, ...this.#keepWith(new Set(removed.filter(({ state }) => state !== 'gone')))]
  }

  /** Keeps what was cascaded to only from entities that stay after all. */
  #keepWith(kept: ReadonlySet<ManagedEntity>): ManagedEntity[] {
    if (kept.size === 0) return []
    this.rollbackWhere(this.onlyFor(kept))
    const stays = this.drains.filter(({ owner }) => !kept.has(owner as ManagedEntity))
    this.drains.splice(0, Infinity, ...stays)
    return this.dropReclassified()
  }

  /** After a failure: any write may have been a part of each delete that is not done, unless its own condition forbade it. */
  noteDeletesBegun(outcomes: readonly Outcome[], failed: readonly Outcome[]): void {
    if (!outcomes.some(({ state }) => state === 'written')) return
    const guarded = failed.filter(({ reason }) => reason === 'guard')
    const forbidden = new Set(guarded.map(({ command }) => recordId(command.key)))
    for (const managed of this.#removed) {
      const isOpen = managed.state === 'removed' && !managed.mapped.standsAlone
      if (isOpen && !forbidden.has(recordId(managed.key))) managed.noteDeleteBegun(true)
    }
  }

  /** Drops members for which there is nothing to be done. */
  drop(members: readonly ManagedEntity[]): void {
    for (const managed of members) this.#drop(managed)
  }

  #drop(managed: ManagedEntity): void {
    this.#saved.delete(managed)
    if (this.#removed.delete(managed)) this.#ids?.delete(recordId(managed.key))
  }

  add(managed: ManagedEntity): void {
    // A hook or a cascade may roll back or add a remove while the work is being gathered.
    this.#drop(managed)
    if (managed.state === 'removed') this.#addRemoved(managed)
    else if (managed.state !== 'gone') this.#saved.add(managed)
  }

  #addRemoved(managed: ManagedEntity): void {
    this.#removed.add(managed)
    if (isHardDelete(managed)) this.#ids?.add(recordId(managed.key))
  }
}

/** Entities that were removed while their flush was under way are left to the delete: nothing was collected that goes with them. */
export const isToSave = ({ state }: ManagedEntity): boolean => state !== 'removed'

/** A record that is deleted softly keeps its lists, and others go on naming it. */
const isHardDelete = (managed: ManagedEntity): boolean => !isSoftDelete(managed)

const NOT_AROUND: ReadonlySet<string> = new Set()
