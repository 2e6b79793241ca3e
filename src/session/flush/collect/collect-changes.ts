import type { KeyValue } from '../../../keys/index.js'
import { checkHolders, checkMembers } from '../../../relations/state/state-of.js'
import type { EntityModel, HookName } from '../../../model/index.js'
import type { Reader } from '../../../relations/contract/reader.js'
import type { Contributor, Cascade } from '../../../relations/contract/contributor.js'
import { ALL_MEMBERS, MOST_REACHED, type Drain } from '../../../relations/contract/drain.js'
import { MOST_WRITES } from '../../../driver/capabilities.js'
import { callHooks } from '../../tracking/lifecycle-hooks.js'
import { isSoftDelete } from '../../tracking/soft-deleted.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import type { EntityTracker } from '../../tracking/entity-tracker.js'
import { tooLarge } from '../../transaction/transaction-errors.js'
import { ChangeSet } from './change-set.js'
import { changesOthersUnread, checkClass } from './check-class.js'

/** Change set of entities that reach no others and have no hooks. It is there at once, so that they are sent as they are now; undefined where others are among them. */
export const plainChanges = (
  found: readonly ManagedEntity[],
  around: CollectOptions['around'],
): ChangeSet | undefined => (found.every(isPlain) ? new ChangeSet(found, around) : undefined)

/** Collects what has to be saved and deleted: what `scan` finds, and what that reaches. */
export async function collectChanges(
  scan: () => ManagedEntity[],
  entities: EntityTracker,
  reader: Reader,
  options: CollectOptions = {},
): Promise<ChangeSet> {
  const found = scan()
  return plainChanges(found, options.around) ?? gatherAll(found, scan, entities, reader, options)
}

/** Set of entities, or anything with the same test. */
interface Members {
  has(managed: ManagedEntity): boolean
}

interface CollectOptions {
  readonly hooks?: 'run' | 'skip'
  /** Entities whose hooks have run before. */
  readonly done?: Members | undefined
  /** For a transaction, which holds all or nothing: what does not fit is refused. */
  readonly isWhole?: boolean
  /** Most entities that one plan may hold. */
  readonly step?: number
  /** Second pass: owners have been marked since the first. */
  readonly isAgain?: boolean
  /** Records that a flush around this one deletes in steps. */
  readonly around?: ReadonlySet<string> | undefined
}

function isPlain({ state, model, mapped }: ManagedEntity): boolean {
  const { beforeSave, beforeDelete } = model.hooks
  const hooks = state === 'removed' ? beforeDelete : beforeSave
  return hooks.length === 0 && !mapped.contributors.some((contributor) => contributor.cascade !== undefined)
}

/**
 * Adds what these entities reach. Before-hooks run for each entity once; as they may change others, `scan` is asked again until it finds
 * nothing new.
 */
export async function gatherAll(
  roots: readonly ManagedEntity[],
  scan: () => ManagedEntity[],
  entities: EntityTracker,
  reader: Reader,
  options: CollectOptions,
): Promise<ChangeSet> {
  const work = new ChangeSet([], options.around)
  try {
    await gatherInto(work, roots, scan, entities, reader, options)
  } catch (error) {
    work.rollback()
    throw error
  }
  return work
}

async function gatherInto(
  work: ChangeSet,
  roots: readonly ManagedEntity[],
  scan: () => ManagedEntity[],
  entities: EntityTracker,
  reader: Reader,
  { hooks = 'run', done, isWhole = false, isAgain = false, step = MOST_REACHED }: CollectOptions,
): Promise<void> {
  const drain = (large: Drain): void => {
    if (isWhole) throw tooLarge(large)
    work.drains.push(large)
  }
  const most = isWhole ? MOST_WRITES : step
  const isLook = hooks === 'skip'
  const isNews = (managed: ManagedEntity): boolean => managed.state !== 'gone' && !work.has(managed)
  const called: CalledHooks = { beforeDelete: new Set(), beforeSave: new Set(), before: done }
  let found = roots
  while (found.length > 0) {
    const added = await cascadeFrom(found, entities, reader, work, { drain, most, isAgain, isLook })
    for (const managed of added) work.add(managed)
    // Only hooks change entities that nobody has reached.
    if (isLook) return
    if (!(await runBeforeHooks(added, called))) return
    // A hook may also have removed what is saved, or kept what is deleted: that reaches others, and has hooks of its own.
    const changed = work.dropReclassified().filter(isDirty)
    found = [...new Set([...scan(), ...changed])].filter(isNews)
  }
}

const NO_BOUND = ALL_MEMBERS.count - 1

interface ReachOptions {
  readonly drain: (large: Drain) => void
  readonly most: number
  readonly isAgain: boolean
  /** Nothing will be sent. */
  readonly isLook: boolean
}

