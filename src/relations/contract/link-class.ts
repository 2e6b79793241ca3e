import type { KeyValue } from '../../keys/index.js'
import type { EntityModel } from '../../model/index.js'
import type { Reader } from './reader.js'

/** The class of link records, as one end of them sees it. */
export interface LinkClass {
  readonly model: EntityModel
  /** The Ref of a link to the end that has the collection. */
  readonly near: string
  /** The class at that end, or what stands for the several that links may belong to. */
  readonly owners: EntityModel
  /** The Ref of a link to the other end. */
  readonly far: string
  /** The class at the other end, or what stands for several. */
  readonly target: EntityModel
  /** The collection of links there, where it has one. */
  readonly farCollection: string | undefined
}

/** The key of the link between two ends. */
export function linkKey(
  { model, near, far }: Pick<LinkClass, 'model' | 'near' | 'far'>,
  owner: KeyValue,
  member: KeyValue,
  reader: Pick<Reader, 'keyOfParts'>,
): KeyValue {
  return reader.keyOfParts(model, { [near]: owner, [far]: member })
}

/** The key of the far end of a link. */
export const farKey = ({ model, far }: LinkClass, link: KeyValue, reader: Pick<Reader, 'keyPart'>): KeyValue =>
  reader.keyPart(model, link, far)

/** True where links stay as they are when their far end is deleted softly: it has no collection that takes them along, so it is asked itself. */
export const outlivesEnd = ({ target, farCollection }: LinkClass): boolean =>
  farCollection === undefined && target.deletedAt !== undefined
