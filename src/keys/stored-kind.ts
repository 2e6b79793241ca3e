import type { KeyKind } from './key-value.js'

/** The part that the session's tenant fills: `tenant:{tenant}:order:{orderId}`. */
export const TENANT = 'tenant'

interface TenantKey {
  readonly kind: KeyKind
  readonly properties: readonly string[]
  readonly tenant: boolean
}

/** True when the tenant is put in front of the key: the class has tenants, and its template does not place them. */
export const isPrefixed = ({ properties, tenant }: Omit<TenantKey, 'kind'>): boolean =>
  tenant && !properties.includes(TENANT)

/** The type of the key that the record is stored under: with a tenant in front, every key is text. */
export const storedKindOf = (key: TenantKey): KeyKind => (isPrefixed(key) ? 'string' : key.kind)
