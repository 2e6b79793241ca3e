import type { EmbeddableModel, Model } from './model.js'
import type { InverseIndexModel, RelationModel } from './relation-model.js'

type Related = Pick<EmbeddableModel, 'relations'>

/** References of a part to records. */
export const refsOf = ({ relations }: Related): readonly RelationModel[] =>
  relations.filter(({ holds }) => holds === 'ref')

/** Collections of a part: its own consolidated children. */
export const childrenOf = ({ relations }: Related): readonly RelationModel[] =>
  relations.filter(({ holds }) => holds === 'collection')

/** The reference that an inverse index of children of that class lists. */
export function indexedRef(
  model: Pick<Model, 'embeddable'>,
  part: string,
  { through = [], ref }: InverseIndexModel,
): RelationModel {
  const inside = (of: string, name: string): RelationModel =>
    model.embeddable(of).relations.find((each) => each.name === name)!
  return inside(
    through.reduce((of, name) => inside(of, name).target, part),
    ref,
  )
}

/** Ends the name of a collection in the keys under which a part keeps its children. */
export const CHILD_KEY_END = '/'
