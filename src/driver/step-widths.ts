import type { QueryCommand } from '../plan/query-command.js'
import { encodeExpression } from './encode-expression.js'

/** Queries that are remembered; the one that was walked least recently goes first. */
const QUERIES = 200
/** Longer filters are not remembered, so that the memory stays bounded. */
const LONGEST = 4096

/** Remembers how many partitions a step of a large query holds, so that the same query need not find it out again. */
export class StepWidths {
  readonly #widths = new Map<string, number>()

  /** Identity of a query here; undefined for one that is not remembered. */
  idOf({ namespace, set, index, bins, filter, others }: QueryCommand): string | undefined {
    if (others !== undefined) return undefined
    const condition = filter === undefined ? '' : encodeExpression(filter)
    if (condition.length > LONGEST) return undefined
    const lookup = index && [index.name, index.on, typeof index.value, String(index.value), String(index.to)]
    return JSON.stringify([namespace, set, bins, lookup, condition])
  }

  get(id: string | undefined): number | undefined {
    return id === undefined ? undefined : this.#widths.get(id)
  }

  /** Undefined forgets the query. */
  set(id: string | undefined, width: number | undefined): void {
    if (id === undefined) return
    this.#widths.delete(id)
    if (width === undefined) return
    this.#widths.set(id, width)
    if (this.#widths.size > QUERIES) this.#widths.delete(this.#widths.keys().next().value!)
  }
}
