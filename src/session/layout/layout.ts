import type { Driver } from '../../driver/driver.js'
import { SkeinError } from '../../errors/index.js'
import type { KeyValue, Tenant } from '../../keys/index.js'
import type { EntityClass, OutsideTransaction } from '../../model/index.js'
import { storedOrder, toLayout } from '../../plan/bin-layout.js'
import { goneUnless, write, type WriteCommand } from '../../plan/command.js'
import { and, binExists, type Expression } from '../../plan/expression.js'
import type { MapOrder } from '../../plan/operation.js'
import type { FoundRecord, Outcome } from '../../plan/outcome.js'
import { query } from '../../plan/query-command.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { refuseInTransaction } from '../transaction/transaction-scope.js'
import { layoutsOf, type PropertyLayout } from './class-layouts.js'
import { isAhead, positionIn, showPosition } from './layout-position.js'

/** Lists or maps of one bin that are stored in another order than the class declares. */
export interface LayoutDifference {
  readonly className: string
  readonly property: string
  readonly bin: string
  readonly declared: MapOrder
  readonly stored: MapOrder
  /** Number of records. */
  readonly records: number
  /** Keys of the first of them. */
  readonly examples: readonly KeyValue[]
}

/** How far a run has come. */
export interface LayoutProgress {
  readonly className: string
  /** Records that were looked at. */
  readonly records: number
  /** Records whose lists and maps are stored in another order. */
  readonly different: number
  /** Records that were converted. */
  readonly converted: number
  /** Records that could not be written or do not say their key; another run finds them again. */
  readonly failed: number
  /** Where another run may go on. */
  readonly position: string
}

export interface LayoutOptions extends OutsideTransaction {
  /** All classes of the database unless given. */
  readonly classes?: readonly EntityClass[]
  /** Whose records, where the keys of a class belong to tenants. */
  readonly tenant?: Tenant
  /** Called after each step of up to 1,000 records. */
  readonly progress?: (progress: LayoutProgress) => void
  readonly signal?: AbortSignal
}

export interface LayoutSyncOptions extends LayoutOptions {
  /** Also gives the declared index to lists and maps whose order is right: whether they have it, no server tells. */
  readonly indexes?: boolean
  /** The `position` of an earlier run that ended. */
  readonly after?: string
}

/** Runs work that closing the database waits for, and refuses it afterwards. */
type Counted = <T>(work: () => Promise<T>) => Promise<T>

/** Records read and written together. */
const STEP = 1000
const EXAMPLES = 10

/**
 * The order of stored lists and maps against what the classes declare. A save never changes it; this does.
 *
 * @example
 * await db.layout.sync({ progress: ({ className, converted }) => console.log(className, converted) })
 */
export class Layout {
  readonly #driver: Driver
  readonly #classes: MappedClasses
  readonly #counted: Counted

  /** @internal */
  constructor(driver: Driver, classes: MappedClasses, counted: Counted) {
    this.#driver = driver
    this.#classes = classes
    this.#counted = counted
  }

