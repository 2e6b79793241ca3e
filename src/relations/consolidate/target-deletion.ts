import { readProperty } from '../../codec/index.js'
import type { EntityModel, IndexModel, Model } from '../../model/index.js'
import { read } from '../../plan/command.js'
import { mapGetKeys } from '../../plan/operations.js'
import type { UserKey } from '../../plan/record-key.js'
import type { Contributor, Reach, Reader, Tracked } from '../contributor.js'
import { collectionStateOf } from '../states.js'

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

  async reach(target: Tracked, reach: Reach, reader: Reader): Promise<void> {
    if (target.state !== 'removed') return
    // Children hold the key as people use it.
    const value = reader.fromStored(target.model, target.key.key)
    for (const pointers of this.#pointers) {
      for await (const { found } of reader.foundBy({ model: pointers.owner, index: pointers.index, value })) {
        const ids = await idsOf(found, pointers, value, reader)
        found.forEach((owner, i) => {
          const state = collectionStateOf(readProperty(owner.entity, pointers.relation) as object)
          for (const id of ids[i]) state.remove(id)
          if (ids[i].length > 0) reach.save(owner.entity)
        })
      }
    }
  }

  save(): void {}
  remove(): void {}
}

/** What has to be done elsewhere when an entity of this class is deleted; nothing where no relation asks for it. */
export function targetDeletions(target: EntityModel, model: Model): readonly TargetDeletion[] {
  const pointers = [...model.entities.values()].flatMap((owner) =>
    owner.relations.flatMap(({ name, target: part, inverseIndexes = [] }) =>
      inverseIndexes
        .filter(({ ref, onTargetDelete }) => onTargetDelete === 'delete' && pointsTo(model, part, ref) === target.name)
        .map(({ bin }) => ({ owner, relation: name, bin, index: indexOn(owner, bin) })),
    ),
  )
  return pointers.length === 0 ? [] : [new TargetDeletion(pointers)]
}

function pointsTo(model: Model, part: string, ref: string): string | undefined {
  return model.embeddable(part).relations.find(({ name }) => name === ref)?.target
}

const indexOn = ({ indexes }: EntityModel, name: string): IndexModel =>
  indexes.find(({ bin, on }) => bin === name && on === 'mapKeys')!

/** The ids of each owner's children, read in one batch: the children themselves need not be loaded. */
async function idsOf(
  owners: readonly Tracked[],
  { bin }: Pointers,
  value: UserKey,
  reader: Reader,
): Promise<readonly (readonly UserKey[])[]> {
  const commands = owners.map(({ model, key }) => read(model.name, key, 'none', [mapGetKeys(bin, [value], 'value')]))
  const records = await reader.read(commands)
  return records.map((record) => (record?.bins[bin] ?? []) as readonly UserKey[])
}
