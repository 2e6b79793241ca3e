import { readProperty } from '../../../codec/index.js'
import { tagKey } from '../../../keys/index.js'
import {
  indexedRef,
  kindsOf,
  targetsOf,
  type EntityModel,
  type Model,
  type RelationModel,
} from '../../../model/index.js'
import { read, type Guard } from '../../../plan/command.js'
import type { Draft } from '../../../plan/draft.js'
import { isWrittenOrMissing } from '../../../plan/outcome.js'
import { markDeleting } from '../../write/delete-marker.js'
import { mapGetKeys } from '../../../plan/operations.js'
import type { UserKey } from '../../../plan/record-key.js'
import type { Value } from '../../../plan/value.js'
import type { Tracked } from '../../contract/tracked.js'
import type { Reader } from '../../contract/reader.js'
import type { Contributor, OnRollback, Cascade } from '../../contract/contributor.js'
import { inSteps, type Drain } from '../../contract/drain.js'
import { inverseIndexOn, type FoundHomes, type IndexedBy } from '../../contract/index-lookup.js'
import type { CollectionState } from '../../state/collection-state.js'
import { collectionStateOf } from '../../state/state-of.js'
import type { PartTable } from './part-table.js'
import { pointingIn, removeEntries, unknownRoots } from './remove-entries.js'

/** A map on a class from the keys that its consolidated children point to, to those children. */
interface Pointers {
  readonly owner: EntityModel
  readonly relation: string
  /** Inverse index of the relation that found them. */
  readonly at: number
  /** The relation, where the owners' own records hold the children: these are read with them. */
  readonly along: readonly string[]
  readonly bin: string
  readonly indexed: Pick<IndexedBy, 'index' | 'apart'>
  /** True where other records hold the children, so that the owners need not be loaded. */
  readonly isUnread: boolean
  /** Dates of the children choose the records that hold them: only an owner, or the index, tells which there are. */
  readonly isDated: boolean
  /** The index lists keys with their sets. */
  readonly isTagged: boolean
}

/** Owners of children that point to an entity, which of them were read just now, and the companions that hold such children. */
interface FoundOwners {
  readonly owners: readonly Tracked[]
  readonly isFresh: (owner: Tracked) => boolean
  readonly homes: FoundHomes | undefined
}

/** Deleting an entity removes the consolidated children that point to it, in whichever records they are: an index finds those. */
class TargetDeletion implements Contributor {
  readonly #pointers: readonly Pointers[]
  /** Targets that may stay, because another session has moved them: their children are removed only once they are marked. */
  readonly #unsure = new WeakSet<Tracked>()

  constructor(pointers: readonly Pointers[]) {
    this.#pointers = pointers
  }

  hasChanges(): boolean {
    return false
  }

