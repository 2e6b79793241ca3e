import type { EntityModel } from '../model/index.js'
import { readPosition, showPosition } from '../driver/query-position.js'
import type { FoundRecord } from '../plan/outcome.js'
import type { QueryCommand } from '../plan/query-command.js'
import { pagedBuckets, pagedCompanions, pagedOnDemand } from './where-errors.js'
import { openCursor, sealCursor } from './cursor.js'
import type { QueryPlan } from './plan-query.js'
import type { QuerySource } from './query-source.js'

/** Records of one page, and the cursor of the next; none on the last page. */
export interface RecordPage {
  readonly records: readonly FoundRecord[]
  readonly next?: string
}

/** Fewer are not asked for where some may be left out here. */
const LEAST = 100
/** Partitions that a page begins with where nothing is known. */
const WIDTH = 64

/** The records that follow a cursor, in the order of digests, which no change of other records moves: what stays is found once. */
export async function recordPage<T extends object>(
  source: QuerySource<T>,
  plan: QueryPlan,
  identity: string,
  bins: QueryCommand['bins'],
  count: number,
  after: string | undefined,
): Promise<RecordPage> {
  const { driver, options, isCheckedByKey, model } = source
  const { signal } = options
  let position = after === undefined ? undefined : openCursor(after, identity, model).toString('base64url')
  if (plan.isNever) return { records: [] }
  refusePages(plan, model)
  const command = plan.command(bins)
  const seal = (text: string): string => sealCursor(Buffer.from(text, 'base64url'), identity)
  if (!isCheckedByKey && plan.apart === undefined) {
    const { records, next } = await driver.queryPage(command, count, { after: position, signal })
    return next === undefined ? { records } : { records, next: seal(next) }
  }
  const own: FoundRecord[] = []
  let last: Uint8Array | undefined
  for (;;) {
    const { records, next } = await driver.queryPage(command, Math.max(count, LEAST), { after: position, signal })
    const found = plan.apart === undefined ? records : await source.owners(records, bins, plan.filter)
    for (const [i, record] of found.entries()) {
      if (record === null || (isCheckedByKey && !source.isOwn(record))) continue
      if (own.length === count) {
        const width = next === undefined ? WIDTH : readPosition(next).width
        return { records: own, next: seal(showPosition({ partition: 0, width, digest: last! })) }
      }
      own.push(record)
      last = records[i].digest
    }
    if (next === undefined) return { records: own }
    position = next
  }
}

/** Refuses pages, and changes in bulk, which go by pages, where a cursor cannot tell which owners were shown. */
export function refusePages(plan: QueryPlan, model: EntityModel): void {
  const { inOwners, apart, path, isNever } = plan
  if (isNever) return
  if (inOwners !== undefined) throw pagedOnDemand(model)
  if (apart?.mayRepeat === true) throw pagedBuckets(model, path!)
  if (apart?.areSeveral === true && plan.command('none').others !== undefined) throw pagedCompanions(model)
}
