import type { KeyValue } from '../keys/index.js'
import type { EntityModel } from '../model/index.js'
import type { ReadCommand } from '../plan/command.js'
import type { StoredRecord } from '../plan/outcome.js'
import type { Reader, Tracked } from '../relations/contributor.js'
import type { Loader } from './loader.js'
import { EVERYTHING } from './projection.js'
import { callOptions, type SessionContext } from './session-context.js'

/** The session as those see it that plan and load relations. */
export class SessionReader implements Reader {
  readonly #context: SessionContext
  readonly #loader: Loader

  constructor(context: SessionContext, loader: Loader) {
    this.#context = context
    this.#loader = loader
  }

  find(model: EntityModel, keys: readonly KeyValue[]): Promise<(Tracked | null)[]> {
    const { classes, identity } = this.#context
    const mapped = classes.of(model.name)
    return Promise.all(
      keys.map((key) => this.#loader.find(mapped, mapped.recordKeyOf(key, identity.tenant), EVERYTHING)),
    )
  }

  read(commands: readonly ReadCommand[]): Promise<(StoredRecord | null)[]> {
    return this.#context.driver.read(commands, callOptions(this.#context))
  }
}
