import type { KeyValue } from '../../keys/index.js'
import { shownClassOf, type DeletedMode } from '../../model/index.js'
import type { Reader } from '../../relations/contract/reader.js'
import { storedRef } from '../../relations/contract/member.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import type { EntityLoader } from '../load/entity-loader.js'
import type { Hop } from './hop.js'
import type { WalkNode } from './walk-node.js'
import { tooFar, type Walker } from './walker.js'

interface EndParts {
  readonly walker: Walker
  readonly reader: Reader
  readonly loads: EntityLoader
  readonly max: number
  readonly deleted: DeletedMode | undefined
}

interface Step {
  readonly entities: readonly object[]
  /** Detaches entities that the session did not have before and nobody changed. */
  readonly release: () => void
}

/** Reads what the hops of a walk have led to. */
export class WalkEnd {
  readonly #parts: EndParts
  readonly #hops: readonly Hop[]

  constructor(parts: EndParts, hops: readonly Hop[]) {
    this.#parts = parts
    this.#hops = hops
  }

  /** Nodes of the last hop whose records are there and meet its conditions. */
  async present(level: readonly WalkNode[]): Promise<readonly WalkNode[]> {
    const found = await this.#parts.walker.present(level, this.#hops.at(-1)?.filter)
    return level.filter((_, i) => found[i] !== undefined)
  }

  async keys(level: readonly WalkNode[]): Promise<KeyValue[]> {
    const { reader } = this.#parts
    const hop = this.#hops.at(-1)
    const strategy = [...(hop?.strategies.values() ?? [])][0]
    const targets = hop?.to.kind === 'records' ? reader.entityModel(shownClassOf(hop.relation)) : undefined
    return (await this.present(level)).map(({ part, mapped, key }) => {
      if (part !== undefined) return strategy.keyOf!(part)!
      if (targets?.several === undefined) return reader.fromStored(mapped.model, key.key)
      return reader.fromStored(targets, storedRef(targets, key))
    })
  }

  async entities(level: readonly WalkNode[]): Promise<object[]> {
    const { found } = await this.#loaded(level, this.#hops.at(-1)?.filter)
    return level.flatMap((node) => found.get(node) ?? [])
  }

  async step(level: readonly WalkNode[]): Promise<Step> {
    const { reader } = this.#parts
    const { found, release } = await this.#loaded(level, this.#hops.at(-1)?.filter)
    return { entities: level.flatMap((node) => found.get(node) ?? []), release: () => release(reader) }
  }

  /** All ways, the entities of all hops read in one batch. */
  async paths(levels: readonly (readonly WalkNode[])[]): Promise<object[][]> {
    const loaded = await Promise.all(levels.map((level, i) => this.#loaded(level, this.#hops[i - 1]?.filter)))
    const paths: object[][] = []
    const lead = (node: WalkNode, depth: number, rest: readonly object[]): void => {
      const entity = loaded[depth].found.get(node)
      if (entity === undefined) return
      const path = [entity, ...rest]
      if (depth > 0) return node.from.forEach((before) => lead(before, depth - 1, path))
      if (paths.length === this.#parts.max) throw tooFar(this.#parts.max)
      paths.push(path)
    }
    for (const node of levels.at(-1)!) lead(node, levels.length - 1, [])
    return paths
  }

  async #loaded(
    level: readonly WalkNode[],
    filter: Hop['filter'],
  ): Promise<{ readonly found: ReadonlyMap<WalkNode, object>; readonly release: (reader: Reader) => void }> {
    const parts = level.filter(({ part }) => part !== undefined)
    if (parts.length > 0 || level.length === 0)
      return { found: new Map(parts.map((node) => [node, node.part!])), release: () => {} }
    const { loads, reader } = this.#parts
    const before = new Set(level.map(({ mapped, key }) => loads.has(mapped, key)))
    const tracked = await this.#find(level, filter)
    const present = tracked.filter((each) => each !== null)
    await reader.load(present)
    const found = new Map(level.flatMap((node, i) => (tracked[i] === null ? [] : [[node, tracked[i].entity]])))
    return { found, release: (from) => from.release(present.filter((each) => !before.has(each))) }
  }

  /** Entities of the nodes, all read in one batch whatever their classes. */
  async #find(level: readonly WalkNode[], filter: Hop['filter']): Promise<(ManagedEntity | null)[]> {
    const found = new Map<WalkNode, ManagedEntity | null>()
    const searches = [...new Set(level.map(({ mapped }) => mapped))].map(async (mapped) => {
      const nodes = level.filter((node) => node.mapped === mapped)
      const keys = nodes.map(({ key }) => key)
      const tracked = await this.#parts.loads.findWhere(mapped, keys, filter, this.#parts.deleted)
      nodes.forEach((node, i) => found.set(node, tracked[i]))
    })
    await Promise.all(searches)
    return level.map((node) => found.get(node)!)
  }
}
