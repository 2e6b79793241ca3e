/** A value that can be the user key of a record. */
export type KeyValue = string | number | bigint | Uint8Array
export type KeyKind = 'string' | 'int' | 'bigint' | 'bytes'

/** How a key is made when a new entity has none. */
export type KeyGenerator = 'uuid' | 'sortable' | { readonly hash: readonly string[] }

/** The key of an entity (or of a consolidated part). */
export interface KeyModel {
  /** The type of the finished user key; a template always makes a string. */
  readonly kind: KeyKind
  /** Properties (or refs, which stand for the key they hold) that make up the key, in order. */
  readonly properties: readonly string[]
  /** The template, as declared, when the key is made of several properties. */
  readonly template?: string
  readonly generate?: KeyGenerator
  /** True when the session's tenant is put in front of the key. */
  readonly tenant: boolean
}
