import { isInsideHook } from './lifecycle-hooks.js'
import type { ManagedEntity } from './managed-entity.js'

/** Entities that a flush is sending. */
export interface InFlight {
  isSaving(managed: ManagedEntity): boolean
  isRemoving(managed: ManagedEntity): boolean
}

/** A question about an entity that is not answered yet. */
interface OpenQuestion {
  readonly managed: ManagedEntity
  /** A flush of the entity has ended meanwhile. */
  isOvertaken: boolean
}

/** Questions about entities that flushes may be sending. */
export class QuestionsInFlight {
  readonly #isSaving: (managed: ManagedEntity) => boolean
  readonly #questions = new Set<OpenQuestion>()
  readonly #waiting: (() => void)[] = []

  constructor(isSaving: (managed: ManagedEntity) => boolean) {
    this.#isSaving = isSaving
  }

  /** Tells those who ask that a flush has ended. */
  ended(flush: InFlight): void {
    for (const question of this.#questions) question.isOvertaken ||= flush.isSaving(question.managed)
    for (const wake of this.#waiting.splice(0)) wake()
  }

  /**
   * Asks about an entity while no write of it is under way, and asks again where a write has begun before the answer came: beside a write
   * nobody can tell whether what is stored has it. `resolve` waits for a delete, or looks up a write whose answer was lost.
   */
  async ask<T>(
    find: () => ManagedEntity,
    ask: (managed: ManagedEntity) => Promise<T>,
    resolve: (managed: ManagedEntity) => Promise<unknown> | undefined,
  ): Promise<T> {
    for (;;) {
      const managed = find()
      // A hook may be called by the flush that it would wait for.
      if (isInsideHook(managed.home)) return ask(managed)
      const ended = this.endOfWrite(managed) ?? resolve(managed)
      if (ended !== undefined) {
        await ended
        continue
      }
      const { stored, doubt } = managed
      const question = { managed, isOvertaken: false }
      this.#questions.add(question)
      const answer = await ask(managed).finally(() => this.#questions.delete(question))
      const isSame = managed.stored === stored && managed.doubt === doubt
      if (isSame && !question.isOvertaken && this.endOfWrite(managed) === undefined) return answer
    }
  }

  /** End of the flush that is sending the entity; undefined where none is. */
  endOfWrite(managed: ManagedEntity): Promise<void> | undefined {
    if (this.#isSaving(managed)) return new Promise((wake) => this.#waiting.push(wake))
    // A save of a single entity is not a flush.
    return managed.sending === undefined ? undefined : managed.queued?.ended
  }
}
