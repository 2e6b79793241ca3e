import type { PartCodec } from '../../codec/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { MemberStore, OwnerLists } from '../contract/member-store.js'
import { storeOf } from './store-of.js'

interface ListOptions {
  /** A store that is there already. */
  readonly own?: MemberStore
  readonly attributes?: PartCodec
  /** Chooses another store than that of the members. */
  readonly stores?: typeof storeOf
}

/** Lists of the owners of a child. `list`: the collection, which all owners have under the same name. */
export function ownerLists(
  owners: EntityModel,
  list: RelationModel,
  child: EntityModel,
  { own, attributes, stores = storeOf }: ListOptions = {},
): OwnerLists {
  const listOf = ({ relations }: EntityModel): RelationModel => relations.find(({ name }) => name === list.name) ?? list
  const storeAt = (owner: EntityModel): MemberStore =>
    own?.model === owner ? own : stores(owner, listOf(owner), child, attributes)
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

  get isApart(): boolean {
    return [...this.#bySet.values()].some(({ isApart }) => isApart)
  }
}
