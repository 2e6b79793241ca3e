import { SkeinError } from '../../errors/index.js'
import type { KeyValue, Tenant } from '../../keys/index.js'
import { storedOrder, toLayout } from '../../plan/bin-layout.js'
import { goneUnless, read, write, type ReadCommand, type WriteCommand } from '../../plan/command.js'
import { and, binExists, type Expression } from '../../plan/expression.js'
import type { MapOrder } from '../../plan/operation.js'
import type { FoundRecord } from '../../plan/outcome.js'
import { query } from '../../plan/query-command.js'
import type { RecordKey } from '../../plan/record-key.js'
import { digestOf } from '../context/digest.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { layoutsOf, type PropertyLayout } from './class-layouts.js'

/** A list or map of a record, and the order that it is stored in. */
export interface StoredLayout {
  readonly layout: PropertyLayout
  readonly order: MapOrder
}

/** Lists and maps of one record. */
export interface StoredLayouts {
  readonly className: string
  readonly key: KeyValue
  readonly record: RecordKey
  readonly stored: readonly StoredLayout[]
  /** Lists and maps that are in another order than the class declares. */
  readonly different: readonly StoredLayout[]
}

/** Query for the keys, and for the lists and maps as the bytes that say their order. */
export function layoutQuery(mapped: MappedClass): ReturnType<typeof query> {
  const { name, namespace, set } = mapped.model
  return query({ entity: name, namespace, set, bins: layoutBins(mapped), raw: true })
}

/** Read of the same of one record. */
export const layoutRead = (mapped: MappedClass, key: RecordKey): ReadCommand => ({
  ...read(mapped.model.name, key, layoutBins(mapped)),
  raw: true,
})

function layoutBins({ codec, kinds }: MappedClass): readonly string[] {
  return [...new Set([...codec.binsOf([]), ...kinds.flatMap((kind) => layoutsOf(kind).map(({ bin }) => bin))])]
}

/** Returns undefined for a record of another tenant. */
export function storedLayouts(
  { bins, digest }: Pick<FoundRecord, 'bins' | 'digest'>,
  mapped: MappedClass,
  classes: MappedClasses,
  tenant: Tenant | undefined,
): StoredLayouts | 'unreadable' | undefined {
  try {
    const { codec, model } = mapped
    const readable = Object.fromEntries(codec.binsOf([]).map((name) => [name, bins[name]]))
    const entity = codec.hydrate(readable, new Set(model.key.properties))
    const own = classes.ofEntity(entity)
    const key = own.keyOfRead(entity, tenant)
    const record = own.recordKey(key, tenant)
    // A tenant that only stands in front of the key is in no bin.
    if (model.key.tenant && !digestOf(record).equals(digest)) return undefined
    const layouts = layoutsOf(own).map((layout) => ({ layout, order: storedOrder(layout.kind, bins[layout.bin]) }))
    const stored = layouts.filter((each): each is StoredLayout => each.order !== undefined)
    const different = stored.filter(({ layout, order }) => order !== layout.order)
    return { className: own.model.name, key, record, stored, different }
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error
    return error.code === 'SKEIN_2104' ? undefined : 'unreadable'
  }
}

/** Sets the layouts of one record; undefined where there is nothing to do. `indexes`: also of those whose order is right, for their index. */
export function conversion(
  { className, record, stored, different }: StoredLayouts,
  indexes = false,
): WriteCommand | undefined {
  const changed = stored.filter((each) => different.includes(each) || (indexes && each.layout.persistIndex))
  if (changed.length === 0) return undefined
  // A bin that was removed meanwhile would come back empty.
  const there = changed.map(({ layout }): Expression => binExists(layout.bin))
  return write(
    className,
    record,
    changed.map(({ layout }) => toLayout(layout)),
    { exists: 'mustExist', ttl: 'keep', guards: [goneUnless(there.length === 1 ? there[0] : and(...there))] },
  )
}
