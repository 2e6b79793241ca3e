import type { Driver } from '../../driver/driver.js'
import { quoted, shown, SkeinError } from '../../errors/index.js'
import type { KeyValue, Tenant } from '../../keys/index.js'
import { checkFlag, checkNames, notValid, type NamesOf } from '../../model/call-options.js'
import type { EntityClass, OutsideTransaction } from '../../model/index.js'
import type { MapOrder } from '../../plan/operation.js'
import type { Outcome } from '../../plan/outcome.js'
import { checkTenant } from '../context/check-arguments.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { checkTenantIsOf, checkTenantType } from '../query/check-tenant-of.js'
import { refuseInTransaction } from '../transaction/transaction-scope.js'
import { layoutsOf } from './class-layouts.js'
import { isAhead, isPosition, positionIn, showPosition } from './layout-position.js'
import { conversion, layoutQuery, storedLayouts, type StoredLayout, type StoredLayouts } from './stored-layouts.js'
import type { Counted } from '../context/activity.js'

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

/** Progress of a run. */
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
  /** Position at which another run may go on. */
  readonly position: string
}

export interface LayoutOptions extends OutsideTransaction {
  /** All classes of the database unless given. */
  readonly classes?: readonly EntityClass[]
  /** Tenant whose records are wanted; of all classes, those with tenants are walked. */
  readonly tenant?: Tenant
  /** Called after each step of up to 1,000 records; a promise is awaited. */
  readonly progress?: (progress: LayoutProgress) => unknown
  readonly signal?: AbortSignal
}

export interface LayoutSyncOptions extends LayoutOptions {
  /** Gives the declared index also to lists and maps whose order is right: no server tells whether they have it. */
  readonly indexes?: boolean
  /** The `position` of an earlier run that ended. */
  readonly after?: string
}

const DIFF: NamesOf<LayoutOptions> = {
  classes: true,
  tenant: true,
  progress: true,
  signal: true,
  outsideTransaction: true,
}
const SYNC: NamesOf<LayoutSyncOptions> = { ...DIFF, indexes: true, after: true }

/** A wrong one would be noticed in the middle of the work, or not at all. */
function checkOptions(call: string, options: LayoutSyncOptions, known: NamesOf<object>): void {
  checkNames(call, options, known)
  const { classes, progress, indexes, after, outsideTransaction, tenant } = options
  checkTenant(tenant)
  if (classes !== undefined && !Array.isArray(classes))
    throw notValid(`The option classes of ${call} takes a list, not ${shown(classes)}.`, 'Write [Class].')
  if (progress !== undefined && typeof progress !== 'function')
    throw notValid(`${shown(progress)} is not a valid value for the option progress.`, 'Give a function.')
  if (after !== undefined && typeof after !== 'string') throw badPosition(after)
  checkFlag('indexes', indexes)
  checkFlag('outsideTransaction', outsideTransaction)
}

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
    checkOptions('layout.diff', options, DIFF)
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
    checkOptions('layout.sync', options, SYNC)
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
    const all = this.#setsOf(options.classes, tenant)
    if (from !== undefined && !(all.some(({ model }) => model.name === from.className) && isPosition(from)))
      throw badPosition(after!)
    const sets = from === undefined ? all : all.filter(({ model }) => isAhead(model.name, from))
    let last: LayoutProgress | undefined
    for (const mapped of sets) {
      let total = { records: 0, different: 0, converted: 0, failed: 0 }
      let position = from?.className === mapped.model.name ? from.position : undefined
      do {
        const page = await this.#driver.queryPage(layoutQuery(mapped), STEP, { after: position, signal })
        const read = page.records.map((record) => storedLayouts(record, mapped, this.#classes, tenant))
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
        await tell?.(last)
      } while (position !== undefined)
    }
    return last
  }

  /** A class for each set, in the order of their names; records of subclasses are found with their base. */
  #setsOf(classes: readonly EntityClass[] | undefined, tenant: Tenant | undefined): readonly MappedClass[] {
    const given = classes ?? [...this.#classes.model.entities.values()].map((model) => model.class)
    const bases = given.map((each) => {
      const { base, class: own } = this.#classes.of(each).model
      return this.#classes.of(base === undefined ? own : this.#classes.model.entity(base).class)
    })
    const sets = [...new Set(bases)].filter((mapped) => mapped.kinds.some((kind) => layoutsOf(kind).length > 0))
    return ofTenant(sets, tenant, classes !== undefined).sort((a, b) => (a.model.name < b.model.name ? -1 : 1))
  }
}

/** Classes whose records may belong to the tenant; throws where there is none, and for a class without tenants that is asked for by name. */
function ofTenant(sets: readonly MappedClass[], tenant: Tenant | undefined, isNamed: boolean): MappedClass[] {
  if (tenant === undefined) return [...sets]
  const kept = sets.filter(({ model }) => model.key.tenant)
  for (const mapped of kept) checkTenantType(mapped, tenant)
  for (const mapped of isNamed || kept.length === 0 ? sets : []) checkTenantIsOf(mapped, tenant, 'The layout')
  return kept
}

interface Done {
  readonly converted: number
  readonly failed: number
}
const NOTHING: Done = { converted: 0, failed: 0 }

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

function badPosition(position: unknown): SkeinError {
  return new SkeinError('SKEIN_2335', `${quoted(position)} is not a position of db.layout.`, {
    fix: 'Give the position that a run with the same classes reported, or leave it out.',
  })
}
