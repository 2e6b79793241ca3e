import type { EmbeddableModel } from './model.js'
import type { RelationModel } from './relation-model.js'

type Related = Pick<EmbeddableModel, 'relations'>

/** References of a part to records. */
export const refsOf = ({ relations }: Related): readonly RelationModel[] =>
  relations.filter(({ holds }) => holds === 'ref')

/** Collections of a part: its own consolidated children. */
export const childrenOf = ({ relations }: Related): readonly RelationModel[] =>
  relations.filter(({ holds }) => holds === 'collection')

/** Ends the name of a collection in the keys under which a part keeps its children. */
export const CHILD_KEY_END = '/'
