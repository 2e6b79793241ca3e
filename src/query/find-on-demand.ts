import type { WalkOptions } from '../driver/partition-walk.js'
import type { FoundRecord } from '../plan/outcome.js'
import { changedWithin, type QueryCommand } from '../plan/query-command.js'
import type { QueryPlan } from './plan-query.js'
import type { QuerySource } from './query-source.js'

/**
 * Finds owners whose members are in their own records, or in companions once they are split, each owner once. Members that move are copied before
 * they are taken out where they were. So owners are asked before companions, and then once more those records that have changed meanwhile: their
 * members may have moved to where the query had been already.
 */
export async function* findOnDemand<T extends object>(
  source: QuerySource<T>,
  plan: QueryPlan,
  inOwners: QueryPlan,
  bins: QueryCommand['bins'],
  options: WalkOptions,
): AsyncGenerator<readonly FoundRecord[]> {
  const began = performance.now()
  const owners = new OwnersOnDemand(source, plan, bins)
  let walks = 0
  const walk = (command: QueryCommand, isAgain: boolean): AsyncIterable<readonly FoundRecord[]> => {
    const walked = walks++
    const onStep = (share: number): void => options.onStep?.((walked + share) / 4)
    const again = isAgain ? changedWithin(command, performance.now() - began) : command
    return source.driver.query(again, { ...options, onStep })
  }
  for (const isAgain of [false, true]) {
    for await (const found of walk(inOwners.command(owners.bins), isAgain)) yield await owners.fresh(found)
    for await (const found of walk(plan.command(bins), isAgain))
      yield await owners.fresh(await source.owners(found, owners.bins, plan.filter))
  }
}

/** Owners that a query has found, in one place or in the other. */
class OwnersOnDemand<T extends object> {
  /** Bins to be read of owners: also those that tell whether their members are moving. */
  readonly bins: QueryCommand['bins']
  readonly #source: QuerySource<T>
  readonly #plan: QueryPlan
  readonly #moveBin: string
  readonly #seen = new Set<string>()

  constructor(source: QuerySource<T>, plan: QueryPlan, bins: QueryCommand['bins']) {
    this.#source = source
    this.#plan = plan
    this.#moveBin = plan.apart!.moveBin!
    const asked = bins === 'none' ? [] : bins
    this.bins = asked === 'all' ? 'all' : [...new Set([...asked, this.#moveBin, ...source.keyBins])]
  }

  /** Owners that were not found before. While members move, a record may hold one that was taken out: then the collection itself is asked. */
  async fresh(found: readonly (FoundRecord | null)[]): Promise<readonly FoundRecord[]> {
    const unseen = new Map<string, FoundRecord>()
    for (const owner of found) {
      const id = owner && Buffer.from(owner.digest).toString('latin1')
      if (owner !== null && !this.#seen.has(id!)) unseen.set(id!, owner)
    }
    const all = [...unseen]
    const moving = all.filter(([, { bins }]) => bins[this.#moveBin] != null)
    const { path, members } = this.#plan
    const hold = await this.#source.hold(
      path!,
      moving.map(([, owner]) => owner),
      members ?? [],
    )
    const without = new Set(moving.filter((_, i) => members !== undefined && !hold[i]).map(([id]) => id))
    const shown = all.filter(([id]) => !without.has(id))
    for (const [id] of shown) this.#seen.add(id)
    return shown.map(([, owner]) => owner)
  }
}
