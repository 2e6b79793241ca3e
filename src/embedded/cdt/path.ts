import type { Value } from '../value/value.js'
import type { ContextLevel } from './context-level.js'
import type { Container } from './operation.js'

/** The child that a path has reached, as filters and loop variables see it. */
export interface Loop {
  readonly container: Container
  readonly position: number
}

/** Answers whether the path goes on with a child; undefined where that is unknown. */
type PathFilter = (loop: Loop) => boolean | undefined

/** Children of a container that a level leads to, before its filter. */
export type PathStep =
  | { readonly by: 'all' }
  /** Entries of a map whose keys are among these, which are sorted and unique. */
  | { readonly by: 'keys'; readonly keys: readonly Value[] }
  | ContextLevel

interface PathLevel {
  readonly step: PathStep
  readonly filter: PathFilter | undefined
}

export interface Path {
  readonly levels: readonly PathLevel[]
  /** Children whose filter or new value is unknown are passed over, and do not fail the call. */
  readonly noFail: boolean
}
