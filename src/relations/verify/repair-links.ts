import { write, type WriteCommand } from '../../plan/command.js'
import { mergeCommands } from '../../plan/merge-commands.js'
import type { Outcome } from '../../plan/outcome.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { Finding } from '../contract/finding.js'
import type { Reading, Verdict } from './judge.js'
import type { OwnWrites } from './own-writes.js'
import { ownerId, tellOwners, type OwnerToTell } from './tell-owners.js'
import type { LinkEnd, StoredLink } from '../contract/link-verification.js'
import { markDeleting } from '../write/delete-marker.js'

/** A finding that was checked again a moment ago. */
export interface Confirmed {
  readonly link: StoredLink
  readonly verdict: Verdict
  /** The wrong end as it was read then. */
  readonly reading: Reading
  /** Attributes that the owner stores with the link. */
  readonly carried?: Value
}

export type RepairResult = Pick<Finding, 'state' | 'error'>

/** Nothing can be done about it here. */
const UNREPAIRED: { readonly result: RepairResult } = { result: { state: 'found' } }

const LEFT_ALONE: RepairResult = Object.freeze({ state: 'leftAlone' })

interface Repair {
  readonly generation: number
  readonly commands: WriteCommand[]
  result: RepairResult
}

/**
 * Writes to each wrong record once, and only if nobody has written to it since it was read. Whoever changes a link writes to the record
 * that follows last, so a record that is still the same has nothing in it that came after the check.
 */
export async function repairLinks(
  confirmed: readonly Confirmed[],
  send: (commands: readonly WriteCommand[]) => Promise<Outcome[]>,
  own: OwnWrites,
): Promise<RepairResult[]> {
  const repairs = new Map<string, Repair>()
  const told = await tellOwners(confirmed.flatMap(ownerToTell), send, own)
  const planned = confirmed.map((each) => {
    const { link, verdict, carried, reading } = each
    const { generation, home } = reading
    const end = link[verdict.wrong]
    const [untold] = ownerToTell(each)
      .map(ownerId)
      .filter((id) => told.has(id) && told.get(id)?.state !== 'written')
    if (untold !== undefined)
      return { result: told.get(untold) === undefined ? LEFT_ALONE : resultOf(told.get(untold)!) }
    const command = verdict.change === 'add' ? end.add!(carried, home?.isThere !== false) : removal(end, home?.key)
    if (command === undefined) return UNREPAIRED
    const id = recordId(command.key)
    let repair = repairs.get(id)
    if (repair === undefined) repairs.set(id, (repair = { generation, commands: [], result: { state: 'leftAlone' } }))
    // The record changed between two readings: the next run checks it again.
    if (repair.generation !== generation) return undefined
    repair.commands.push(isMade(end, verdict) ? command : atGeneration(command, generation))
    return repair
  })
  const all = [...repairs.values()]
  const outcomes = await send(all.map(({ commands }) => mergeCommands(commands)[0] as WriteCommand))
  outcomes.forEach((outcome, i) => {
    all[i].result = resultOf(outcome)
    if (outcome.state === 'written') own.note(outcome.command.key, outcome.generation ?? all[i].generation + 1)
  })
  return planned.map((repair) => repair?.result ?? LEFT_ALONE)
}

/** The owner for whose link a companion has to be made. */
function ownerToTell({ link, verdict, reading, carried }: Confirmed): readonly OwnerToTell[] {
  const { apart, key } = link[verdict.wrong]
  if (apart === undefined || verdict.change !== 'add' || reading.home?.isThere !== false) return []
  const added = { owner: key, member: apart.member, attributes: carried }
  return [{ store: apart.store, owner: key, added }]
}

/** True where no record was found to hold the link, so that there is none whose generation could tell of others. */
const isMade = ({ apart }: LinkEnd, { change }: Verdict): boolean =>
  change === 'add' && apart?.store.lookup !== undefined

/** A link record is only marked here: whoever goes on with its delete takes it off the lists of its ends. */
function removal(end: LinkEnd, home: RecordKey | undefined): WriteCommand | undefined {
  return isDeletion(end) ? markDeleting({ ...end, deleteGuards: [] }) : end.remove?.(home)
}

/** True where an end is repaired by deleting its record. */
export const isDeletion = ({ remove, isLink }: LinkEnd): boolean => remove === undefined && isLink === true

function atGeneration(command: WriteCommand, generation: number): WriteCommand {
  if (command.exists === 'mustNotExist') return command
  return write(command.entity, command.key, command.operations, { ...command, generation })
}

export function resultOf({ state, reason, error }: Outcome): RepairResult {
  if (state === 'written') return { state: 'repaired' }
  const isOvertaken = reason === 'missing' || reason === 'exists' || reason === 'guard' || reason === 'generation'
  return isOvertaken ? { state: 'leftAlone' } : { state: 'failed', error }
}