async function cascadeFrom(
  roots: readonly ManagedEntity[],
  entities: EntityTracker,
  reader: Reader,
  work: ChangeSet,
  { drain, most, isAgain, isLook }: ReachOptions,
): Promise<ManagedEntity[]> {
  const members = [...roots]
  const seen = new Set(members)
  const asked = new Set<ManagedEntity>()
  const add = (managed: ManagedEntity, from: ManagedEntity): void => {
    if (managed !== from) work.noteCascade(managed, from)
    if (seen.has(managed)) return
    seen.add(managed)
    members.push(managed)
  }
  // The list grows while it is walked.
  for (const managed of members) {
    asked.add(managed)
    checkHolders(managed.entity, managed.model)
    if (managed.state !== 'removed') checkMembers(managed, managed.mapped.relations, reader)
    if (managed.isUnread && changesOthersUnread(managed)) await checkClass(managed, reader)
    const reach: Cascade = {
      save(entity, overwrites = false) {
        const known = entities.find(entity)
        // An entity that is being deleted stays so, whoever reaches it.
        const saved = known?.state === 'removed' ? known : entities.manage(entity)
        if (isLook && known === undefined) work.onRollback(() => entities.forgetUnsent(saved))
        if (overwrites && saved.state === 'new' && saved.overwrite !== true) {
          const keep = saved.addWriteOptions({ overwrite: true })
          if (isLook) work.onRollback(keep)
        }
        add(saved, managed)
      },
      detach(entity, relation) {
        reach.save(entity)
        work.noteDetached(entities.find(entity)!, relation)
      },
      remove(entity, only) {
        const known = entities.find(entity)
        const before = known?.state
        const isMarked = before === 'removed'
        const isAskedFor = isMarked && known!.deleteIntent!.orphanGuard === undefined
        const isPreview = isLook && (before === 'new' || before === 'stored')
        const orphanGuard = isAskedFor ? undefined : only
        const removed = entities.remove(entity, isLinkOfGone(managed, known) ? { purges: true } : { orphanGuard })
        if (isPreview) removed.showAs(before)
        if (!isMarked) work.onRollback(() => entities.unmark(removed, before), removed)
        if (!seen.has(removed)) work.setDepth(removed, work.depthOf(managed) + 1)
        // Walked as a saved entity so far: as a deleted one it reaches others.
        else if (removed.state === 'removed' && !isMarked && asked.has(removed)) members.push(removed)
        add(removed, managed)
      },
      join(entity, certain) {
        const only = entities.find(entity)?.deleteIntent?.orphanGuard
        reach.remove(entity, only?.bin === certain ? undefined : only)
      },
      get room() {
        // Members that are drained in steps leave the lists, and a soft delete keeps those.
        return isSoftDelete(managed) ? NO_BOUND : Math.max(0, most - members.length)
      },
      isForGood: isForGood(managed),
      drain: (large) => drain(isForGood(managed) ? { ...large, isForGood: isLinkClass(managed, large.target) } : large),
      isDeletedAround: (key) => work.isDeletedAround(key),
      onRollback: (undo, about) => work.onRollback(undo, managed, about && entities.find(about)),
      isPreview: isLook,
      isAgain,
    }
    const { state } = managed
    const contributors = contributorsOf(managed)
    const listed = await listedBy(contributors, managed, reach, reader)
    for (const [i, contributor] of contributors.entries()) {
      const reading = contributor.cascade?.(managed, reach, reader, listed?.[i])
      if (reading !== undefined) await reading
      if (managed.state !== state) break
    }
  }
  return members
}

const isForGood = (managed: ManagedEntity): boolean => managed.state === 'removed' && !isSoftDelete(managed)

const isLinkClass = ({ mapped }: ManagedEntity, { name }: EntityModel): boolean =>
  mapped.relations.some(({ links }) => links?.model.name === name)

/** True for a link record one of whose ends is removed for good: what a soft delete would leave of it leads nowhere. */
const isLinkOfGone = (end: ManagedEntity, link: ManagedEntity | undefined): boolean =>
  link !== undefined && isForGood(end) && isLinkClass(end, link.model)

/** Keys that the record of a deleted entity lists, for each contributor, read in one batch. */
function listedBy(
  contributors: readonly Contributor[],
  managed: ManagedEntity,
  reach: Cascade,
  reader: Reader,
): Promise<(readonly KeyValue[] | undefined)[]> | undefined {
  if (managed.state !== 'removed') return undefined
  return Promise.all(contributors.map(async (contributor) => contributor.cascadeKeys?.(managed, reach, reader)))
}

/** Contributors in the order of the call: of a delete, those that may refuse it come first. */
function contributorsOf(managed: ManagedEntity): readonly Contributor[] {
  const { mapped, state } = managed
  if (state !== 'removed') return mapped.contributors
  return isSoftDelete(managed) ? mapped.contributorsOfSoftDelete : mapped.contributorsOfDelete
}

interface CalledHooks {
  readonly beforeDelete: Set<ManagedEntity>
  readonly beforeSave: Set<ManagedEntity>
  /** Entities whose hooks have run before. */
  readonly before: Members | undefined
}

export const hasHooks = (hook: HookName, members: readonly ManagedEntity[]): boolean =>
  members.some(({ mapped }) => mapped.calls(hook))

async function runBeforeHooks(members: readonly ManagedEntity[], called: CalledHooks): Promise<boolean> {
  const fresh = members.filter((managed) => called.before?.has(managed) !== true)
  const removed = fresh.filter((managed) => managed.state === 'removed' && !called.beforeDelete.has(managed))
  // A record that only handles change has no entity whose methods could be called.
  const isSaved = (managed: ManagedEntity): boolean => managed.state !== 'removed' && !managed.isUnread
  const saved = fresh.filter((managed) => isSaved(managed) && !called.beforeSave.has(managed))
  for (const managed of removed) called.beforeDelete.add(managed)
  for (const managed of saved) called.beforeSave.add(managed)
  if (!hasHooks('beforeDelete', removed) && !hasHooks('beforeSave', saved)) return false
  await callHooks('beforeDelete', removed)
  await callHooks('beforeSave', saved)
  return true
}

/** True when a flush would send something for the entity. */
export function isDirty(managed: ManagedEntity): boolean {
  const { shownState } = managed
  if (shownState !== 'stored') return shownState !== 'gone'
  const { contributors } = managed.mapped
  try {
    for (let i = 0; i < contributors.length; i++) if (contributors[i].hasChanges(managed)) return true
  } catch (error) {
    // Asked only now: of entities that nobody touched, most flushes have very many.
    checkHolders(managed.entity, managed.model)
    throw error
  }
  return false
}
