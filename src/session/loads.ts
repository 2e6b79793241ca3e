import { read } from '../plan/command.js'
import { attachRelations } from '../relations/attach.js'
import type { Reader } from '../relations/contributor.js'
import { rememberRelations } from '../relations/remember-relations.js'
import { abortable } from './abortable.js'
import { callHooks } from './hooks.js'
import { Hydrator, isGone, type Attach } from './hydrator.js'
import { loadGraph } from './load-graph.js'
import { Loader } from './loader.js'
import type { Managed } from './managed.js'
import type { MappedClass } from './mapped-class.js'
import { projectionOf } from './projection.js'
import { callOptions, type SessionContext } from './session-context.js'
import { gone } from './session-errors.js'
import { SessionReader } from './session-reader.js'
import type { KeyInput } from './session-types.js'

interface FindOptions {
  readonly only?: readonly string[]
  readonly with?: readonly string[]
  readonly signal?: AbortSignal
}

/** Everything a session reads. */
export class Loads {
  /** For those who plan and load relations. */
  readonly reader: Reader
  readonly #context: SessionContext
  readonly #hydrator: Hydrator
  readonly #loader: Loader

  constructor(context: SessionContext) {
    this.#context = context
    this.#hydrator = new Hydrator(context, (managed, stored) => this.attach(managed, stored))
    this.#loader = new Loader(context, this.#hydrator)
    this.reader = new SessionReader(context, this.#loader)
  }

  readonly attach: Attach = (managed, stored) => {
    const { relations } = managed.mapped
    if (relations.length === 0) return
    const { undo } = this.#context
    // An entity that was handed in outlives the session, so it must forget what a transaction that failed has linked.
    if (undo !== undefined && stored === undefined) undo.push(rememberRelations(managed.entity, relations))
    attachRelations(managed, relations, this.reader, stored)
  }

  /** Entities in the order of the keys, null where there is none, with the relations that are asked for. */
  async find(mapped: MappedClass, keys: readonly KeyInput[], options: FindOptions = {}): Promise<(Managed | null)[]> {
    const { only, with: paths, signal } = options
    signal?.throwIfAborted()
    const projection = projectionOf(
      mapped,
      only,
      paths?.map((path) => path.split('.')[0]),
    )
    const records = keys.map((key) => mapped.recordKeyOf(key, this.#context.identity.tenant))
    const loads = records.map((key) => this.#loader.find(mapped, key, projection))
    const found = loads.length === 1 ? [await abortable(loads[0], signal)] : await abortable(Promise.all(loads), signal)
    if (paths !== undefined) {
      const level = new Set(found.filter((managed) => managed !== null))
      await abortable(loadGraph([...level], paths, this.#context.classes, this.reader), signal)
    }
    return found
  }

  async refresh(managed: Managed, signal?: AbortSignal): Promise<void> {
    const command = read(managed.model.name, managed.key)
    const record = await this.#context.driver.readOne(command, callOptions(this.#context, signal))
    if (isGone(record)) throw gone(managed)
    this.#hydrator.refresh(managed, record)
    await callHooks('afterLoad', [managed])
  }
}
