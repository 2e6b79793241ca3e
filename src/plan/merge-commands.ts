import { bug, type SkeinError } from '../errors/index.js'
import {
  remove,
  write,
  type Command,
  type DeleteCommand,
  type Existence,
  type Guard,
  type Ttl,
  type WriteCommand,
} from './command.js'
import { recordId } from './record-key.js'
import type { Operation, Path } from './operation.js'
import { join, type Put } from './join-operations.js'
import {
  RETRIED,
  type CompleteWrite,
  type Contribution,
  type PendingStage,
  type ReadyStage,
  type Settle,
} from './draft.js'
import type { Outcome } from './outcome.js'
import { settleFailure } from './settle-failure.js'

/** Merges all changes of one record into one command, in their order. */
export function mergeCommands(commands: readonly Command[]): Command[] {
  const records = new Map<string, Change[]>()
  const reads: Command[] = []
  for (const command of commands) {
    if (command.kind === 'read') {
      reads.push(command)
      continue
    }
    const id = recordId(command.key)
    const changes = records.get(id)
    if (changes === undefined) records.set(id, [command])
    else changes.push(command)
  }
  return [...reads, ...[...records.values()].map(mergeChanges)]
}

type Change = WriteCommand | DeleteCommand

function mergeChanges(changes: readonly Change[]): Change {
  if (changes.length === 1) return tidy(changes[0])
  const deletes = changes.filter((change) => change.kind === 'delete')
  return deletes.length === 0 ? mergeWrites(changes as readonly WriteCommand[]) : mergeIntoDelete(changes, deletes)
}

function tidy(command: Change): Change {
  if (command.kind === 'delete' || command.bins !== undefined) return command
  const operations = coalesce(command.operations)
  return operations.length === command.operations.length ? command : { ...command, operations }
}

// A record that goes away in this stage needs no other change, only the conditions under which it may go.
function mergeIntoDelete(changes: readonly Change[], deletes: readonly DeleteCommand[]): DeleteCommand {
  const [gone] = deletes
  return remove(gone.entity, gone.key, {
    operations: deletes.flatMap(({ operations }) => operations),
    guards: mergeGuards(changes),
    generation: generationOf(changes),
    durableDelete: gone.durableDelete,
  })
}

/** All at once: two at a time would copy the operations of all before for each. */
function mergeWrites(writes: readonly WriteCommand[]): WriteCommand {
  const [{ entity, key }] = writes
  return write(entity, key, coalesce(writes.flatMap(({ operations }) => operations)), {
    ...writes.reduce(mergeTerms, writes[0]),
    guards: mergeGuards(writes),
    generation: generationOf(writes),
    sendKey: writes.some(({ sendKey }) => sendKey),
    watchSize: writes.some(({ watchSize }) => watchSize),
    watchGeneration: writes.some(({ watchGeneration }) => watchGeneration),
  })
}

type Terms = Pick<WriteCommand, 'exists' | 'ttl'>

function mergeTerms(a: Terms, b: Terms): Terms {
  return { exists: mergeExistence(a.exists, b.exists), ttl: mergeTtl(a, b) }
}

// A link to a record that the same command creates must not ask for it to exist already.
const STRONGEST_FIRST: readonly Existence[] = ['mustNotExist', 'replace', 'upsert', 'mustExist']

function mergeExistence(a: Existence, b: Existence): Existence {
  return STRONGEST_FIRST.find((one) => one === a || one === b)!
}

// A link-only write keeps the expiry, so any other TTL wins over 'keep'; a creation has no expiry to keep.
function mergeTtl(a: Terms, b: Terms): Ttl {
  if (a.exists !== b.exists && (a.exists === 'mustNotExist' || b.exists === 'mustNotExist')) {
    return a.exists === 'mustNotExist' ? a.ttl : b.ttl
  }
  return b.ttl === 'keep' ? a.ttl : b.ttl
}

