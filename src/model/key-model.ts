import type { KeyKind } from '../keys/index.js'

export type { KeyKind, KeyValue } from '../keys/index.js'

/** Ways to make a key when a new entity has none. */
export type KeyGenerator = 'uuid' | 'sortable' | { readonly hash: readonly string[] }

/** The key of an entity (or of a consolidated part). */
export interface KeyModel {
  /** The type of the finished user key; a template always makes a string. */
  readonly kind: KeyKind
  /** The type of the key that the record is stored under, which is what other records and indexes hold of it. */
  readonly storedKind: KeyKind
  /** Properties (or refs, which stand for the key they hold) that make up the key, in order. */
  readonly properties: readonly string[]
  /** The template, as declared, when the key is made of several properties. */
  readonly template?: string
  /** The placeholder that holds the key of another record: the parent's, or the one a part lives in. */
  readonly parent?: string
  readonly generate?: KeyGenerator
  /**
   * True when the session's tenant enters the key: at the placeholder `{tenant}` where the template has one, otherwise in front of it.
   * A class without it is shared by all tenants.
   */
  readonly tenant: boolean
}
