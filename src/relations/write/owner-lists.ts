import type { EntityModel, RelationModel } from '../../model/index.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { MemberStore, OwnerLists } from '../contract/member-store.js'
import { storeOf } from './store-of.js'

/** Lists of the owners of a child. `list`: the collection, which all owners have under the same name; `own`: a store that is there already. */
export function ownerLists(
  owners: EntityModel,
  list: RelationModel,
  child: EntityModel,
  own?: MemberStore,
): OwnerLists {
  const storeAt = (owner: EntityModel): MemberStore =>
    own?.model === owner ? own : storeOf(owner, owner.relations.find(({ name }) => name === list.name) ?? list, child)
  return owners.several === undefined
    ? storeAt(owners)
    : new ListsOfSeveral(new Map(owners.several.map((owner) => [owner.set, storeAt(owner)])))
}

/** Owners of several classes, which keep their lists in different sets. */
class ListsOfSeveral implements OwnerLists {
  readonly #bySet: ReadonlyMap<string, MemberStore>

  constructor(bySet: ReadonlyMap<string, MemberStore>) {
    this.#bySet = bySet
  }

  at({ set }: RecordKey): MemberStore {
    // A stored value that names none of the sets leads to no record, in whichever list that is looked for.
    return this.#bySet.get(set) ?? [...this.#bySet.values()][0]
  }
}
