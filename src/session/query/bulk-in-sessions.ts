import { readProperty, writeProperty } from '../../codec/index.js'
import { EntityGoneError, VersionConflictError } from '../../errors/index.js'
import type { BulkChange } from '../../query/bulk-changes.js'
import type { BulkOptions } from '../../query/database-query.js'
import type { SessionQuery } from '../../query/session-query.js'
import type { Session } from '../session.js'

/** Entities of one step: each is read, changed and sent in a session of its own. */
const STEP = 100
/** How often a step is tried again for the records that another writer changed meanwhile. */
const ATTEMPTS = 4

interface Bulk<T extends object> {
  readonly openSession: () => Session
  readonly query: (session: Session) => SessionQuery<T>
  readonly identity: (entity: T) => string
  readonly changes: readonly BulkChange[] | 'delete'
  readonly signal: AbortSignal | undefined
}

interface Step {
  readonly written: number
  readonly failed: number
  readonly next: string | undefined
}

/** Changes or deletes what a query finds, step by step; after each one the cursor says where to go on. */
export async function bulkInSessions<T extends object>(
  bulk: Bulk<T>,
  { onProgress, after }: BulkOptions,
): Promise<{ written: number; failed: number }> {
  let written = 0
  let failed = 0
  for (let cursor = after; ;) {
    bulk.signal?.throwIfAborted()
    const step = await runStep(bulk, cursor)
    written += step.written
    failed += step.failed
    onProgress?.({ written, ...(step.next === undefined ? { share: 1 } : { cursor: step.next }) })
    if (step.next === undefined) return { written, failed }
    cursor = step.next
  }
}

/** Reads the step again as long as others were faster: what no longer meets the conditions is then left alone. */
async function runStep<T extends object>(bulk: Bulk<T>, after: string | undefined): Promise<Step> {
  const done = new Set<string>()
  for (let attempt = 1; ; attempt++) {
    const session = bulk.openSession()
    try {
      const page = await bulk.query(session).page({ count: STEP, after })
      const left = page.filter((entity) => !done.has(bulk.identity(entity)))
      const failed = await writeAll(bulk, session, left, done)
      if (failed === 0 || attempt === ATTEMPTS) return { written: done.size, failed, next: page.next }
    } finally {
      await session.close()
    }
  }
}

/** How many were not written because of other writers; what is gone meanwhile is no concern, and everything else is thrown. */
async function writeAll<T extends object>(
  { changes, identity }: Bulk<T>,
  session: Session,
  entities: readonly T[],
  done: Set<string>,
): Promise<number> {
  const write = async (entity: T): Promise<void> => {
    if (changes === 'delete') await session.delete(entity)
    else await session.save(changed(entity, changes))
    done.add(identity(entity))
  }
  const outcomes = await Promise.allSettled(entities.map(write))
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
  const other = errors.find((error) => !(error instanceof VersionConflictError) && !(error instanceof EntityGoneError))
  if (other !== undefined) throw other as Error
  return errors.filter((error) => error instanceof VersionConflictError).length
}

function changed<T extends object>(entity: T, changes: readonly BulkChange[]): T {
  for (const { property, value, increment } of changes) {
    writeProperty(entity, property, increment === undefined ? value : sum(readProperty(entity, property), increment))
  }
  return entity
}

function sum(stored: unknown, by: number | bigint): number | bigint {
  return typeof by === 'bigint' ? BigInt((stored as bigint | undefined) ?? 0n) + by : Number(stored ?? 0) + by
}
