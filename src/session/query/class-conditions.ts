import type { Tenant } from '../../keys/index.js'
import { TENANT } from '../../keys/index.js'
import { DELETING_BIN, type DeletedMode } from '../../model/index.js'
import { shownBy } from '../../plan/command.js'
import { bin, binExists, eq, not, value, type Expression } from '../../plan/expression.js'
import type { MappedClass } from '../mapping/mapped-class.js'

/** Conditions on every record of the class that a query may return, as far as the server can check them. */
export function classConditions(mapped: MappedClass, tenant: Tenant | undefined, deleted?: DeletedMode): Expression[] {
  const isOfClass = mapped.classGuards.flatMap((guard) => (guard.kind === 'filter' ? [guard.expression] : []))
  const shown = shownBy(mapped.model, deleted)
  return [
    ...isOfClass,
    ...tenantCondition(mapped, tenant),
    // Classes that no relation touches are deleted at once, and never marked.
    ...(mapped.standsAlone ? [] : [not(binExists(DELETING_BIN))]),
    ...(shown === undefined ? [] : [shown]),
  ]
}

/** Spares the server to send what would be left out here anyway; where the tenant stands in front of the key, no bin tells it. */
function tenantCondition({ model }: MappedClass, tenant: Tenant | undefined): Expression[] {
  const property = model.properties.find(({ name }) => name === TENANT)
  if (tenant === undefined || !model.key.tenant || property === undefined || !model.key.properties.includes(TENANT))
    return []
  return [eq(bin(typeof tenant === 'string' ? 'str' : 'int', property.bin), value(tenant))]
}
