import type { Driver } from '../../driver/driver.js'
import { describeKey, type Tenant } from '../../keys/index.js'
import type { Finding } from '../../relations/contract/finding.js'
import { isRefreshed } from '../copies/copies.js'
import type { CopyLinks } from '../copies/copy-links.js'
import { refreshing, staleCopies, type StaleCopy } from '../copies/stale-copies.js'
import type { MappedClass } from '../mapping/mapped-class.js'

/** Finds copies that are not what their source says. */
export async function* verifyCopies(
  mapped: MappedClass,
  copies: CopyLinks,
  driver: Driver,
  repair: boolean,
  tenant: Tenant | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Finding> {
  const links = copies.heldIn(mapped.model).filter(isRefreshed)
  if (links.length === 0) return
  for await (const { stale } of staleCopies(mapped, links, copies, driver, { tenant, signal }))
    for (const each of stale) yield await staleCopy(each, driver, repair)
}

async function staleCopy(stale: StaleCopy, driver: Driver, repair: boolean): Promise<Finding> {
  const { link, key, source } = stale
  const about = {
    kind: 'staleCopy',
    className: link.holder.name,
    property: link.property,
    key,
    otherClass: link.source.name,
    otherKey: source,
    truth: `${link.source.name}.${link.from}`,
    repair: 'copy',
    message: `${link.holder.name} ${describeKey(key)} has another ${link.property} than ${link.source.name} ${describeKey(source)} has in ${link.from}.`,
  } as const
  if (!repair) return { ...about, state: 'found' }
  const [{ state, reason, error }] = await driver.run([refreshing(stale)])
  if (state === 'written') return { ...about, state: 'repaired' }
  if (reason === 'missing' || reason === 'guard') return { ...about, state: 'leftAlone' }
  return { ...about, state: 'failed', ...(error === undefined ? {} : { error }) }
}
