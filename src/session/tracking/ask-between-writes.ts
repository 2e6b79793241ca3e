import type { OpenWrites } from './entity-home.js'
import { isInsideHook } from './lifecycle-hooks.js'
import type { ManagedEntity } from './managed-entity.js'

/** Work on an entity that a question comes after. */
interface Before {
  /** End of a delete of the record that is under way. */
  readonly deleted: (managed: ManagedEntity) => Promise<unknown> | undefined
  /** Looks up a write whose answer was lost. */
  readonly resolve: (managed: ManagedEntity) => Promise<unknown> | undefined
}

/**
 * Asks about an entity while no write of it is under way: beside a write nobody can tell whether what is stored has it. A question that a
 * write has overtaken is asked once more, and then later writes wait for it.
 */
export async function askBetweenWrites<T>(
  writes: OpenWrites<ManagedEntity>,
  find: () => ManagedEntity,
  ask: (managed: ManagedEntity) => Promise<T>,
  { deleted, resolve }: Before,
): Promise<T> {
  for (let isOvertaken = false; ;) {
    const managed = find()
    // A hook may be called by the flush that it would wait for.
    if (isInsideHook(managed.home)) return ask(managed)
    const before = deleted(managed) ?? (isOvertaken ? undefined : (writes.endOfWrite(managed) ?? resolve(managed)))
    if (before !== undefined) {
      await before
      continue
    }
    if (!isOvertaken) {
      const { stored, doubt, home } = managed
      const { moment } = home
      const answer = await ask(managed)
      const isSame = managed.stored === stored && managed.doubt === doubt && !managed.wasWrittenSince(moment)
      if (isSame && writes.endOfWrite(managed) === undefined) return answer
      isOvertaken = true
      continue
    }
    const answered = await writes.between(managed, async () => {
      // The record was deleted, or the entity detached, before it was the question's turn.
      if (find() !== managed) return undefined
      await resolve(managed)
      return { answer: await ask(managed) }
    })
    if (answered !== undefined) return answered.answer
  }
}
