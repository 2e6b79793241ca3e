import type { Take } from '../driver/arrivals.js'
import type { WalkOptions } from '../driver/partition-walk.js'
import type { FoundRecord } from '../plan/outcome.js'
import type { QueryCommand } from '../plan/query-command.js'
import { findOnDemand } from './find-on-demand.js'
import type { QueryPlan } from './plan-query.js'
import type { QuerySource } from './query-source.js'

/** Records asked for at once; more are read in steps. */
const FEW = 500
/** Steps that are read while one is used: one arrives while the server works on the next. */
const AHEAD = 2

/**
 * Passes the records that a query finds to `take`, a bounded number at a time, and no more than the limit; none of another tenant.
 * Results are made as the records arrive, so that the records themselves are not held.
 */
export async function* findRecords<R, T extends object>(
  source: QuerySource<T>,
  plan: QueryPlan,
  bins: QueryCommand['bins'],
  take: Take<R>,
  limit: number | undefined,
  isAwaited: boolean,
): AsyncGenerator<readonly R[]> {
  if (isAwaited) source.begin()
  try {
    if (plan.isNever) return
    yield* found(source, plan, bins, take, limit)
  } finally {
    if (isAwaited) source.end()
  }
}

async function* found<R, T extends object>(
  source: QuerySource<T>,
  plan: QueryPlan,
  bins: QueryCommand['bins'],
  take: Take<R>,
  limit: number | undefined,
): AsyncGenerator<readonly R[]> {
  const { driver, options, isCheckedByKey } = source
  const { signal, onProgress } = options
  if (limit !== undefined && limit <= FEW && !isCheckedByKey && plan.apart === undefined) {
    const records = await driver.querySome(plan.command(bins), limit, { signal })
    if (records.length > 0) yield records.map(take)
    return void (await onProgress?.({ records: records.length, share: 1 }))
  }
  let count = 0
  let share = 0
  const onStep = (of: number): void => void (share = of)
  for await (const step of steps(source, plan, bins, take, { signal, onStep, ahead: AHEAD })) {
    signal?.throwIfAborted()
    const within = limit !== undefined && count + step.length > limit ? step.slice(0, limit - count) : step
    count += within.length
    if (within.length > 0) yield within
    if (count === limit) break
    await onProgress?.({ records: count, share })
  }
  await onProgress?.({ records: count, share: 1 })
}

async function* steps<R, T extends object>(
  source: QuerySource<T>,
  plan: QueryPlan,
  bins: QueryCommand['bins'],
  take: Take<R>,
  options: WalkOptions,
): AsyncGenerator<readonly R[]> {
  const { driver, isCheckedByKey } = source
  if (plan.inOwners !== undefined) {
    for await (const step of findOnDemand(source, plan, plan.inOwners, bins, options))
      yield (isCheckedByKey ? step.filter((record) => source.isOwn(record)) : step).map(take)
    return
  }
  const owners = plan.apart && new FoundOwners(source, plan, bins)
  if (owners === undefined && !isCheckedByKey) {
    yield* driver.queryAs(plan.command(bins), take, options)
    return
  }
  for await (const records of driver.query(plan.command(bins), options)) {
    const step = owners === undefined ? records : await owners.of(records)
    const own = isCheckedByKey ? step.filter((record) => source.isOwn(record)) : step
    yield own.map(take)
  }
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
