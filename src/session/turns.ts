import type { Activity } from './activity.js'
import type { Managed } from './managed.js'

/** Work on one entity, for those who wait for its end; most often nobody does. */
export class Turn {
  #ended: Promise<void> | undefined
  #end: (() => void) | undefined

  get ended(): Promise<void> {
    return (this.#ended ??= new Promise((resolve) => (this.#end = resolve)))
  }

  end(): void {
    this.#end?.()
  }
}

/** Keeps work apart: work on one entity waits for earlier work on it, and a flush waits for all and lets all wait. */
export class Turns {
  readonly #activity: Activity
  /** The latest flush that is under way or waits; what is asked for after it waits for it. */
  #barrier: Promise<unknown> | undefined
  /** Work that has begun and not ended. */
  #count = 0
  #onIdle: (() => void)[] | undefined

  constructor(activity: Activity) {
    this.#activity = activity
  }

  /** Work on the whole session. */
  all<T>(work: () => Promise<T>): Promise<T> {
    this.#activity.begin()
    const isFree = this.#barrier === undefined && this.#count === 0
    const result = isFree ? this.#begin(work) : this.#wait(this.#barrier).then(() => this.#begin(work))
    this.#barrier = result
    const end = (): void => {
      if (this.#barrier === result) this.#barrier = undefined
      this.#end()
    }
    result.then(end, end)
    return result
  }

  /** Work on one entity. */
  one<T>(managed: Managed, work: () => Promise<T>): Promise<T> {
    this.#activity.begin()
    const before = bothOf(this.#barrier, managed.turn?.ended)
    const turn = (managed.turn = new Turn())
    const begin = (): Promise<T> => this.#begin(work)
    const result = before === undefined ? this.#begin(work) : before.then(begin, begin)
    const end = (): void => this.endOne(managed, turn)
    result.then(end, end)
    return result
  }

  /** True when work on the entity need not wait. */
  isFree(managed: Managed): boolean {
    return this.#barrier === undefined && managed.turn === undefined
  }

  /** Work on one entity that is free, by someone who says when it ends. */
  beginOne(managed: Managed): Turn {
    this.#activity.begin()
    this.#count++
    return (managed.turn = new Turn())
  }

  endOne(managed: Managed, turn: Turn): void {
    if (managed.turn === turn) managed.turn = undefined
    turn.end()
    this.#end()
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#barrier !== undefined || this.#count > 0) await this.#wait(this.#barrier)
  }

  #begin<T>(work: () => Promise<T>): Promise<T> {
    this.#count++
    return work()
  }

  #end(): void {
    this.#activity.end()
    if (--this.#count > 0) return
    const waiting = this.#onIdle
    this.#onIdle = undefined
    waiting?.forEach((wake) => wake())
  }

  /** Until the flush before has ended, and all that has begun by then. */
  async #wait(before: Promise<unknown> | undefined): Promise<void> {
    if (before !== undefined) await before.catch(ignore)
    while (this.#count > 0) await new Promise<void>((wake) => (this.#onIdle ??= []).push(wake))
  }
}

function ignore(): void {}

function bothOf(a: Promise<unknown> | undefined, b: Promise<unknown> | undefined): Promise<unknown> | undefined {
  return a === undefined ? b : b === undefined ? a : Promise.allSettled([a, b])
}