function mergeGuards(changes: readonly Change[]): readonly Guard[] {
  const merged: Guard[] = []
  for (const { guards } of changes) {
    for (const each of guards) {
      const guard = guardAmong(each, changes)
      if (!merged.some((other) => sameGuard(guard, other))) merged.push(guard)
    }
  }
  return merged
}

/** The guard as it holds beside these changes: a link to a record that the same command restores must not find it deleted. */
function guardAmong(guard: Guard, changes: readonly Change[]): Guard {
  if (guard.kind !== 'filter' || guard.ifRemoved === undefined) return guard
  const { bin, guard: otherwise } = guard.ifRemoved
  const isRemoved = changes.some(({ operations }) =>
    operations.some((one) => one.kind === 'removeBin' && one.bin === bin),
  )
  return isRemoved ? otherwise : guard
}

function sameGuard(a: Guard, b: Guard): boolean {
  if (a === b) return true
  if (a.kind === 'filter' || b.kind === 'filter') return false
  return a.kind === b.kind && a.bin === b.bin && a.expected === b.expected
}

function generationOf(changes: readonly Change[]): number | undefined {
  return changes.map(({ generation }) => generation).reduce(mergeGenerations)
}

function mergeGenerations(a: number | undefined, b: number | undefined): number | undefined {
  if (a !== undefined && b !== undefined && a !== b) {
    throw bug(`one record cannot have generation ${a} and ${b} at once`)
  }
  return a ?? b
}

/** Joins neighbours that say the same thing about one bin: a later write of a bin wins, appends and removes add up. */
function coalesce(operations: readonly Operation[]): readonly Operation[] {
  // All that belong together are gathered first and joined once: joining two at a time copies the values of all before.
  const result: Operation[][] = []
  for (const operation of operations) {
    if (isCreatedBefore(operation, result)) continue
    const last = findSameTarget(result, operation)
    if (last < 0 || !isJoinable(result[last][0], operation)) result.push([operation])
    else result[last].push(operation)
  }
  return result.map((same) => (same.length === 1 ? same[0] : join(same)))
}

/** A list or map is created once, however many ask for it. */
function isCreatedBefore(operation: Operation, before: readonly (readonly Operation[])[]): boolean {
  if (operation.kind !== 'listCreate' && operation.kind !== 'mapCreate') return false
  return before.some(([other]) => other.kind === operation.kind && other.bin === operation.bin)
}

// Only the latest operation on the same bin may be joined: whatever stands between two of them could depend on the order.
function findSameTarget(operations: readonly (readonly Operation[])[], operation: Operation): number {
  if (!('bin' in operation)) return -1
  for (let i = operations.length - 1; i >= 0; i--) {
    const [other] = operations[i]
    if (other.kind === 'readExpression' || other.kind === 'deleteRecord' || otherBinOf(other) === operation.bin)
      return -1
    if ('bin' in other && other.bin === operation.bin) return i
  }
  return -1
}

/** The bin that an operation looks into besides its own. */
const otherBinOf = (operation: Operation): string | undefined =>
  operation.kind === 'mapSetAside' ? operation.from : 'within' in operation ? operation.within : undefined

function isJoinable(a: Operation, b: Operation): boolean {
  if (isWhole(a)) return isWhole(b)
  if (isPut(a)) return isPut(b) && samePath(a.path, b.path)
  if (a.kind === 'listAppendUnique') return b.kind === a.kind && samePath(a.path, b.path) && a.order === b.order
  if (a.kind === 'listRemoveValues') return b.kind === a.kind && samePath(a.path, b.path) && a.returns === b.returns
  if (a.kind === 'mapRemoveKeys') return b.kind === a.kind && samePath(a.path, b.path) && a.returns === b.returns
  return false
}

type Whole = Extract<Operation, { kind: 'writeBin' | 'removeBin' }>

const isWhole = (operation: Operation): operation is Whole =>
  operation.kind === 'writeBin' || operation.kind === 'removeBin'

const isPut = (operation: Operation): operation is Put =>
  operation.kind === 'mapPut' || operation.kind === 'mapPutItems'

