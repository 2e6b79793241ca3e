import { readProperty } from '../../../codec/index.js'
import { kindsOf, type EntityModel, type IndexModel, type Model } from '../../../model/index.js'
import { read } from '../../../plan/command.js'
import { mapGetKeys } from '../../../plan/operations.js'
import type { UserKey } from '../../../plan/record-key.js'
import type { KeyValue } from '../../../keys/index.js'
import type { Tracked } from '../../contract/tracked.js'
import type { Reader } from '../../contract/reader.js'
import type { Contributor, OnRollback, Cascade } from '../../contract/contributor.js'
import { inSteps, type Drain } from '../../contract/drain.js'
import type { IndexedBy } from '../../contract/index-lookup.js'
import { collectionStateOf } from '../../state/state-of.js'

/** A map on a class from the keys that its consolidated children point to, to those children. */
interface Pointers {
  readonly owner: EntityModel
  readonly relation: string
  readonly bin: string
  readonly index: IndexModel
}

/** Deleting an entity removes the consolidated children that point to it, in whichever records they are: an index finds those. */
export class TargetDeletion implements Contributor {
  readonly #pointers: readonly Pointers[]

  constructor(pointers: readonly Pointers[]) {
    this.#pointers = pointers
  }

  hasChanges(): boolean {
    return false
  }

  async cascade(target: Tracked, reach: Cascade, reader: Reader): Promise<void> {
    if (target.state !== 'removed' || reach.isAgain) return
    for (const pointers of this.#pointers) {
      const owners = await this.#ownersOf(target, pointers, reach, reader)
      if (owners === undefined) reach.drain(drainOf(target, pointers, reader))
      else
        for (const { entity } of await removeChildren(owners, target, pointers, reader, reach.onTakeBack))
          reach.save(entity)
    }
  }

  /** Undefined where they are too many for one plan. */
  async #ownersOf(
    target: Tracked,
    pointers: Pointers,
    reach: Cascade,
    reader: Reader,
  ): Promise<readonly Tracked[] | undefined> {
    const owners: Tracked[] = []
    const passing: Tracked[] = []
    for await (const { found, fresh } of reader.foundBy(lookupOf(target, pointers, reader))) {
      owners.push(...found)
      passing.push(...fresh)
      if (owners.length <= reach.room) continue
      reader.release(passing)
      return undefined
    }
    return owners
  }

  save(): void {}
  remove(): void {}
}

/** Changes to owners of parts when an entity of this class is deleted; none where no relation asks for any. */
export function targetDeletions(target: EntityModel, model: Model): readonly TargetDeletion[] {
  const pointers = [...model.entities.values()].flatMap((owner) =>
    owner.relations.flatMap(({ name, target: part, inverseIndexes = [] }) =>
      inverseIndexes
        .filter(({ ref, onTargetDelete }) => onTargetDelete === 'delete' && pointsTo(model, part, ref, target))
        .map(({ bin }) => ({ owner, relation: name, bin, index: indexOn(owner, bin) })),
    ),
  )
  return pointers.length === 0 ? [] : [new TargetDeletion(pointers)]
}

/** Whether that reference of a part may hold the key of such an entity. */
function pointsTo(model: Model, part: string, ref: string, { name }: EntityModel): boolean {
  const relation = model.embeddable(part).relations.find((each) => each.name === ref)!
  return kindsOf(model.entity(relation.target)).includes(name)
}

const indexOn = ({ indexes }: EntityModel, name: string): IndexModel =>
  indexes.find(({ bin, on }) => bin === name && on === 'mapKeys')!

/** Children hold the key as people use it. */
const valueOf = ({ model, key }: Tracked, reader: Reader): UserKey => reader.fromStored(model, key.key)

const lookupOf = (target: Tracked, { owner, index }: Pointers, reader: Reader): IndexedBy => ({
  model: owner,
  index,
  value: valueOf(target, reader),
})

function drainOf(target: Tracked, pointers: Pointers, reader: Reader): Drain {
  const { owner, relation } = pointers
  const survey = (count: number): AsyncIterable<readonly KeyValue[]> =>
    inSteps(reader.keysBy(lookupOf(target, pointers, reader)), count)
  return {
    owner: target,
    className: owner.name,
    property: relation,
    target: owner,
    fate: { kind: 'change', change: (members, inner) => removeChildren(members, target, pointers, inner) },
    // Once: nothing keeps others from pointing to it again.
    chunks: survey,
    survey,
  }
}

/** Takes the children that point to the target out of their owners, and says which of these it has changed. */
async function removeChildren(
  owners: readonly Tracked[],
  target: Tracked,
  pointers: Pointers,
  reader: Reader,
  onTakeBack?: OnRollback,
): Promise<readonly Tracked[]> {
  const ids = await idsOf(owners, pointers, valueOf(target, reader), reader)
  owners.forEach((owner, i) => {
    const state = collectionStateOf(readProperty(owner.entity, pointers.relation) as object)
    if (ids[i].length > 0) onTakeBack?.(state.remember())
    for (const id of ids[i]) state.remove(id)
  })
  return owners.filter((_, i) => ids[i].length > 0)
}

/** The ids of each owner's children, read in one batch: the children themselves need not be loaded. */
async function idsOf(
  owners: readonly Tracked[],
  { bin, relation }: Pointers,
  value: UserKey,
  reader: Reader,
): Promise<readonly (readonly UserKey[])[]> {
  if (owners.length === 0) return []
  const operations = [mapGetKeys(bin, [value], 'value')]
  const { strategy } = collectionStateOf(readProperty(owners[0].entity, relation) as object).binding!
  const records =
    (await strategy.readHomes?.(owners, reader, operations)) ??
    (await reader.read(owners.map(({ model, key }) => read(model.name, key, 'none', operations)))).map((each) => [each])
  return records.map((all) => all.flatMap((record) => (record?.bins[bin] ?? []) as readonly UserKey[]))
}
