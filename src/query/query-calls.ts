import { checkNames, notValid, shown, type NamesOf } from '../model/call-options.js'
import { checkCount } from './query-errors.js'

/** Most entities or groups that are held at once, unless given. */
const MOST = 10_000

export interface Most {
  readonly max?: number
}

export interface PageOptions {
  readonly count: number
  /** The `next` of the page before. */
  readonly after?: string
}

/** Progress of a bulk update or delete. */
export interface BulkProgress {
  /** Records that were changed or deleted. */
  readonly written: number
  /** Share of the data that has been looked at, where that is known. */
  readonly share?: number
  /** Cursor at which an interrupted bulk operation can go on; only where it runs through sessions. */
  readonly cursor?: string
}

export interface BulkOptions {
  /** Counts what would be changed, and changes nothing. */
  readonly dryRun?: boolean
  readonly onProgress?: (progress: BulkProgress) => unknown
  /** The last `cursor` of one that was cut off. */
  readonly after?: string
}

const MOST_NAMES: NamesOf<Most> = { max: true }
const PAGE: NamesOf<PageOptions> = { count: true, after: true }
const BULK: NamesOf<BulkOptions> = { dryRun: true, onProgress: true, after: true }

/** The `max` of a call that holds all it finds. */
export function mostOf(call: string, options: Most): number {
  checkNames(call, options, MOST_NAMES)
  const { max = MOST } = options
  checkCount('max', max)
  return max
}

export function pageOptions(options: PageOptions | undefined): PageOptions {
  checkNames('page()', options, PAGE)
  checkCount('count', options?.count)
  return options!
}

/** A misspelt `dryRun` would change or delete everything. */
export function checkBulkOptions(call: string, options: BulkOptions): void {
  checkNames(call, options, BULK)
  const { dryRun } = options
  if (dryRun === undefined || typeof dryRun === 'boolean') return
  throw notValid(`${shown(dryRun)} is not a valid value for the option dryRun.`, 'Use true or false.')
}

/** Only a bulk operation through sessions goes in steps, so that a cursor can say where it goes on. */
export function checkBulkCursor({ dryRun, after }: BulkOptions, isInSteps: boolean): void {
  if (after === undefined || (isInSteps && dryRun !== true)) return
  const why = dryRun === true ? 'A dry run counts everything' : 'The server does all of it in one operation'
  throw notValid(`${why}, so the option after has no effect.`, 'Leave it out.')
}
