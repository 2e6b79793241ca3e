import { SkeinError } from '../errors/index.js'
import type { KeyFormat, KeyParts } from './key-format.js'
import { describeKey, type KeyValue } from './key-value.js'

/** The placeholder that makes a class's records belong to a tenant: `tenant:{tenant}:order:{orderId}`. */
export const TENANT = 'tenant'

/** True when the keys of this form carry a tenant. */
export const hasTenant = (format: KeyFormat | undefined): boolean =>
  format?.template.placeholders.some((placeholder) => placeholder.property === TENANT) ?? false

/** Puts the session's tenant into the parts of a key; parts that name another tenant are refused (SKEIN_2104). */
export function withTenant(
  format: KeyFormat,
  parts: Readonly<Record<string, unknown>>,
  tenant: string | number | bigint | undefined,
): Readonly<Record<string, unknown>> {
  if (tenant === undefined || !hasTenant(format)) return parts
  const given = parts[TENANT]
  if (given === undefined || given === null) return { ...parts, [TENANT]: tenant }
  if (given !== tenant) throw foreignTenant(format, describeKey(given), tenant)
  return parts
}

/** Refuses a key of another tenant (SKEIN_2104). Keys that carry no tenant pass: such a class is shared by all. */
export function checkTenant(format: KeyFormat | undefined, key: KeyValue, tenant: string | number | bigint | undefined): void {
  if (tenant === undefined || format === undefined || !hasTenant(format)) return
  const parts: KeyParts = format.parse(key as string)
  if (parts[TENANT] !== tenant) throw foreignTenant(format, describeKey(key), tenant)
}

function foreignTenant(format: KeyFormat, shown: string, tenant: string | number | bigint): SkeinError {
  return new SkeinError('SKEIN_2104', `${format.className}: ${shown} does not belong to the session's tenant ${describeKey(tenant)}.`, {
    className: format.className,
    fix: 'Open a session for that tenant, or give a key of this one.',
  })
}
