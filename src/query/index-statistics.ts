import type { Driver } from '../driver/driver.js'
import { indexStatistics } from '../driver/list-indexes.js'
import type { IndexModel } from '../model/index.js'
import type { IndexStatistics, StatisticsOf } from './choose-index.js'

/** Milliseconds for which the statistics of an index are trusted. */
const FRESH = 60_000

interface Known {
  readonly at: number
  readonly statistics: IndexStatistics | undefined
}

/** Statistics of the server on the indexes of a database, cached for a while: they only decide which of several is asked. */
export class IndexStatisticsCache {
  readonly #driver: Driver
  readonly #known = new Map<string, Known>()

  constructor(driver: Driver) {
    this.#driver = driver
  }

  /** Statistics that are known without asking. */
  of(namespace: string): StatisticsOf {
    return ({ name }) => this.#known.get(`${namespace}|${name}`)?.statistics
  }

  /** Asks for what is not known, or too old. A server that does not tell leaves the choice to what is usual. */
  async learn(namespace: string, indexes: readonly IndexModel[]): Promise<void> {
    const now = Date.now()
    const stale = indexes.filter(({ name }) => now - (this.#known.get(`${namespace}|${name}`)?.at ?? 0) > FRESH)
    await Promise.all(
      stale.map(async ({ name }) => {
        const statistics = await indexStatistics(this.#driver.client, namespace, name).catch(() => undefined)
        this.#known.set(`${namespace}|${name}`, { at: now, statistics })
      }),
    )
  }
}
