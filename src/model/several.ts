import { keyOfTag, setOfTag, type KeyKind, type KeyValue } from '../keys/index.js'
import type { EntityModel } from './model.js'
import type { RelationModel } from './relation-model.js'

/** Name of what stands for one of several classes. */
export const severalName = (names: readonly string[]): string => names.join(' | ')

/** Names of the classes that a relation leads to. */
export const targetsOf = ({ target, several }: Pick<RelationModel, 'target' | 'several'>): readonly string[] =>
  several ?? [target]

/** Stands for one of several classes: what is asked of a target before a key says which it is. */
export function severalModel(classes: readonly EntityModel[]): EntityModel {
  const name = severalName(classes.map((each) => each.name))
  const isOne = (value: unknown): boolean => classes.some((each) => value instanceof (each.class as never))
  const [first] = classes
  return {
    ...first,
    name,
    class: Object.defineProperty(class {}, Symbol.hasInstance, { value: isOne }),
    key: { kind: 'string', storedKind: 'string', properties: [], tenant: classes.some(({ key }) => key.tenant) },
    deletedAt: classes.find(({ deletedAt }) => deletedAt !== undefined)?.deletedAt,
    properties: [],
    indexes: [],
    several: classes,
  }
}

/** The class and the key that a tagged key names; undefined where it names none of these. */
export function untag(
  { several = [] }: EntityModel,
  tagged: unknown,
  form: 'kind' | 'storedKind',
): { readonly model: EntityModel; readonly key: KeyValue } | undefined {
  const set = setOfTag(tagged)
  const model = set === undefined ? undefined : several.find((each) => each.set === set)
  const key = model && keyOfTag(tagged as string, model.key[form] satisfies KeyKind)
  return model === undefined || key === undefined ? undefined : { model, key }
}
