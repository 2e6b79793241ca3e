import { keyChanged, readProperty, writeProperty, type Snapshot } from '../codec/index.js'
import { operationsBytes } from '../plan/bytes.js'
import type { Ttl, WriteCommand } from '../plan/command.js'
import type { Settle } from '../plan/draft.js'
import type { Operation, OperationKind } from '../plan/operation.js'
import type { Outcome } from '../plan/outcome.js'
import { addsUp, afterDoubt } from '../plan/repeatable.js'
import { identityOf } from './identity-map.js'
import type { Managed } from './managed.js'

/** A command and what its outcome means for the entity. */
export interface RecordWrite {
  readonly command: WriteCommand
  readonly settle: Settle
}

/** What is true of the entity once its write is confirmed. */
export interface Written {
  /** Taken when the command was made: the entity may have been changed again since. */
  readonly snapshot: Snapshot
  readonly ttl: Ttl
  /** Shows the version and times of this write on the entity. */
  stamp(outcome: Outcome): void
}

/** How the entity takes over what became of its write. */
export function settleWrite(managed: Managed, written: Written): Settle {
  const confirm = (outcome: Outcome): void => {
    if (managed.state === 'new') managed.state = 'stored'
    managed.snapshot = written.snapshot
    managed.overwrite = false
    managed.ttlWish = undefined
    managed.doubt = undefined
    written.stamp(outcome)
    showMeta(managed, outcome, written.ttl)
  }
  return (outcome) => {
    if (outcome.state === 'written') confirm(outcome)
    if (outcome.state === 'inDoubt') doubt(managed, outcome, written, confirm)
    return outcome.state === 'written'
  }
}

/** What may happen once only is looked up by the next flush; what adds up is never sent again; all else simply is. */
function doubt(managed: Managed, outcome: Outcome, written: Written, confirm: (outcome: Outcome) => void): void {
  const { command } = outcome
  const next = afterDoubt(command)
  if (next === 'readBack') managed.doubt = { command, confirm }
  if (next !== 'report' || managed.snapshot === undefined) return
  const bins = new Set<string>()
  for (const operation of command.operations) if (addsUp(operation) && 'bin' in operation) bins.add(operation.bin)
  managed.mapped.codec.advance(managed.snapshot, written.snapshot, bins)
}

function showMeta(managed: Managed, outcome: Outcome, ttl: Ttl): void {
  const { generationProperty, ttlProperty } = managed.model
  if (generationProperty !== undefined && outcome.generation !== undefined) {
    writeProperty(managed.entity, generationProperty, outcome.generation)
  }
  // What the namespace's default is worth, only the next load can tell.
  if (ttlProperty === undefined || ttl === 'keep') return
  managed.ttl = typeof ttl === 'number' ? ttl : null
  writeProperty(managed.entity, ttlProperty, managed.ttl)
}

/** A whole record is written under the key that the session knows the entity by, so its key properties must still say so. */
export function checkKey({ mapped, entity, key, home, model }: Managed): void {
  const { properties } = model.key
  if (properties.length === 1 && readProperty(entity, properties[0]) === key.key) return
  const now = mapped.codec.key.keyOf(entity)
  if (identityOf(mapped.recordKey(now, home.tenant).key) !== identityOf(key.key)) throw keyChanged(model, key.key, now)
}

const GROWS: ReadonlySet<OperationKind> = new Set<OperationKind>([
  'listAppend',
  'listAppendUnique',
  'listSet',
  'mapPut',
  'mapPutItems',
])
const LARGE = 32 * 1024

/** True when the write may make the record large, so that its size is worth asking for. */
export function mayGrow(operations: readonly Operation[]): boolean {
  let characters = 0
  for (const operation of operations) {
    if (GROWS.has(operation.kind)) return true
    if (operation.kind !== 'writeBin') continue
    const { value } = operation
    if (typeof value === 'string') characters += value.length
    else if (typeof value === 'object' && value !== null) return operationsBytes(operations) > LARGE
  }
  return characters > LARGE
}
