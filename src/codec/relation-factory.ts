import type { RelationModel } from '../model/index.js'
import type { Value } from '../plan/value.js'

/** Makes the Ref or Collection of one relation from what is stored for it. */
export type RelationFactory = (
  owner: object,
  relation: RelationModel,
  stored: Value | undefined,
  isLoaded: boolean,
) => unknown
