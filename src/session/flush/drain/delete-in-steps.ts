import { RestrictedError } from '../../../errors/index.js'
import type { KeyValue } from '../../../keys/index.js'
import type { WriteCommand } from '../../../plan/command.js'
import type { Outcome } from '../../../plan/outcome.js'
import { MOST_REACHED, type Drain } from '../../../relations/contract/drain.js'
import { markDeleting, takeMarkOff } from '../../../relations/write/delete-marker.js'
import { checkRestrictions } from './check-restrictions.js'
import { membersOf } from './members-to-delete.js'
import { flushFailure } from '../execute/flush-failure.js'
import { findInClasses } from '../../mapping/several-classes.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import type { SendParts } from '../session-parts.js'
import type { DrainOptions } from '../../context/option-types.js'
import { inScratchSession } from './scratch-session.js'

/** Sends what is to be done with these entities, and with whatever they reach. */
export type SendAll = (parts: SendParts, members: readonly ManagedEntity[], options: DrainOptions) => Promise<void>

/**
 * Takes off what one plan cannot hold. The record is marked first: it takes no new members, and after a crash the mark tells that
 * its delete has to be finished. Members go before the record forgets them, so that whatever is left can be found again.
 */
export async function deleteInSteps(
  drains: readonly Drain[],
  parts: SendParts,
  sendAll: SendAll,
  options: DrainOptions,
): Promise<void> {
  for (const drain of drains) await checkRestrictions(drain, parts, options)
  for (const drain of drains) {
    const owner = drain.owner as ManagedEntity
    if (!(await mark(owner, parts))) continue
    try {
      await runDrain(drain, parts, sendAll, options)
    } catch (error) {
      // Deleting it is forbidden after all, so the record is there again.
      if (error instanceof RestrictedError) {
        await send([takeMarkOff(owner.model.name, owner.key)], parts)
        owner.noteDeleteBegun(false)
      }
      throw error
    }
  }
}

/** The delete has begun also where the answer is lost: the mark may be there. False for an owner that is somebody else's child by now, and stays. */
async function mark(owner: ManagedEntity, { context }: SendParts): Promise<boolean> {
  const outcomes = await context.driver.run([markDeleting(owner)])
  const [{ state, reason }] = outcomes
  if (state !== 'notWritten') owner.noteDeleteBegun(true)
  throwFailed(outcomes)
  return reason !== 'guard'
}

async function runDrain(drain: Drain, parts: SendParts, sendAll: SendAll, options: DrainOptions): Promise<void> {
  const { onProgress, signal, step = MOST_REACHED } = options
  const { className, property } = drain
  let done = 0
  for await (const keys of drain.chunks(Math.ceil(step / 2))) {
    signal?.throwIfAborted()
    // Others may have finished it since the step before, and these may belong to another record under its key.
    if ((drain.owner as ManagedEntity).deleteIntent?.resumes) await send([markDeleting(drain.owner)], parts)
    await runStep(drain, keys, parts, sendAll, options)
    if (drain.trim !== undefined) await send(drain.trim(keys), parts)
    done += keys.length
    await onProgress?.({ className, property, done })
  }
}

async function runStep(
  drain: Drain,
  keys: readonly KeyValue[],
  parts: SendParts,
  sendAll: SendAll,
  options: DrainOptions,
): Promise<void> {
  const { fate, target, owner } = drain
  if (fate.kind === 'release') {
    const commands = keys.flatMap((key) => fate.release(key) ?? [])
    return send(commands, parts)
  }
  await inScratchSession(parts, owner.key, async (session) => {
    if (fate.kind === 'delete') return sendAll(session, await membersOf(drain, keys, session), options)
    const { loads, context, reader } = session
    if (fate.isUnread === true) {
      const members = keys.map((key) => reader.unread(target, key))
      return sendAll(session, (await fate.change(members, reader)) as readonly ManagedEntity[], options)
    }
    const along = fate.along === undefined || fate.along.length === 0 ? {} : { with: fate.along }
    const all = await findInClasses(context.classes, target, keys, (mapped, own) => loads.find(mapped, own, along))
    const found = all.filter((member) => member !== null)
    await sendAll(session, (await fate.change(found, reader)) as readonly ManagedEntity[], options)
  })
}

async function send(commands: readonly WriteCommand[], { context }: SendParts): Promise<void> {
  const { counts } = context.classes
  throwFailed(await context.driver.run(counts === undefined ? commands : commands.map(counts.complete)))
}

function throwFailed(outcomes: readonly Outcome[]): void {
  const isGuarded = (command: WriteCommand): boolean => command.guards.some(({ kind }) => kind === 'binEquals')
  const failed = outcomes.filter(
    ({ state, reason, command }) =>
      state !== 'written' && reason !== 'missing' && !(reason === 'guard' && isGuarded(command as WriteCommand)),
  )
  if (failed.length > 0) throw flushFailure({ outcomes, failed })
}
