import { EntityGoneError, VersionConflictError, type SkeinError } from '../../../errors/index.js'
import { describeKey } from '../../../keys/index.js'
import type { Settle } from '../../../plan/draft.js'
import type { Outcome } from '../../../plan/outcome.js'
import { recordId, userKeyId } from '../../../plan/record-key.js'
import type { MapKey } from '../../../plan/value.js'
import { InverseChanges, type StoredRefs } from '../consolidate/inverse-changes.js'
import { PartChanges } from '../consolidate/part-changes.js'
import type { PartItems } from '../consolidate/part-items.js'
import type { KnownPart, PartTable } from '../consolidate/part-table.js'
import { groupsOf, type PartGroup, type PartPlaces } from './part-groups.js'

/** The collection of one owner that is written. */
export interface WrittenParts {
  readonly table: PartTable
  /** References of stored children that the session has not loaded. */
  readonly refs: StoredRefs
  /** Places of stored children that the session has not loaded, where those choose their companions. */
  readonly places: ReadonlyMap<string, MapKey>
  /** True when the same flush creates the owner's record. */
  readonly isOwnerNew: boolean
  /** True when the same flush writes the owner's record, whether it is there or not. */
  readonly isUpsert: boolean
  /** True when the same flush creates the owner's record where it is missing, through a handle. */
  readonly isOwnerMade: boolean
}

/** Sorts changes of children by the records that hold them, and tells the session what has become of them. */
export abstract class PartSender {
  readonly #places: PartPlaces

  constructor(places: PartPlaces) {
    this.#places = places
  }

  protected groups({ table, places }: WrittenParts, items: PartItems): readonly PartGroup[] {
    return groupsOf(table, items, this.#places, (id) => table.known(id)?.place ?? places.get(userKeyId(id)) ?? id)
  }

  protected gather(
    { table, refs }: WrittenParts,
    group: PartGroup,
  ): { readonly changes: PartChanges; readonly rest: readonly KnownPart[] } {
    const changes = new PartChanges(table, new InverseChanges(table.parts, refs))
    const rest = changes.gatherThese(group)
    return { changes, rest }
  }

  protected settle({ table }: WrittenParts, group: PartGroup, changes: PartChanges, written?: () => void): Settle {
    return (outcome: Outcome) => {
      if (outcome.state === 'written') {
        changes.confirm()
        written?.()
        return true
      }
      if (outcome.state === 'inDoubt') changes.advanceAdded()
      // The command that is settled may be another one, which asked the owner why this was refused.
      if (outcome.reason === 'guard') return outcome.error ?? false
      if (outcome.reason !== 'missing' || recordId(outcome.command.key) === recordId(table.owner.key)) return false
      if (isChange(group)) return this.gone(table, group)
      // Nothing has to be taken out of a record that is missing.
      if (group.put.length === 0) changes.confirm()
      return group.put.length === 0
    }
  }

  protected gone({ owner, parts }: PartTable, { home, first, changed }: PartGroup): SkeinError {
    const { name } = owner.model
    const child = `${parts.codec.model.name} ${describeKey(first)}`
    const where = `in ${parts.relation.name} of ${name} ${describeKey(owner.key.key)}`
    const details = {
      className: name,
      property: parts.relation.name,
      namespace: home.namespace,
      set: home.set,
      key: owner.key.key,
    }
    // A handle changes what nobody has read: it may never have been there.
    if (changed.length === 0)
      return new EntityGoneError(`${child} is not ${where}.`, { ...details, fix: 'Nothing was written. Add it first.' })
    const fix = 'Nothing was written. Refresh the entity and repeat the change.'
    return new VersionConflictError(`${child} is no longer ${where}.`, { ...details, fix })
  }
}

export const NOTHING: PartItems = Object.freeze({ removed: [], changed: [], recorded: [], put: [] })

/** True where children change that are there. */
export const isChange = ({ changed, recorded }: PartGroup): boolean => changed.length + recorded.length > 0
