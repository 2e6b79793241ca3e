import type { EntityModel, RelationModel } from '../../model/index.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { MemberStore } from '../contract/member-store.js'
import { storeOf } from './store-of.js'

/** Lists of the owners of a child: a reference to several classes has owners that keep them in different sets. */
export class OwnerLists {
  readonly #bySet: ReadonlyMap<string, MemberStore>

  private constructor(bySet: ReadonlyMap<string, MemberStore>) {
    this.#bySet = bySet
  }

  /** `list`: the collection, which all owners have under the same name. */
  static of(owners: EntityModel, list: RelationModel, child: EntityModel, own?: MemberStore): OwnerLists {
    const stores = (owners.several ?? [owners]).map((owner): [string, MemberStore] => {
      if (own?.model === owner) return [owner.set, own]
      return [owner.set, storeOf(owner, owner.relations.find(({ name }) => name === list.name) ?? list, child)]
    })
    return new OwnerLists(new Map(stores))
  }

  /** Where the owner of that record keeps its list. */
  at({ set }: RecordKey): MemberStore {
    // A stored value that names none of the sets leads to no record, in whichever list that is looked for.
    return this.#bySet.get(set) ?? [...this.#bySet.values()][0]
  }
}
