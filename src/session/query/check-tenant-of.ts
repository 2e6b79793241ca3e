import { SkeinError } from '../../errors/index.js'
import { describeKey, TENANT, type Tenant } from '../../keys/index.js'
import { notValid, shown } from '../../model/call-options.js'
import type { PropertyModel } from '../../model/index.js'
import type { QueryOptions } from '../../query/query-source.js'
import type { MappedClass } from '../mapping/mapped-class.js'

/** Refuses a query for a class with tenants that names none, and one whose tenant no key of the class can hold. */
export function checkTenantOf(
  mapped: MappedClass,
  tenant: Tenant | undefined,
  { allTenants = false }: QueryOptions,
): void {
  if (typeof allTenants !== 'boolean')
    throw notValid(`${shown(allTenants)} is not a valid value for the option allTenants.`, 'Use true or false.')
  if (allTenants && tenant !== undefined)
    throw notValid(`A query of the tenant ${describeKey(tenant)} cannot ask for all tenants.`, 'Leave out one of them.')
  if (!mapped.model.key.tenant) return
  if (tenant !== undefined) return checkTenantType(mapped, tenant)
  const isStored = tenantProperty(mapped) !== undefined
  if (!isStored || !allTenants) throw withoutTenant(mapped, isStored)
}

/** Refuses a tenant that no key of the class can hold. */
export function checkTenantType(mapped: MappedClass, tenant: Tenant): void {
  const property = tenantProperty(mapped)
  if (property !== undefined && (property.type.kind === 'string') !== (typeof tenant === 'string'))
    throw wrongTenant(mapped, tenant, property.type.kind)
}

const tenantProperty = ({ model: { key, properties } }: MappedClass): PropertyModel | undefined =>
  key.properties.includes(TENANT) ? properties.find(({ name }) => name === TENANT) : undefined

/** Refuses a tenant for a class that has none: it would change nothing. A session may have one for other classes. */
export function checkTenantIsOf({ model }: MappedClass, tenant: Tenant | undefined, call = 'A query'): void {
  if (tenant === undefined || model.key.tenant) return
  throw notValid(
    `${call} of ${model.name} takes no tenant: its records belong to none.`,
    'Leave it out, or give the class tenants: @Record({ tenant: true }).',
  )
}

function withoutTenant({ model: { name, namespace, set } }: MappedClass, isStored: boolean): SkeinError {
  const [or, all] = isStored ? ['', ', or ask for all of them: { allTenants: true }'] : ['or ', '']
  return new SkeinError('SKEIN_2105', `${name} belongs to tenants, and this query has none.`, {
    className: name,
    namespace,
    set,
    fix: `Name one: db.query(${name}, { tenant: '…' }), ${or}ask through a session that has one${all}.`,
  })
}

function wrongTenant({ model: { name } }: MappedClass, tenant: Tenant, type: string): SkeinError {
  return new SkeinError('SKEIN_2101', `The tenant ${describeKey(tenant)} is not a ${type}, as ${name}.tenant is.`, {
    className: name,
    property: TENANT,
    fix: 'Give the tenant in the type of the property.',
  })
}
