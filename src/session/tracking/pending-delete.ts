import type { ManagedEntity } from './managed-entity.js'

/**
 * Deletes of one entity that are under way. When the last of them was refused, the entity stays, so that no later flush deletes what a
 * caller was told stays; a save or a refresh meanwhile ends it.
 */
export class PendingDelete {
  readonly #wasKnown: boolean
  /** The entity was to be deleted before, or is by now, without these calls: a refusal changes nothing about that. */
  #isLasting: boolean
  #calls = 0
  #wasStored = false

  constructor(wasKnown: boolean, isLasting: boolean) {
    this.#wasKnown = wasKnown
    this.#isLasting = isLasting
  }

  begin(): this {
    this.#calls++
    return this
  }

  /** The next flush deletes the entity, whatever becomes of these calls. */
  leaveToFlush(): void {
    this.#isLasting = true
  }

  settled(wasStored: boolean): void {
    this.#wasStored = wasStored
  }

  /** Whether there was a record, told to one caller alone: only one of several can have deleted it. */
  takeWasStored(): boolean {
    const wasStored = this.#wasStored
    this.#wasStored = false
    return wasStored
  }

  /** One of the deletes has failed. */
  end(managed: ManagedEntity, isRefused: boolean): void {
    if (--this.#calls > 0 || !isRefused || this.#isLasting || managed.deleteIntent?.pending !== this) return
    if (this.#wasKnown) managed.keep()
    else managed.home.remove(managed)
  }
}
