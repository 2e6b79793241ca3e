import { RestrictedError } from '../errors/index.js'
import type { KeyValue } from '../keys/index.js'
import { DELETING_BIN } from '../model/index.js'
import { versionIs, write, type WriteCommand } from '../plan/command.js'
import type { WriteOperation } from '../plan/operation.js'
import { removeBin, writeBin } from '../plan/operations.js'
import { MOST_REACHED, type Drain } from '../relations/drain.js'
import { flushFailure } from './flush-failure.js'
import { IdentityMap } from './identity-map.js'
import { Loads } from './loads.js'
import type { Managed } from './managed.js'
import type { SendParts } from './send-work.js'
import { SessionEntities } from './session-entities.js'

/** How far a large delete has come. */
export interface DeleteProgress {
  /** The class and relation whose members are being deleted or let go. */
  readonly className: string
  readonly property: string
  /** Members of this collection that are done. */
  readonly done: number
}

export interface DrainOptions {
  /** Entities that a delete works on at a time: what reaches more is deleted in steps of half as many. Default 500. */
  readonly step?: number
  /** Told how far the delete of a large collection has come. */
  readonly onProgress?: (progress: DeleteProgress) => void
  readonly signal?: AbortSignal
}

/** Deletes these entities and whatever they reach. */
export type DeleteAll = (parts: SendParts, members: readonly Managed[], options: DrainOptions) => Promise<void>

/**
 * Takes off what one plan cannot hold. The record is marked first: it takes no new members, and after a crash the mark tells that
 * its delete has to be finished. Members go before the record forgets them, so that whatever is left can be found again.
 */
export async function runDrains(
  drains: readonly Drain[],
  parts: SendParts,
  deleteAll: DeleteAll,
  options: DrainOptions,
): Promise<void> {
  for (const drain of drains) {
    await mark(drain.owner as Managed, parts, writeBin(DELETING_BIN, true))
    try {
      await runDrain(drain, parts, deleteAll, options)
    } catch (error) {
      // It may not be deleted after all, so it is there again.
      if (error instanceof RestrictedError) await mark(drain.owner as Managed, parts, removeBin(DELETING_BIN))
      throw error
    }
  }
}

async function runDrain(drain: Drain, parts: SendParts, deleteAll: DeleteAll, options: DrainOptions): Promise<void> {
  const { onProgress, signal, step = MOST_REACHED } = options
  let done = 0
  for await (const keys of drain.chunks(Math.ceil(step / 2))) {
    signal?.throwIfAborted()
    if (drain.relation.onDelete === 'cascade') await deleteMembers(drain, keys, parts, deleteAll, options)
    else
      await send(
        keys.flatMap((key) => drain.release(key) ?? []),
        parts,
      )
    const trim = drain.trim(keys)
    if (trim !== undefined) await send([trim], parts)
    done += keys.length
    onProgress?.({ className: drain.owner.model.name, property: drain.relation.name, done })
  }
}

/** In a short session of its own, so that nothing stays in memory; their own relations are looked after as in any delete. */
async function deleteMembers(
  { owner, target }: Drain,
  keys: readonly KeyValue[],
  { context }: SendParts,
  deleteAll: DeleteAll,
  options: DrainOptions,
): Promise<void> {
  const { classes } = context
  const identity = new IdentityMap(classes, context.identity.tenant)
  const inner = { ...context, identity, transaction: undefined, transactions: 'off' as const, validate: false }
  const loads = new Loads(inner)
  const entities = new SessionEntities(inner, loads)
  // Members see that their owner goes too, and leave its list alone: it is trimmed when they are gone.
  const own = loads.unreadOf((owner as Managed).mapped, owner.key)
  own.state = 'removed'
  own.isGoing = true
  const mapped = classes.of(target.name)
  const found = await loads.find(mapped, keys)
  // One that is marked itself loads as gone, and has to be finished.
  const gone = keys.filter((_, i) => found[i] === null).map((key) => mapped.recordKeyOf(key, identity.tenant))
  const cutOff = gone.length === 0 ? [] : await loads.cutOff(mapped, gone)
  const members = [...found, ...cutOff].filter((member) => member != null)
  for (const member of members) {
    member.removeAny = true
    entities.remove(member.entity)
  }
  const readerIn = loads.readerIn.bind(loads)
  await deleteAll({ context: inner, entities, reader: loads.reader, readerIn }, members, options)
  identity.clear()
}

async function mark(managed: Managed, parts: SendParts, operation: WriteOperation): Promise<void> {
  const { model, key, version, removeAny, mapped } = managed
  const isGuarded = version !== undefined && !removeAny
  const guards = isGuarded ? [versionIs(mapped.binOf(model.version)!, version)] : []
  await send([write(model.name, key, [operation], { exists: 'mustExist', ttl: 'keep', guards })], parts)
}

async function send(commands: readonly WriteCommand[], { context }: SendParts): Promise<void> {
  const outcomes = await context.driver.run(commands)
  const isGuarded = (command: WriteCommand): boolean => command.guards.some(({ kind }) => kind === 'binEquals')
  const failed = outcomes.filter(
    ({ state, reason, command }) =>
      state !== 'written' && reason !== 'missing' && !(reason === 'guard' && isGuarded(command as WriteCommand)),
  )
  if (failed.length > 0) throw flushFailure({ outcomes, failed })
}
