import { CommandError, ResultCode } from './protocol/result-code.js'

/** The release whose answers were recorded. */
export const NEWEST_BUILD = '8.1.2.0'
/** Older servers lack what every query of the official client needs. */
export const OLDEST_BUILD = '6.1.0.0'

/** The release that brought each feature which an older server does not have. */
const SINCE = {
  pathExpressions: '8.1.2.0',
  /** Operations other than plain reads of bins in a query. */
  queryOperations: '8.1.2.0',
  /** Set indexes made by `sindex-create`. */
  setIndexes: '8.1.2.0',
  expressionIndexes: '8.1.0.0',
  /** Queries that name their index instead of a bin. */
  indexNames: '8.1.0.0',
  /** The info command `release`. */
  releaseInfo: '8.1.0.0',
  transactions: '8.0.0.0',
  maxRecordSizeInfo: '7.1.0.0',
  readTouch: '7.1.0.0',
  blobIndexes: '7.0.0.0',
  recordSize: '7.0.0.0',
} as const

export type Feature = keyof typeof SINCE

let build: string = NEWEST_BUILD
let missing: ReadonlySet<Feature> = new Set()

/** Makes this thread's server one of that release. */
export function useBuild(text: string): void {
  build = text
  const all = Object.keys(SINCE) as Feature[]
  missing = new Set(all.filter((feature) => compareBuilds(SINCE[feature], text) > 0))
}

export function buildText(): string {
  return build
}

export function hasFeature(feature: Feature): boolean {
  return !missing.has(feature)
}

/** Refuses what the release does not know, as it would. */
export function requireFeature(feature: Feature): void {
  if (missing.has(feature)) throw new CommandError(ResultCode.PARAMETER, `${feature} need server ${SINCE[feature]}`)
}

/** Completes `7.2` to `7.2.0.0`; undefined where the text is not a build. */
export function completeBuild(text: unknown): string | undefined {
  if (typeof text !== 'string' || !/^\d{1,3}(\.\d{1,3}){1,3}$/.test(text)) return undefined
  return [...text.split('.').map(Number), 0, 0].slice(0, 4).join('.')
}

/** Negative where `a` is older than `b`. */
export function compareBuilds(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split('.').map(Number))
  const at = left.findIndex((part, i) => part !== right[i])
  return at < 0 ? 0 : left[at] - right[at]
}
