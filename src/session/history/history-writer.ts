import { COMPANION_ROOT_BIN, MADE_BIN, STORED_KEYS } from '../../model/index.js'
import {
  read,
  remove,
  versionIs,
  write,
  type Bins,
  type DeleteCommand,
  type Guard,
  type WriteCommand,
} from '../../plan/command.js'
import type { Draft, Settle } from '../../plan/draft.js'
import type { WriteOperation } from '../../plan/operation.js'
import { writeBin } from '../../plan/operations.js'
import type { Outcome } from '../../plan/outcome.js'
import type { Reader } from '../../relations/contract/reader.js'
import { RefState } from '../../relations/state/ref-state.js'
import { stateOf as relationState } from '../../relations/state/state-of.js'
import type { PlannedRecord } from '../flush/plan/record-write.js'
import { storedRef } from '../../relations/contract/member.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import { addState, historyKey, madeNow, named, stateOf, type RecordState } from './history-entry.js'

/** Puts what a record is into its history before the record changes: in the same transaction, or in a stage before. */
export class HistoryWriter {
  readonly #mapped: MappedClass
  readonly #bins: readonly string[]

  constructor(mapped: MappedClass) {
    this.#mapped = mapped
    const { model, codec } = mapped
    const refs = model.relations.flatMap(({ bin, holds }) => (holds === 'ref' ? (bin ?? []) : []))
    this.#bins = [...new Set([...codec.binsOf(model.properties.map(({ name }) => name)), ...refs, MADE_BIN])]
  }

  /** Adds a write or delete of the record to the plan, and what it replaces to its history. */
  add(
    stage: 'write' | 'delete',
    managed: ManagedEntity,
    planned: PlannedRecord,
    draft: Draft,
    reader: Reader,
  ): void | Promise<void> {
    const { command } = planned
    const isCreation = command.kind === 'write' && command.exists === 'mustNotExist'
    if (isCreation || isTouch(command)) {
      const operations = isCreation ? [this.#made(draft, reader)] : []
      return draft.add(stage, extended(command, operations), (outcome) => planned.settle(outcome))
    }
    const image = managed.stored?.image
    if (image !== undefined && command.guards.some(({ kind }) => kind === 'version'))
      return this.#addKnown(stage, planned, this.#withRefs(managed, image, reader), draft, reader)
    return reader
      .read([read(command.entity, command.key, this.#bins)])
      .then(([record]) => this.#addKnown(stage, planned, record?.bins, draft, reader))
  }

  /** References change without a new version, so they are those of now. */
  #withRefs(managed: ManagedEntity, image: Bins, reader: Reader): Bins {
    const bins: Record<string, Bins[string]> = { ...image }
    for (const strategy of managed.mapped.relations) {
      const { bin, target, strategy: kind } = strategy.model
      const state = bin === undefined || STORED_KEYS[kind] !== 'one' ? undefined : relationState(managed, strategy)
      if (!(state instanceof RefState) || !state.isRead) continue
      if (state.stored === null) delete bins[bin!]
      else bins[bin!] = storedRef(strategy.model, reader.recordKey(reader.entityModel(target), state.stored))
    }
    return bins
  }

  #addKnown(
    stage: 'write' | 'delete',
    planned: PlannedRecord,
    bins: Bins | undefined,
    draft: Draft,
    reader: Reader,
  ): void {
    const { command } = planned
    const state = bins && stateOf(named(this.#mapped), bins)
    if (state !== undefined) this.#keep(command, state, draft, 'history')
    const changes = command.kind === 'write' ? [this.#made(draft, reader)] : []
    const changed = extended(command, changes, this.#asRead(command, bins))
    const settle = (outcome: Outcome): ReturnType<Settle> => {
      if (command.kind === 'delete' && outcome.state === 'written' && state !== undefined && !draft.isTransaction)
        this.#keep(command, this.#end(state, draft, reader), draft, 'history of deletes')
      return planned.settle(outcome)
    }
    // Relations of the record may be planned by now, and a later write of a bin wins.
    draft.add(stage, changed, settle, true)
    if (command.kind === 'delete' && state !== undefined && draft.isTransaction)
      this.#keep(command, this.#end(state, draft, reader), draft, 'history')
  }

  #end({ version }: RecordState, draft: Draft, reader: Reader): RecordState {
    return { version: version + 1, at: draft.now.getTime(), by: reader.actor?.() ?? null, bins: null }
  }

  /** The record must still be what goes into its history. */
  #asRead(command: WriteCommand | DeleteCommand, bins: Bins | undefined): readonly Guard[] {
    if (command.guards.some(({ kind }) => kind === 'version')) return []
    if (bins === undefined && (command.kind === 'delete' || command.exists === 'mustExist')) return []
    const bin = this.#mapped.binOf(this.#mapped.model.version)!
    return [versionIs(bin, (bins?.[bin] as number | undefined) ?? null)]
  }

  #made(draft: Draft, reader: Reader): WriteOperation {
    return madeNow(draft.now, reader.actor?.())
  }

  #keep(
    { entity, key }: WriteCommand | DeleteCommand,
    state: RecordState,
    draft: Draft,
    stage: 'history' | 'history of deletes',
  ): void {
    const { ttl } = this.#mapped.model.history!
    const root = writeBin(COMPANION_ROOT_BIN, key.key)
    const operations = [root, ...addState(this.#mapped, state)]
    const command = write(entity, historyKey(this.#mapped, key), operations, { exists: 'upsert', ttl })
    draft.add(stage, command, ({ state: end }: Outcome) => end === 'written')
  }
}

/** A write that gives the record another expiry and nothing else. */
const isTouch = ({ operations, kind }: WriteCommand | DeleteCommand): boolean =>
  kind === 'write' && operations.every((operation) => operation.kind === 'touch')

function extended(
  command: WriteCommand | DeleteCommand,
  operations: readonly WriteOperation[],
  guards: readonly Guard[] = [],
): WriteCommand | DeleteCommand {
  if (command.kind === 'delete')
    return remove(command.entity, command.key, {
      operations: command.operations,
      guards: [...command.guards, ...guards],
      generation: command.generation,
      durableDelete: command.durableDelete,
    })
  const { exists, ttl, generation, sendKey, watchSize, watchGeneration } = command
  return write(command.entity, command.key, [...command.operations, ...operations], {
    exists,
    ttl,
    generation,
    sendKey,
    watchSize,
    watchGeneration,
    guards: [...command.guards, ...guards],
  })
}
