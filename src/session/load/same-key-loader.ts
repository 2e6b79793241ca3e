import type { RecordKey } from '../../plan/record-key.js'
import { byFirstStep } from '../../relations/read/split-paths.js'
import type { RelationStrategy } from '../../relations/contract/relation-strategy.js'
import type { KeyLoader } from './key-loader.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { projectionOf, type OnlyItem } from '../mapping/projection.js'
import type { SessionContext } from '../context/session-context.js'

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
    only?: readonly OnlyItem[],
  ): Promise<(ManagedEntity | null)[]> {
    return this.#find(mapped, keys, paths, new Set([mapped]), only)
  }

  #find(
    mapped: MappedClass,
    keys: readonly RecordKey[],
    paths: readonly string[],
    seen: ReadonlySet<MappedClass>,
    only?: readonly OnlyItem[],
  ): Promise<(ManagedEntity | null)[]> {
    const branches = byFirstStep(paths)
    const projection = projectionOf(mapped, only, [...branches.keys()])
    const found = this.#loader.findAll(mapped, keys, projection)
    const wanted = mapped.relations.filter(
      (strategy) =>
        strategy.meet !== undefined &&
        (strategy.model.eager || branches.has(strategy.relation)) &&
        !seen.has(this.#target(strategy.model.target)),
    )
    return wanted.length === 0 ? found : this.#along(mapped, keys, branches, seen, wanted, found)
  }

  async #along(
    mapped: MappedClass,
    keys: readonly RecordKey[],
    branches: ReadonlyMap<string, string[]>,
    seen: ReadonlySet<MappedClass>,
    wanted: readonly RelationStrategy[],
    found: Promise<(ManagedEntity | null)[]>,
  ): Promise<(ManagedEntity | null)[]> {
    const { tenant } = this.#context.identity
    const { scheme } = mapped.codec.key
    const others = wanted.map(({ relation, model }) => {
      const target = this.#target(model.target)
      const same = keys.map(({ key }) => target.recordKey(scheme.fromStored(key, tenant), tenant))
      return this.#find(target, same, branches.get(relation) ?? [], new Set([...seen, target]))
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
