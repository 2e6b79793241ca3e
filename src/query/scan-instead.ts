import { SkeinError } from '../errors/index.js'
import type { QueryPlan } from './plan-query.js'

export const isIndexMissing = (error: unknown): boolean => error instanceof SkeinError && error.code === 'SKEIN_4211'

/** The plan that reads the whole set, where the index is missing on the server or not ready, and a scan was allowed. */
export function scanInstead(plan: QueryPlan, error: unknown): QueryPlan | undefined {
  return isIndexMissing(error) ? plan.withoutIndex?.() : undefined
}

/** Answers by the plan, or by a scan where its index cannot be asked. */
export async function orScan<R>(plan: QueryPlan, ask: (plan: QueryPlan) => Promise<R>): Promise<R> {
  try {
    return await ask(plan)
  } catch (error) {
    const scan = scanInstead(plan, error)
    if (scan === undefined) throw error
    return ask(scan)
  }
}
