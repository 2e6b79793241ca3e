import type { WriteCommand } from '../../plan/command.js'
import type { Outcome } from '../../plan/outcome.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import type { MemberStore, StoredMember } from '../contract/member-store.js'
import type { OwnWrites } from './own-writes.js'

/** An owner for whose members a record is about to be made. */
export interface OwnerToTell {
  readonly store: MemberStore
  readonly owner: RecordKey
  /** The member that the record is made for. */
  readonly added: StoredMember
}

/**
 * Says in the records of owners how their members are stored, before companions are made for those. Returns the outcome of each owner by
 * `ownerId`; undefined where the owner says otherwise.
 */
export async function tellOwners(
  owners: readonly OwnerToTell[],
  send: (commands: readonly WriteCommand[]) => Promise<Outcome[]>,
  own: OwnWrites,
): Promise<ReadonlyMap<string, Outcome | undefined>> {
  const each = new Map<string, { readonly one: OwnerToTell; readonly added: StoredMember[] }>()
  for (const one of owners) {
    const known = each.get(ownerId(one))
    if (known === undefined) each.set(ownerId(one), { one, added: [one.added] })
    else known.added.push(one.added)
  }
  const told = [...each.values()].flatMap(({ one, added }) => {
    const telling = one.store.telling?.(one.owner, added)
    return telling === undefined ? [] : [{ ...one, telling }]
  })
  if (told.length === 0) return new Map()
  const outcomes = await send(told.map(({ telling }) => telling.command))
  return new Map(
    told.map((one, i) => {
      const outcome = outcomes[i]
      if (outcome.state !== 'written') return [ownerId(one), outcome]
      if (!one.telling.agrees(outcome)) return [ownerId(one), undefined]
      // A companion that is missing is as old as its owner, which was written only here.
      for (const home of one.store.homes(one.owner)) if (!own.has(home)) own.note(home, 0)
      return [ownerId(one), outcome]
    }),
  )
}

export const ownerId = ({ store, owner }: Pick<OwnerToTell, 'store' | 'owner'>): string =>
  `${recordId(owner)} ${store.bin}`
