import type { BinType } from '../bin-type.js'
import type { ConsolidateOptions } from '../options.js'
import type { CapModel, OrderModel, RelationModel } from '../relation-model.js'
import { checkChoice, checkOptions, isNameList, show } from './check-options.js'
import type { Compilation, PartNotes } from './compilation.js'
import { compileInverseIndexes } from './compile-inverse-index.js'
import { mainNote } from './members.js'
import { didYouMean, oneOf } from './nearest.js'
import type { Place, Problems } from './problems.js'
import { typeOfProperty } from './value-type.js'

const SORTABLE: readonly BinType['kind'][] = ['int', 'bigint', 'date', 'string', 'enum']

/** Lists also sort doubles, which have no text in their order. */
const IN_LISTS: readonly BinType['kind'][] = [...SORTABLE, 'double']

/** The options that only consolidated collections have. */
export function compileConsolidate(
  options: ConsolidateOptions,
  bin: string,
  part: PartNotes,
  place: Place,
  compilation: Compilation,
  apart: { readonly by?: string; readonly on?: string } | undefined,
): Pick<RelationModel, 'sortKey' | 'sortKeyBin' | 'orders' | 'cap' | 'inverseIndexes'> {
  const { problems } = compilation
  const by = apart?.on === undefined ? options.sortKey : (options.sortKey ?? [apart.on])
  const sortKey = compileSortKey('sortKey', by, SORTABLE, part, place, problems)
  if (sortKey && apart?.on !== undefined && sortKey[0] !== apart.on) {
    const message = `sortKey begins with '${sortKey[0]}', but children by ${apart.by} are in the order of '${apart.on}'.`
    problems.add('SKEIN_1051', place, message, `Begin it with '${apart.on}', or leave it out.`)
  }
  const orders = compileOrders(options.orders, bin, part, place, problems)
  const cap = compileCap(options.cap, place, problems)
  const inverseIndexes = compileInverseIndexes(options, bin, part, place, compilation)
  if (cap && apart) {
    const message =
      'A capped collection drops children as part of each write, which sees one record and not all that hold them.'
    problems.add('SKEIN_1049', place, message, 'Leave out cap, or @Sharded and @Companion.')
  }
  if (cap && inverseIndexes.length > 0) {
    const message = 'A capped collection drops children on the server, which would leave them in the inverse index.'
    problems.add('SKEIN_1049', place, message, 'Leave out cap or inverseIndex.')
  }
  if (cap && orders.length > 0) {
    const message = 'A capped collection drops children on the server, which would leave them in the other orders.'
    problems.add('SKEIN_1049', place, message, 'Leave out cap or orders.')
  }
  return {
    ...(orders.length > 0 && { orders }),
    ...(sortKey && { sortKey, sortKeyBin: options.sortKeyName ?? `${bin}.ids` }),
    ...(cap && { cap }),
    ...(inverseIndexes.length > 0 && { inverseIndexes }),
  }
}

function compileOrders(
  orders: ConsolidateOptions['orders'],
  bin: string,
  part: PartNotes,
  place: Place,
  problems: Problems,
): OrderModel[] {
  return Object.entries(orders ?? {}).map(([name, given]) => {
    const properties = compileSortKey(`orders.${name}`, given, IN_LISTS, part, place, problems) ?? []
    for (const property of properties) {
      if (mainNote(part, property)?.decorator !== 'Counter') continue
      const message = `orders.${name} names '${property}', which is a counter: the server adds to it without moving the child.`
      problems.add('SKEIN_1049', place, message, `Make ${part.name}.${property} a @Bin, or leave it out.`)
    }
    return { name, properties, bin: `${bin}_${name}` }
  })
}

function compileSortKey(
  option: string,
  sortKey: readonly string[] | undefined,
  sortable: readonly BinType['kind'][],
  part: PartNotes,
  place: Place,
  problems: Problems,
): readonly string[] | undefined {
  if (sortKey === undefined) return undefined
  if (!isNameList(sortKey)) {
    problems.add(
      'SKEIN_1049',
      place,
      `${option}: ${show(sortKey)} names no property.`,
      `Give a list of properties: ['score'].`,
    )
    return undefined
  }
  const isSortable = (name: string): boolean => {
    const type = typeOfProperty(part, name)
    return type !== undefined && sortable.includes(type.kind)
  }
  for (const property of sortKey.filter((name) => !isSortable(name))) {
    const message = `${option} names ${show(property)}, which is not a property of ${part.name} that can be put in order.`
    const hint = didYouMean(String(property), [...part.members.keys()].filter(isSortable))
    problems.add('SKEIN_1049', place, message, `${hint}Name ${oneOf(sortable)} properties of ${part.name}.`)
  }
  return [...sortKey]
}

function compileCap(cap: CapModel | undefined, place: Place, problems: Problems): CapModel | undefined {
  if (cap === undefined) return undefined
  checkOptions(problems, cap, ['keep', 'by'], place, 'cap')
  checkChoice(problems, 'cap.by', cap.by ?? null, ['first', 'last'], place)
  if (!Number.isInteger(cap.keep) || cap.keep < 1) {
    problems.add(
      'SKEIN_1049',
      place,
      `cap.keep: ${show(cap.keep)} is not a number of children.`,
      'Give a whole number from 1.',
    )
  }
  return { keep: cap.keep, by: cap.by }
}