  async cascade(target: Tracked, reach: Cascade, reader: Reader): Promise<void> {
    if (target.state !== 'removed' || (reach.isAgain && !this.#unsure.delete(target))) return
    const mayStay = !reach.isAgain && !reach.isPreview && !reader.isInside && target.deleteGuards.some(isOfBin)
    // Several indexes may find the same owner, which is read once.
    const fresh = new Set<Tracked>()
    for (const pointers of this.#pointers) {
      const found = await this.#ownersOf(target, pointers, fresh, reach, reader)
      if (found === undefined) reach.drain(drainOf(target, pointers, reader))
      else if (mayStay && found.owners.length > 0) this.#unsure.add(target)
      else
        for (const { entity } of await removeChildren(found, target, pointers, reader, reach.onRollback))
          reach.save(entity)
    }
  }

  /** Undefined where they are too many for one plan. */
  async #ownersOf(
    target: Tracked,
    pointers: Pointers,
    fresh: Set<Tracked>,
    reach: Cascade,
    reader: Reader,
  ): Promise<FoundOwners | undefined> {
    const owners = new Set<Tracked>()
    const homes = homesOf(pointers)
    const lookup = { ...lookupOf(target, pointers, reader), along: pointers.along, homes }
    if (pointers.isUnread) {
      for await (const keys of reader.keysBy(lookup)) {
        for (const owner of keys.map((key) => reader.unread(pointers.owner, key)))
          if ((owner.shownState ?? owner.state) !== 'removed') owners.add(owner)
        if (owners.size > reach.room) return undefined
      }
      return { owners: [...owners], isFresh: () => false, homes }
    }
    for await (const step of reader.foundBy(lookup)) {
      for (const each of step.found) owners.add(each)
      for (const each of step.fresh) fresh.add(each)
      if (owners.size <= reach.room) continue
      reader.release([...fresh])
      return undefined
    }
    return { owners: [...owners], isFresh: (owner) => fresh.has(owner), homes }
  }

  isWaiting(target: Tracked): boolean {
    return this.#unsure.has(target)
  }

  save(): void {}

  remove(target: Tracked, draft: Draft): void {
    if (!draft.isTransaction && this.#unsure.has(target)) draft.add('mark', markDeleting(target), isWrittenOrMissing)
  }
}

const isOfBin = ({ kind }: Guard): boolean => kind === 'binEquals'

/** Changes to owners of parts when an entity of this class is deleted; none where no relation asks for any. */
export function targetDeletions(target: EntityModel, model: Model): readonly TargetDeletion[] {
  const pointers = [...model.entities.values()].flatMap((owner) =>
    owner.relations.flatMap(({ name, target: part, companions, inverseIndexes = [] }) =>
      inverseIndexes.flatMap((inverse, at): Pointers[] => {
        const ref = indexedRef(model, part, inverse)
        if (inverse.onTargetDelete !== 'delete' || !pointsTo(model, ref, target)) return []
        const { bin } = inverse
        const along = companions === undefined ? [name] : []
        const isUnread = companions !== undefined && canStayUnread(owner)
        const isDated = companions?.buckets !== undefined
        const indexed = inverseIndexOn(owner, bin)!
        const isTagged = ref.several !== undefined
        return [{ owner, relation: name, at, along, bin, indexed, isUnread, isDated, isTagged }]
      }),
    ),
  )
  return pointers.length === 0 ? [] : [new TargetDeletion(pointers)]
}

/** True when the reference may hold the key of such an entity. */
const pointsTo = (model: Model, ref: RelationModel, { name }: EntityModel): boolean =>
  targetsOf(ref).some((target) => kindsOf(model.entity(target)).includes(name))

/** True where owners need not be loaded: no hook sees them, and their class is known without the record. */
const canStayUnread = ({ discriminator, hooks }: EntityModel): boolean =>
  discriminator === undefined && hooks.beforeSave.length + hooks.afterSave.length === 0

/** Children hold the key as people use it, with the set where they may point to several classes. */
function valueOf({ model, key }: Tracked, { isTagged }: Pointers, reader: Reader): UserKey {
  const own = reader.fromStored(model, key.key)
  return isTagged ? tagKey(model.set, own) : own
}

const homesOf = ({ isDated }: Pointers): FoundHomes | undefined => (isDated ? new Map() : undefined)

const lookupOf = (target: Tracked, pointers: Pointers, reader: Reader): IndexedBy => ({
  model: pointers.owner,
  ...pointers.indexed,
  value: valueOf(target, pointers, reader),
})

function drainOf(target: Tracked, pointers: Pointers, reader: Reader): Drain {
  const { owner, relation } = pointers
  const homes = homesOf(pointers)
  const lookup = lookupOf(target, pointers, reader)
  return {
    owner: target,
    className: owner.name,
    property: relation,
    target: owner,
    fate: {
      kind: 'change',
      along: pointers.along,
      isUnread: pointers.isUnread,
      change: (owners, inner) => removeChildren({ owners, isFresh: () => true, homes }, target, pointers, inner),
    },
    // Once: nothing keeps others from pointing to it again.
    chunks: (count) => inSteps(reader.keysBy({ ...lookup, homes }), count),
    survey: (count) => inSteps(reader.keysBy(lookup), count),
  }
}

/** Takes the children that point to the target out of their owners, and says which of these it has changed. */
async function removeChildren(
  { owners, isFresh, homes }: FoundOwners,
  target: Tracked,
  pointers: Pointers,
  reader: Reader,
  onRollback?: OnRollback,
): Promise<readonly Tracked[]> {
  const value = valueOf(target, pointers, reader)
  const known = new Map<Tracked, readonly Value[]>()
  const isAtHand = (owner: Tracked): boolean => isFresh(owner) && tableOf(owner, pointers).isComplete
  for (const owner of owners.filter(isAtHand))
    known.set(owner, pointingIn(tableOf(owner, pointers), pointers.at, value))
  // Others may have added children to those that the session had already.
  const unsure = owners.filter((owner) => !isAtHand(owner))
  const asked = await entriesOf(unsure, pointers, value, homes, reader)
  unsure.forEach((owner, i) => known.set(owner, asked[i]))
  await readUnknown(known, pointers, reader)
  return owners.filter((owner) => {
    const entries = known.get(owner)!
    removeEntries(tableOf(owner, pointers), entries, onRollback)
    return entries.length > 0
  })
}

const stateOf = ({ entity }: Tracked, { relation }: Pointers): CollectionState =>
  collectionStateOf(readProperty(entity, relation) as object)

/** The table of parts, which only this strategy puts into the state. */
const tableOf = (owner: Tracked, pointers: Pointers): PartTable => stateOf(owner, pointers).parts as PartTable

/** Entries of the index of each owner, read in one batch: the children themselves need not be loaded. */
async function entriesOf(
  owners: readonly Tracked[],
  pointers: Pointers,
  value: UserKey,
  homes: FoundHomes | undefined,
  reader: Reader,
): Promise<readonly (readonly Value[])[]> {
  if (owners.length === 0) return []
  const { bin, at } = pointers
  const operations = [mapGetKeys(bin, [value], 'value')]
  const { strategy } = stateOf(owners[0], pointers).binding!
  const taken = strategy.takePointing?.(owners, at, value, reader, homes)
  if (taken !== undefined) return taken
  const records = await reader.read(owners.map(({ model, key }) => read(model.name, key, 'none', operations)))
  return records.map((record) => (record?.bins[bin] ?? []) as readonly Value[])
}

/** Reads children that contain such parts unknown to the session: all in one tick, and so in one batch read. */
async function readUnknown(
  entries: ReadonlyMap<Tracked, readonly Value[]>,
  pointers: Pointers,
  reader: Reader,
): Promise<void> {
  await Promise.all(
    [...entries].map(async ([owner, listed]) => {
      const ids = unknownRoots(tableOf(owner, pointers), listed)
      if (ids.length > 0) await stateOf(owner, pointers).binding!.strategy.readAgain!(owner, ids, reader)
    }),
  )
}