function samePath(a: Path = [], b: Path = []): boolean {
  return a.length === b.length && a.every((step, i) => sameStep(step, b[i]))
}

function sameStep(a: Path[number], b: Path[number]): boolean {
  if (a === b) return true
  if (a.in === 'mapKey' && b.in === 'mapKey') return a.key === b.key && a.create === b.create
  if (a.in === 'listIndex' && b.in === 'listIndex') return a.index === b.index
  return false
}

/** Merges what contributors add to one record. */
function mergeContributions(
  added: readonly Contribution[],
  complete: CompleteWrite | undefined,
): WriteCommand | DeleteCommand {
  const command = mergeCommands(added.map(({ command }) => command))[0] as WriteCommand | DeleteCommand
  return complete === undefined ? command : complete(command)
}

function tell(settle: Settle, outcome: Outcome, broken: SkeinError[]): ReturnType<Settle> {
  try {
    return settle(outcome)
  } catch (error) {
    broken.push(settleFailure(outcome, error))
    return outcome.state === 'written'
  }
}

/** Merges the commands of each record of a stage; those that must wait are held back. */
export function readyStage(
  { name, entries }: PendingStage,
  complete: CompleteWrite | undefined,
  mustWait?: (id: string) => boolean,
): ReadyStage {
  const all: (readonly Contribution[])[] = []
  const held: (readonly Contribution[])[] = []
  const broken: SkeinError[] = []
  const retried = new Set<Outcome>()
  for (const added of entries.values()) {
    const isWaiting = mustWait?.(recordId(added[0].command.key)) === true
    const [sent, waiting] = isWaiting ? [added.filter(isOwed), added.filter((each) => !isOwed(each))] : [added, []]
    if (sent.length > 0) all.push(sent)
    if (waiting.length > 0) held.push(waiting)
  }
  return {
    name,
    stage: { title: name, commands: all.map((added) => mergeContributions(added, complete)) },
    broken,
    retried,
    holdBack: (missing) =>
      held.map((added) => {
        const command = mergeContributions(added, complete)
        const found = missing.get(recordId(command.key))
        if (found === undefined) return { command, state: 'notWritten', bins: {}, reason: 'notSent' }
        const outcome: Outcome = { ...found, command }
        for (const { settle } of added) tell(settle, outcome, broken)
        return outcome
      }),
    settle: (outcomes) =>
      outcomes.flatMap((outcome, i) => {
        // Every contributor must be settled, so no short cut at the first refusal.
        const accepted = all[i].map(({ settle }) => tell(settle, outcome, broken))
        const error = accepted.find((answer) => typeof answer === 'object')
        if (accepted.includes(RETRIED)) retried.add(outcome)
        if (error !== undefined) {
          const isPartlyWritten = outcome.state === 'written' && accepted.includes(true)
          const told = { ...outcome, state: 'notWritten' as const, reason: 'missing' as const, error }
          return isPartlyWritten ? { ...told, isPartlyWritten } : told
        }
        return accepted.includes(false) ? outcome : []
      }),
    refused: (outcomes) =>
      outcomes.filter(({ state, reason }, i) => {
        if (state === 'written') return false
        return state === 'inDoubt' || !all[i].every(({ tolerated }) => tolerated.includes(reason!))
      }),
    remedies: (outcomes) =>
      outcomes.flatMap((outcome, i) =>
        outcome.state === 'written' ? [] : all[i].flatMap(({ settle }) => settle.remedy?.(outcome) ?? []),
      ),
  }
}

const isOwed = ({ settle }: Contribution): boolean => settle.isOwed === true

/** Adds to what is to be merged for one record. */
export function addTo(entries: PendingStage['entries'], id: string, contribution: Contribution, isFirst = false): void {
  const known = entries.get(id)
  if (known === undefined) entries.set(id, [contribution])
  else if (isFirst) known.unshift(contribution)
  else known.push(contribution)
}
