import { setTimeout as pause } from 'node:timers/promises'
import { VersionConflictError } from '../../errors/index.js'
import { describeKey } from '../../keys/index.js'
import { MOVED_BIN } from '../../model/index.js'
import { read } from '../../plan/command.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { SessionContext } from '../context/session-context.js'
import type { KeyInput } from '../context/session-types.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { ATTEMPTS, MoveAccess } from './move-access.js'
import { hasCompanions } from './moved-companions.js'

/** Finds entities of one place, in the order of the keys. */
export type FindIn<T extends object> = (keys: readonly KeyInput<T>[]) => Promise<(T | null)[]>

/** Entities that were found in a place, and those that have moved while they were read. */
interface FoundIn<T> {
  readonly found: readonly (T | null)[]
  readonly isMoved: readonly boolean[]
}

/**
 * Finds entities outside of the archive and in it. Companions of a record that has moved after it was read are no longer beside it, so the
 * records are asked before and after whether a mover has claimed them: those that have moved meanwhile are looked for again.
 */
export async function findWhole<T extends object>(
  mapped: MappedClass,
  keys: readonly KeyInput<T>[],
  context: SessionContext,
  places: readonly { readonly namespace: string; readonly find: FindIn<T> }[],
  signal: AbortSignal | undefined,
): Promise<(T | null)[]> {
  const { model, kinds } = mapped
  const access = new MoveAccess(context.driver, model.name, signal)
  const isAsked = kinds.some((kind) => hasCompanions(kind.model))
  const found: (T | null)[] = keys.map(() => null)
  for (let attempt = 1; ; attempt++) {
    const moved = new Set<number>()
    for (const { namespace, find } of places) {
      const missing = keys.flatMap((_, i) => (found[i] === null ? [i] : []))
      if (missing.length === 0) return found
      const wanted = missing.map((i) => keys[i])
      const some = isAsked
        ? await findStill(mapped, wanted, namespace, find, context, access)
        : { found: await find(wanted), isMoved: [] }
      missing.forEach((i, n) => {
        if (some.isMoved[n] === true) moved.add(i)
        else found[i] = some.found[n]
      })
    }
    const lost = [...moved].filter((i) => found[i] === null)
    if (lost.length === 0) return found
    if (attempt === ATTEMPTS) throw neverStill(mapped, recordOf(mapped, keys[lost[0]], context))
    await pause(Math.random() * 2 ** attempt)
  }
}

/** Leaves out entities that have moved while they were read; a session that did not have them before forgets them. */
async function findStill<T extends object>(
  mapped: MappedClass,
  keys: readonly KeyInput<T>[],
  namespace: string,
  find: FindIn<T>,
  context: SessionContext,
  access: MoveAccess,
): Promise<FoundIn<T>> {
  const { identity, transaction } = context
  const records = keys.map((key) => recordOf(mapped, key, context))
  // A transaction that has read a record which moves is not committed.
  if (transaction !== undefined) return { found: await find(keys), isMoved: [] }
  const claims = records.map((record) => read(mapped.model.name, { ...record, namespace }, [MOVED_BIN]))
  const known = records.map(({ key }) => identity.get(mapped, key))
  const before = await access.read(claims)
  const found = await find(keys)
  const after = await access.read(claims)
  const isMoved = found.map((entity, i) => {
    if (entity === null || known[i] !== undefined) return false
    return after[i] === null || before[i]?.bins[MOVED_BIN] !== after[i].bins[MOVED_BIN]
  })
  for (const [i, { key }] of records.entries()) {
    const managed = isMoved[i] ? identity.get(mapped, key) : undefined
    managed?.home.remove(managed)
    managed?.forgetStored()
  }
  return { found, isMoved }
}

/** Others have moved a record there and back each time. */
function neverStill({ model: { name: className } }: MappedClass, { key }: RecordKey): VersionConflictError {
  const message = `${className} ${describeKey(key)} was moved to the archive or back whenever it was read.`
  return new VersionConflictError(message, { className, key, fix: 'Load it again when it is not moved.' })
}

const recordOf = <T extends object>(mapped: MappedClass, key: KeyInput<T>, { identity }: SessionContext): RecordKey =>
  mapped.recordKeyOf(key, identity.tenant)
