import type { DeletedOption } from '../../model/index.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { RelationStrategy } from '../../relations/contract/relation-strategy.js'
import { byFirstStep } from '../../relations/read/split-paths.js'
import type { SessionContext } from '../context/session-context.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { projectionOf, showing, type OnlyItem } from '../mapping/projection.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import type { KeyLoader } from './key-loader.js'

/** Properties that are wanted, and deleted entities that are. */
interface Wanted extends DeletedOption {
  readonly only?: readonly OnlyItem[] | undefined
  readonly signal?: AbortSignal | undefined
  /** The session's own work waits for it. */
  readonly isOwn?: boolean
}

/** Loads entities by key and, in the same tick, those that live under the same keys elsewhere and are wanted along. */
export class SameKeyLoader {
  readonly #context: SessionContext
  readonly #loader: KeyLoader

  constructor(context: SessionContext, loader: KeyLoader) {
    this.#context = context
    this.#loader = loader
  }

  find(
    mapped: MappedClass,
    keys: readonly RecordKey[],
    paths: readonly string[] = [],
    wanted: Wanted = {},
  ): Promise<(ManagedEntity | null)[]> {
    return this.#find(mapped, keys, paths, new Set([mapped]), wanted)
  }

  #find(
    mapped: MappedClass,
    keys: readonly RecordKey[],
    paths: readonly string[],
    seen: ReadonlySet<MappedClass>,
    { only, deleted, signal, isOwn }: Wanted = {},
  ): Promise<(ManagedEntity | null)[]> {
    const branches = byFirstStep(paths)
    const projection = showing(projectionOf(mapped, only, [...branches.keys()]), deleted)
    const found = this.#loader.findAll(mapped, keys, projection, signal, isOwn)
    const wanted = mapped.relations.filter(
      (strategy) =>
        strategy.meet !== undefined &&
        (strategy.model.eager || branches.has(strategy.relation)) &&
        !seen.has(this.#target(strategy.model.target)),
    )
    if (wanted.length === 0) return found
    // Related entities may be deleted or not, where deleted entities are asked for.
    const along: Wanted = { isOwn, ...(deleted !== undefined && { deleted: 'include' }) }
    return this.#along(mapped, keys, branches, seen, wanted, found, along)
  }

  async #along(
    mapped: MappedClass,
    keys: readonly RecordKey[],
    branches: ReadonlyMap<string, string[]>,
    seen: ReadonlySet<MappedClass>,
    wanted: readonly RelationStrategy[],
    found: Promise<(ManagedEntity | null)[]>,
    along: Wanted,
  ): Promise<(ManagedEntity | null)[]> {
    const { tenant } = this.#context.identity
    const { scheme } = mapped.codec.key
    const others = wanted.map(({ relation, model }) => {
      const target = this.#target(model.target)
      const same = keys.map(({ key }) => target.recordKey(scheme.fromStored(key, tenant), tenant))
      return this.#find(target, same, branches.get(relation) ?? [], new Set([...seen, target]), along)
    })
    const [entities, ...related] = await Promise.all([found, ...others])
    wanted.forEach((strategy, i) => {
      entities.forEach((managed, j) => managed !== null && strategy.meet!(managed, related[i][j]))
    })
    return entities
  }

  #target(name: string): MappedClass {
    return this.#context.classes.of(name)
  }
}
