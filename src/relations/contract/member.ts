import type { KeyValue } from '../../keys/index.js'

/** The other end of a link: an entity, or the key of one that is not at hand. */
export type Member = object | KeyValue

export function isEntity(member: Member | null | undefined): member is object {
  return typeof member === 'object' && member !== null && !(member instanceof Uint8Array)
}
