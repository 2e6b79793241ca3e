import { checkTenant } from '../context/check-arguments.js'
import type { Driver } from '../../driver/driver.js'
import type { Tenant } from '../../keys/index.js'
import { SkeinError } from '../../errors/index.js'
import { checkNames, type NamesOf } from '../../model/call-options.js'
import type { EntityClass, OutsideTransaction } from '../../model/index.js'
import { flushFailure } from '../flush/execute/flush-failure.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { refuseInTransaction } from '../transaction/transaction-scope.js'
import type { CopyLink, CopyLinks } from './copy-links.js'
import { refreshing, staleCopies, type StaleCopy } from './stale-copies.js'
import type { Counted } from '../context/activity.js'

/** Progress of a refresh. */
export interface CopyProgress {
  /** Class whose records hold the copies. */
  readonly className: string
  /** Records of it that were compared with their sources. */
  readonly records: number
  /** Copies that were written. */
  readonly written: number
}

export interface RefreshCopiesOptions extends OutsideTransaction {
  /** Called after each step. */
  readonly progress?: (progress: CopyProgress) => unknown
  /** Tenant whose records are wanted, where the keys of the class belong to tenants. */
  readonly tenant?: Tenant
  readonly signal?: AbortSignal
}

const OPTIONS: NamesOf<RefreshCopiesOptions> = { progress: true, tenant: true, signal: true, outsideTransaction: true }

/**
 * Properties that are copied from other records (`@Copy`).
 *
 * @example
 * await db.copies.refresh(Agent, { progress: ({ className, written }) => console.log(className, written) })
 */
export class Copies {
  readonly #driver: Driver
  readonly #classes: MappedClasses
  readonly #counted: Counted

  /** @internal */
  constructor(driver: Driver, classes: MappedClasses, counted: Counted) {
    this.#driver = driver
    this.#classes = classes
    this.#counted = counted
  }

  /** Compares all copies of a class with their sources, and writes those that differ; says how many. Can be stopped and run again at any time. */
  async refresh(entityClass: EntityClass, options: RefreshCopiesOptions = {}): Promise<number> {
    checkNames('copies.refresh()', options, OPTIONS)
    if (options.progress !== undefined && typeof options.progress !== 'function') throw notCallable()
    refuseInTransaction('copies.refresh', options)
    const { copies } = this.#classes
    const links = copies?.takenFrom(this.#classes.of(entityClass).model).filter(isRefreshed) ?? []
    checkTenant(options?.tenant)
    if (copies === undefined || links.length === 0) throw withoutCopies(this.#classes.of(entityClass))
    return this.#counted(async () => {
      let written = 0
      for (const [holder, own] of byHolder(links))
        written += await this.#refresh(this.#classes.of(holder), own, copies, options)
      return written
    })
  }

  async #refresh(
    mapped: MappedClass,
    links: readonly CopyLink[],
    copies: CopyLinks,
    { progress, tenant, signal }: RefreshCopiesOptions,
  ): Promise<number> {
    const { name: className } = mapped.model
    let [records, written] = [0, 0]
    for await (const checked of staleCopies(mapped, links, copies, this.#driver, { tenant, signal })) {
      records += checked.records
      written += await this.#write(checked.stale, signal)
      await progress?.({ className, records, written })
    }
    return written
  }

  async #write(stale: readonly StaleCopy[], signal: AbortSignal | undefined): Promise<number> {
    if (stale.length === 0) return 0
    const outcomes = await this.#driver.run(stale.map(refreshing), { signal })
    // A record that is gone, or leads elsewhere by now, has no such copy.
    const failed = outcomes.filter(
      ({ state, reason }) => state !== 'written' && reason !== 'missing' && reason !== 'guard',
    )
    if (failed.length > 0) throw flushFailure({ outcomes, failed }, signal)
    return outcomes.filter(({ state }) => state === 'written').length
  }
}

/** Copies with `refresh: 'never'` keep what they were. */
export const isRefreshed = ({ refresh }: CopyLink): boolean => refresh !== 'never'

function byHolder(links: readonly CopyLink[]): Map<string, CopyLink[]> {
  const found = new Map<string, CopyLink[]>()
  for (const link of links) found.set(link.holder.name, [...(found.get(link.holder.name) ?? []), link])
  return found
}

function withoutCopies({ model: { name: className } }: MappedClass): SkeinError {
  return new SkeinError('SKEIN_2336', `Nothing is copied from ${className} that could be refreshed.`, {
    className,
    fix: "Give the class that copies are taken from; copies with refresh: 'never' stay as they are.",
  })
}

const notCallable = (): SkeinError =>
  new SkeinError('SKEIN_2320', 'The option progress takes a function.', { fix: 'Give a function, or leave it out.' })
