import type { Values } from './world.js'

/** A call that is not awaited before the next. */
export interface Call {
  readonly do: 'save' | 'upsert' | 'flush' | 'remove' | 'delete' | 'deleteByKey' | 'refresh' | 'load' | 'persist'
  readonly which: number
}

/** A change of the entity, at once or while calls are under way. */
export interface Change {
  readonly do: 'change' | 'changeLater'
  readonly which: number
  readonly values: Values
}

/** A record and its entity, as if every call had ended before the next began. */
export class PlainRecord {
  stored: Values | undefined
  #values: Values
  /** Undefined: the session does not have it. */
  #state: 'kept' | 'removed' | undefined = 'kept'
  #later: Values = {}

  constructor(values: Values) {
    this.#values = { ...values }
    this.stored = { ...values }
  }

  /**
   * A change beside a refresh may be lost or not; and what waits while an entity is removed finds it so: a save gives way, a
   * flush deletes it, before a refresh could forget that.
   */
  mayTake(each: Call | Change, group: readonly (Call | Change)[]): boolean {
    const beside = new Set(group.filter(({ which }) => which === each.which).map(({ do: name }) => name))
    if (each.do === 'change' || each.do === 'changeLater') return !beside.has('refresh')
    const mayWait = group.some(({ do: name }) => name === 'flush' || name === 'save' || name === 'upsert')
    return each.do !== 'refresh' || !beside.has('remove') || !(mayWait || beside.has('persist'))
  }

  take(each: Call | Change, all: readonly PlainRecord[]): void {
    switch (each.do) {
      case 'change':
        Object.assign(this.#values, each.values)
        return
      case 'changeLater':
        Object.assign(this.#later, each.values)
        return
      case 'flush':
        return all.forEach((record) => record.flush())
      case 'persist':
        this.#state = 'kept'
        return
      case 'save':
      case 'upsert':
        this.#state = 'kept'
        return this.flush()
      case 'remove':
        this.#state = 'removed'
        return
      case 'delete':
      case 'deleteByKey':
        this.#state = 'removed'
        return this.flush()
      case 'refresh':
        if (this.stored === undefined) return
        this.#values = { ...this.stored }
        this.#state = 'kept'
        return
      case 'load':
    }
  }

  flush(): void {
    if (this.#state === 'kept') this.stored = { ...this.#values }
    if (this.#state === 'removed') this.#state = this.stored = undefined
  }

  endGroup(): void {
    Object.assign(this.#values, this.#later)
    this.#later = {}
  }
}
