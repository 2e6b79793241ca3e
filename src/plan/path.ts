import type { MapKey, Value } from './value.js'

/**
 * A step down into a nested list or map. Only a step with `create` makes what it does not find: the entry, and the map itself, K-ordered
 * unless it has an `order`.
 */
export type Step =
  | { readonly in: 'mapKey'; readonly key: MapKey; readonly create?: true; readonly order?: 'keyValue' }
  | { readonly in: 'mapIndex'; readonly index: number }
  | { readonly in: 'mapRank'; readonly rank: number }
  | { readonly in: 'listIndex'; readonly index: number }
  | { readonly in: 'listRank'; readonly rank: number }
  | { readonly in: 'listValue'; readonly value: Value }

export type Path = readonly Step[]
