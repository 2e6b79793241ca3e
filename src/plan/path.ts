import type { MapKey, Value } from './value.js'

/** A step down into a nested list or map; only a step with `create` makes a K-ordered map where it finds nothing. */
export type Step =
  | { readonly in: 'mapKey'; readonly key: MapKey; readonly create?: true }
  | { readonly in: 'mapIndex'; readonly index: number }
  | { readonly in: 'mapRank'; readonly rank: number }
  | { readonly in: 'listIndex'; readonly index: number }
  | { readonly in: 'listRank'; readonly rank: number }
  | { readonly in: 'listValue'; readonly value: Value }

export type Path = readonly Step[]
