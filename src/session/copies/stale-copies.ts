import type { Driver } from '../../driver/driver.js'
import type { KeyValue, Tenant } from '../../keys/index.js'
import { DELETING_BIN } from '../../model/index.js'
import { read, type WriteCommand } from '../../plan/command.js'
import type { FoundRecord } from '../../plan/outcome.js'
import { query } from '../../plan/query-command.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import { sameValue } from '../../plan/same-value.js'
import type { Value } from '../../plan/value.js'
import { foundKey } from '../load/key-of-found.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { copyWrite } from './copy-upkeep.js'
import { sourceKey, type CopyLink, type CopyLinks } from './copy-links.js'

/** A copy that is not what its source says now. */
export interface StaleCopy {
  readonly link: CopyLink
  /** Key of the record as people use it. */
  readonly key: KeyValue
  readonly holder: RecordKey
  readonly source: UserKey
  /** Value of the source; null where it has none. */
  readonly value: Value | null
}

interface CheckedCopies {
  readonly records: number
  readonly stale: readonly StaleCopy[]
}

/** Records that are compared together: their sources are one batch read. */
const GROUP = 250

/** Reads all records of a class and their sources, and finds the copies that differ; those of a source that is gone are left alone. */
export async function* staleCopies(
  mapped: MappedClass,
  links: readonly CopyLink[],
  copies: CopyLinks,
  driver: Driver,
  { tenant, signal }: { readonly tenant?: Tenant; readonly signal?: AbortSignal },
): AsyncGenerator<CheckedCopies> {
  const { name: entity, namespace, set } = mapped.model
  const own = links.flatMap(({ bin, refBin }) => [bin, refBin])
  const bins = [...new Set([...mapped.codec.binsOf([]), ...own, DELETING_BIN])]
  for await (const found of driver.query(query({ entity, namespace, set, bins }), { signal }))
    for (let i = 0; i < found.length; i += GROUP) {
      signal?.throwIfAborted()
      const group = found.slice(i, i + GROUP)
      yield { records: group.length, stale: await compare(group, mapped, links, copies, driver, tenant, signal) }
    }
}

async function compare(
  group: readonly FoundRecord[],
  mapped: MappedClass,
  links: readonly CopyLink[],
  copies: CopyLinks,
  driver: Driver,
  tenant: Tenant | undefined,
  signal: AbortSignal | undefined,
): Promise<StaleCopy[]> {
  const asked = group.flatMap((record) => {
    const at = DELETING_BIN in record.bins ? undefined : keyOf(mapped, record, tenant)
    if (at === undefined) return []
    return links.flatMap((link) => {
      const source = record.bins[link.refBin] as UserKey | undefined
      return source === undefined ? [] : [{ link, source, bins: record.bins, key: at.key, holder: at.record }]
    })
  })
  const sources = new Map(asked.map(({ link, source }) => [idOf(link, source), { link, source }]))
  const commands = [...sources.values()].map(({ link, source }) =>
    read(link.source.name, sourceKey(link, source), copies.binsOf(link)),
  )
  const records = await driver.read(commands, { signal })
  const bySource = new Map([...sources.keys()].map((id, i) => [id, records[i]]))
  return asked.flatMap(({ link, source, bins, key, holder }) => {
    const record = bySource.get(idOf(link, source))
    if (record === null || record === undefined || DELETING_BIN in record.bins) return []
    const value = copies.valueIn(link, record.bins)
    const held = bins[link.bin] ?? null
    const isSame = value === null ? held === null : sameValue(value, held)
    return isSame ? [] : [{ link, key, holder, source, value }]
  })
}

/** Writes the value of the source. */
export const refreshing = ({ holder, source, link, value }: StaleCopy): WriteCommand =>
  copyWrite({ holder, source, copies: [{ link, value }] })

const idOf = (link: CopyLink, source: UserKey): string => `${recordId(sourceKey(link, source))} ${link.from}`

function keyOf(mapped: MappedClass, record: FoundRecord, tenant: Tenant | undefined) {
  try {
    return foundKey(mapped, record, tenant)
  } catch {
    // A record that does not say its key is reported as unreadable by `verify`.
    return undefined
  }
}
