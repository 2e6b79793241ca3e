import type { FoundRecord } from '../plan/outcome.js'
import type { QueryCommand } from '../plan/query-command.js'
import type { QueryPlan } from './plan-query.js'
import type { QuerySource } from './query-source.js'

/** So many records are asked for at once; more are read in steps. */
const FEW = 500
/** Steps that are read while one is used: one arrives while the server works on the next. */
const AHEAD = 2

/** The records that a query finds, a bounded number at a time, and no more than the limit; none of another tenant. */
export async function* findRecords<T extends object>(
  source: QuerySource<T>,
  plan: QueryPlan,
  bins: QueryCommand['bins'],
  limit: number | undefined,
  isAwaited: boolean,
): AsyncGenerator<readonly FoundRecord[]> {
  if (isAwaited) source.begin()
  try {
    if (plan.isNever) return
    yield* found(source, plan, bins, limit)
  } finally {
    if (isAwaited) source.end()
  }
}

async function* found<T extends object>(
  source: QuerySource<T>,
  plan: QueryPlan,
  bins: QueryCommand['bins'],
  limit: number | undefined,
): AsyncGenerator<readonly FoundRecord[]> {
  const { driver, options, isCheckedByKey } = source
  const { signal, onProgress } = options
  const command = plan.command(bins)
  const owners = plan.apart && new FoundOwners(source, plan, bins)
  if (limit !== undefined && limit <= FEW && !isCheckedByKey && owners === undefined) {
    const records = await driver.querySome(command, limit, { signal })
    if (records.length > 0) yield records
    return onProgress?.({ records: records.length, share: 1 })
  }
  let count = 0
  let share = 0
  const onStep = (of: number): void => void (share = of)
  for await (const found of driver.query(command, { signal, onStep, ahead: AHEAD })) {
    signal?.throwIfAborted()
    const step = owners === undefined ? found : await owners.of(found)
    const own = isCheckedByKey ? step.filter((record) => source.isOwn(record)) : step
    const records = limit !== undefined && count + own.length > limit ? own.slice(0, limit - count) : own
    count += records.length
    if (records.length > 0) yield records
    if (count === limit) break
    onProgress?.({ records: count, share })
  }
  onProgress?.({ records: count, share: 1 })
}

/** Owners of companion records that a query finds, each once: several companions of one may be found. */
class FoundOwners<T extends object> {
  readonly #source: QuerySource<T>
  readonly #plan: QueryPlan
  readonly #bins: QueryCommand['bins']
  readonly #seen = new Set<string>()

  constructor(source: QuerySource<T>, plan: QueryPlan, bins: QueryCommand['bins']) {
    this.#source = source
    this.#plan = plan
    this.#bins = bins
  }

  async of(companions: readonly FoundRecord[]): Promise<readonly FoundRecord[]> {
    const owners: FoundRecord[] = []
    for (const owner of await this.#source.owners(companions, this.#bins, this.#plan.filter)) {
      const id = owner && Buffer.from(owner.digest).toString('latin1')
      if (owner === null || this.#seen.has(id!)) continue
      this.#seen.add(id!)
      owners.push(owner)
    }
    return owners
  }
}
