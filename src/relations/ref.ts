import { inspect } from 'node:util'
import { SkeinError } from '../errors/index.js'
import { describeKey, type KeyValue } from '../keys/index.js'
import type { KeyOf } from '../model/key-of.js'
import { HELD, type DeletedMode, type DeletedOption } from '../model/index.js'
import type { Ref } from '../model/related.js'
import { noDeletedMembers } from './contract/relation-errors.js'
import { jsonKey } from './read/json-key.js'
import { RefState } from './state/ref-state.js'
import { REF } from './contract/member.js'
import { setRefState } from './state/state-of.js'

/**
 * The initial value of a to-one relation.
 *
 * @example
 * @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
 */
export function ref<T extends object>(): Ref<T> {
  return new EntityRef<T>()
}

/** A reference. Outside a session it can be set and read back; in one it can be loaded. */
export class EntityRef<T extends object> implements Ref<T> {
  readonly #state = new RefState()

  constructor() {
    setRefState(this, this.#state)
  }

  get key(): KeyOf<T> | null {
    return this.#state.asShown(() => this.#state.key) as KeyOf<T> | null
  }

  get isLoaded(): boolean {
    return this.#state.asShown(() => this.#state.isLoaded)
  }

  get value(): T | null {
    return this.#state.asShown(() => this.#state.value) as T | null
  }

  /** An entity is held as itself: only its class says which of several it is. */
  get [HELD](): object | KeyValue | null {
    return this.#state.asShown(() => this.#state.target)
  }

  set(target: T | KeyValue | null): void {
    this.#state.set(target)
  }

  async load(options?: DeletedOption): Promise<T | null> {
    const state = this.#state
    if (options?.deleted !== undefined) return this.#loadShown(options.deleted)
    if (state.isLoaded) return state.value as T | null
    const { binding } = state
    if (binding === undefined || binding.tracked.state === 'gone') throw this.#noSession()
    await (binding.load?.() ?? binding.reader.load([binding.tracked], [binding.relation.name]))
    return state.value as T | null
  }

  /** Finds also what was deleted softly, or only that; the reference stays as it is. */
  async #loadShown(deleted: DeletedMode): Promise<T | null> {
    const { binding, isRead, key } = this.#state
    if (binding === undefined || binding.tracked.state === 'gone') throw this.#noSession()
    const { reader, relation, strategy, tracked } = binding
    const target = reader.entityModel(relation.target)
    const isKnown = deleted === 'include' || deleted === 'only'
    if (!isKnown || target.deletedAt === undefined) throw noDeletedMembers(binding, isKnown)
    const wanted = isRead || strategy.targetKey === undefined ? key : await strategy.targetKey(tracked, reader)
    if (wanted === null) return null
    const [found] = await reader.withDeleted(deleted).find(target, [wanted])
    if (found !== null) await reader.load([found])
    return found === null ? null : (found.entity as T)
  }

  /** The key; a reference that was not read is left out. */
  toJSON(): string | number | null | undefined {
    return this.#state.isRead ? jsonKey(this.key) : undefined
  }

  [inspect.custom](): string {
    const { target, isLoaded, isRead } = this.#state
    if (!isRead) return 'Ref(not loaded)'
    if (target === null) return 'Ref(null)'
    const key = this.key === null ? 'new' : describeKey(this.key)
    return isLoaded ? `Ref(${key})` : `Ref(${key}, not loaded)`
  }

  #noSession(): SkeinError {
    const message =
      'The reference has nothing to load from: its entity is outside a session, or it is inside an @Embedded part, whose references no session loads.'
    return new SkeinError('SKEIN_2403', message, {
      key: this.key ?? undefined,
      fix: 'Load the entity that has it with session.load, or hand it to session.persist first; of an @Embedded part, load what it points to: session.load(Class, ref.key).',
    })
  }
}
Object.defineProperty(EntityRef.prototype, REF, { value: true })