  /** Reads all records of the classes and tells which lists and maps are stored in another order; a persisted index is not visible. */
  diff(options: LayoutOptions = {}): Promise<readonly LayoutDifference[]> {
    refuseInTransaction('layout.diff', options)
    return this.#counted(async () => {
      const found = new Map<string, LayoutDifference>()
      await this.#walk(options, (records) => {
        for (const record of records) for (const each of record.different) count(found, record, each)
        return Promise.resolve(NOTHING)
      })
      return [...found.values()]
    })
  }

  /** Converts what `diff` would find, in the server and without moving the data. Can be stopped and run again at any time. */
  sync(options: LayoutSyncOptions = {}): Promise<LayoutProgress | undefined> {
    refuseInTransaction('layout.sync', options)
    return this.#counted(() =>
      this.#walk(options, async (records) => {
        const outcomes = await this.#driver.run(
          records.flatMap((record) => conversion(record, options.indexes === true) ?? []),
          { signal: options.signal },
        )
        return {
          converted: outcomes.filter(({ state }) => state === 'written').length,
          failed: outcomes.filter(hasFailed).length,
        }
      }),
    )
  }

  async #walk(
    options: LayoutSyncOptions,
    step: (records: readonly StoredLayouts[]) => Promise<Done>,
  ): Promise<LayoutProgress | undefined> {
    const { progress: tell, signal, tenant, after } = options
    const from = after === undefined ? undefined : positionIn(after)
    const all = this.#setsOf(options.classes)
    if (from !== undefined && !all.some(({ model }) => model.name === from.className)) throw badPosition(after!)
    const sets = from === undefined ? all : all.filter(({ model }) => isAhead(model.name, from))
    let last: LayoutProgress | undefined
    for (const mapped of sets) {
      let total = { records: 0, different: 0, converted: 0, failed: 0 }
      let position = from?.className === mapped.model.name ? from.position : undefined
      do {
        const page = await this.#driver.queryPage(questionFor(mapped), STEP, { after: position, signal })
        const read = page.records.map((record) => this.#read(record, mapped, tenant))
        const records = read.filter((each) => typeof each === 'object')
        const { converted, failed } = await step(records)
        const unreadable = read.filter((each) => each === 'unreadable').length
        total = {
          records: total.records + page.records.length,
          different: total.different + records.filter(({ different }) => different.length > 0).length,
          converted: total.converted + converted,
          failed: total.failed + failed + unreadable,
        }
        position = page.next
        last = { className: mapped.model.name, ...total, position: showPosition(mapped.model.name, position) }
        tell?.(last)
      } while (position !== undefined)
    }
    return last
  }

  /** One class for each set, in the order of their names; records of subclasses are found with their base. */
  #setsOf(classes: readonly EntityClass[] | undefined): readonly MappedClass[] {
    const given = classes ?? [...this.#classes.model.entities.values()].map((model) => model.class)
    const bases = given.map((each) => {
      const { base, class: own } = this.#classes.of(each).model
      return this.#classes.of(base === undefined ? own : this.#classes.model.entity(base).class)
    })
    const sets = [...new Set(bases)].filter((mapped) => mapped.kinds.some((kind) => layoutsOf(kind).length > 0))
    return sets.sort((a, b) => (a.model.name < b.model.name ? -1 : 1))
  }

  /** Undefined for a record of another tenant. */
  #read(
    { bins }: FoundRecord,
    mapped: MappedClass,
    tenant: Tenant | undefined,
  ): StoredLayouts | 'unreadable' | undefined {
    try {
      const { codec, model } = mapped
      const readable = Object.fromEntries(codec.binsOf([]).map((name) => [name, bins[name]]))
      const entity = codec.hydrate(readable, new Set(model.key.properties))
      const own = this.#classes.ofEntity(entity)
      const key = own.codec.key.keyOf(entity)
      const layouts = layoutsOf(own).map((layout) => ({ layout, order: storedOrder(layout.kind, bins[layout.bin]) }))
      const stored = layouts.filter((each): each is StoredLayout => each.order !== undefined)
      const different = stored.filter(({ layout, order }) => order !== layout.order)
      return { className: own.model.name, key, record: own.recordKey(key, tenant), stored, different }
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error
      return error.code === 'SKEIN_2104' ? undefined : 'unreadable'
    }
  }
}

interface StoredLayout {
  readonly layout: PropertyLayout
  readonly order: MapOrder
}

interface StoredLayouts {
  readonly className: string
  readonly key: KeyValue
  readonly record: RecordKey
  readonly stored: readonly StoredLayout[]
  readonly different: readonly StoredLayout[]
}

interface Done {
  readonly converted: number
  readonly failed: number
}
const NOTHING: Done = { converted: 0, failed: 0 }

function questionFor({ model, codec, kinds }: MappedClass): ReturnType<typeof query> {
  const { name, namespace, set } = model
  const bins = new Set([...codec.binsOf([]), ...kinds.flatMap((kind) => layoutsOf(kind).map(({ bin }) => bin))])
  return query({ entity: name, namespace, set, bins: [...bins], raw: true })
}

/** Sets the layouts of one record; undefined where there is nothing to do. */
function conversion(
  { className, record, stored, different }: StoredLayouts,
  indexes: boolean,
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

/** A record that is gone, or whose bin is, needs no conversion. */
const hasFailed = ({ state, reason }: Outcome): boolean =>
  state !== 'written' && reason !== 'missing' && reason !== 'guard'

function count(
  found: Map<string, LayoutDifference>,
  { className, key }: StoredLayouts,
  { layout, order }: StoredLayout,
): void {
  const id = `${className} ${layout.bin} ${order}`
  const { property, bin, order: declared } = layout
  const known = found.get(id) ?? { className, property, bin, declared, stored: order, records: 0, examples: [] }
  const examples = known.examples.length < EXAMPLES ? [...known.examples, key] : known.examples
  found.set(id, { ...known, records: known.records + 1, examples })
}

function badPosition(position: string): SkeinError {
  return new SkeinError('SKEIN_2335', `'${position}' is not a position of db.layout.`, {
    fix: 'Give the position that a run with the same classes reported, or leave it out.',
  })
}
