import { inspect } from 'node:util'
import { SkeinError } from '../errors/index.js'
import { describeKey, type KeyValue } from '../keys/index.js'
import { declaredKey } from '../model/declared-key.js'
import type { Ref } from '../model/related.js'
import { jsonKey } from './json-key.js'
import { REF } from './relation-marker.js'

/**
 * The initial value of a to-one relation.
 *
 * @example
 * @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
 */
export function ref<T extends object>(): Ref<T> {
  return new DetachedRef<T>()
}

/** The ref of an entity outside any session: it can be set and read back, but has nothing to load from. */
export class DetachedRef<T extends object> implements Ref<T> {
  // Either the entity, or the key of one that is not at hand.
  #target: T | KeyValue | null = null

  get key(): KeyValue | null {
    return isEntity(this.#target) ? declaredKey(this.#target) : this.#target
  }

  get isLoaded(): boolean {
    return this.#target === null || isEntity(this.#target)
  }

  get value(): T | null {
    if (this.#target === null || isEntity(this.#target)) return this.#target
    throw new SkeinError('SKEIN_2401', `The reference to ${describeKey(this.#target)} is not loaded.`, {
      key: this.#target,
      fix: 'Call await ref.load() first, or name the relation in { with: […] } when loading.',
    })
  }

  set(target: T | KeyValue | null): void {
    this.#target = target
  }

  load(): Promise<T | null> {
    if (this.#target === null || isEntity(this.#target)) return Promise.resolve(this.#target)
    return Promise.reject(
      new SkeinError('SKEIN_2403', 'A reference of an entity outside a session has nothing to load from.', {
        key: this.#target,
        fix: 'Load the entity that has it with session.load, or hand it to session.persist first.',
      }),
    )
  }

  toJSON(): string | number | null {
    return jsonKey(this.key)
  }

  [inspect.custom](): string {
    if (this.#target === null) return 'Ref(null)'
    const key = this.key === null ? 'new' : describeKey(this.key)
    return this.isLoaded ? `Ref(${key})` : `Ref(${key}, not loaded)`
  }
}
Object.defineProperty(DetachedRef.prototype, REF, { value: true })

function isEntity<T extends object>(target: T | KeyValue | null): target is T {
  return typeof target === 'object' && target !== null && !(target instanceof Uint8Array)
}
