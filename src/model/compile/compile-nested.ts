import type { MemberNote } from '../declaration.js'
import type { EmbeddableModel, EntityModel } from '../model.js'
import type { ConsolidateOptions } from '../options.js'
import { CHILD_KEY_END, childrenOf } from '../part-relations.js'
import type { Compilation, PartNotes } from './compilation.js'
import { compileConsolidate } from './compile-consolidate.js'
import type { RelationDraft } from './relation-draft.js'
import type { Place, Problems } from './problems.js'
import { relationTargets } from './relation-target.js'
import type { RelationDecorator, StrategyRules } from './strategies.js'

const READ_ALONG = 'children of a part are read and written with it'

/** Options that have nothing to act on, and why. */
const REFUSED: { readonly [O in keyof ConsolidateOptions]?: string } = {
  sortKeyName: `${READ_ALONG}, so their order is not stored`,
  cap: `${READ_ALONG}, so that the server does not know their order`,
  expect: 'the size of a record is expected at its own collections',
  inverseIndex: 'an index belongs to the record that holds the parts',
}

/** Consolidated children of a part: entries of the part's own map, read and written with it. */
export function compileNested(
  notes: PartNotes,
  note: MemberNote<RelationDecorator>,
  rules: StrategyRules,
  compilation: Compilation,
): RelationDraft | undefined {
  const { problems } = compilation
  const place = { className: notes.name, property: note.property }
  const [target, other] = relationTargets(note, rules, place, compilation) ?? []
  if (target?.kind !== 'embeddable') return undefined
  if (other !== undefined) {
    const message = 'Children of a part are of one class.'
    problems.add('SKEIN_1049', place, message, `Name one class: () => ${target.name}.`)
  }
  const options = note.options as ConsolidateOptions
  const add = (message: string, fix: string): void => problems.add('SKEIN_1049', place, message, fix)
  for (const [option, why] of Object.entries(REFUSED))
    if (option in options) add(`${option} is not for the children of a part: ${why}.`, fixOf(option, note.property))
  if (options.eager === false) add(`eager: false is not for the children of a part: ${READ_ALONG}.`, 'Leave eager out.')
  if (note.inverse !== undefined)
    problems.add('SKEIN_1043', place, 'Children of a part have no other side.', `Leave out '${note.inverse}'.`)
  if (notes.embeddable?.layout === 'tuple')
    add(
      `${notes.name} is stored as a tuple, which has no place for children.`,
      `Leave the layout out of ${notes.name}.`,
    )
  if (target.embeddable?.parent !== undefined)
    add(
      `The id of ${target.name} leads to a record by its ${target.embeddable.parent}, and not to the part that would hold it.`,
      `Leave parent out of ${target.name}.`,
    )
  const bin = options.name ?? note.property
  const { sortKey, orders } = compileConsolidate(
    { strategy: options.strategy, sortKey: options.sortKey, orders: options.orders },
    bin,
    target,
    place,
    compilation,
    undefined,
  )
  return {
    name: note.property,
    kind: 'oneToMany',
    strategy: rules.strategy,
    holds: 'collection',
    target: target.name,
    owner: true,
    bin,
    onDelete: 'detach',
    orphans: 'keep',
    eager: true,
    ...(sortKey && { sortKey }),
    // Children of a part are sorted in memory: no bin holds the order.
    ...(orders && { orders: orders.map((order) => ({ ...order, bin: '' })) }),
  }
}

const fixOf = (option: string, property: string): string =>
  option === 'inverseIndex'
    ? `Declare it at the collection of the record: inverseIndex: { '${property}.…': {} }.`
    : `Leave ${option} out.`

/** Children are entries beside the fields of their part: no field may look like one. */
export function checkChildKeys(
  className: string,
  fields: readonly { readonly name: string; readonly bin?: string; readonly holds?: string }[],
  problems: Problems,
): void {
  for (const { name, bin = name, holds } of fields) {
    if (holds !== 'collection') continue
    const other = fields.find((each) => (each.bin ?? each.name).startsWith(bin + CHILD_KEY_END))
    if (other === undefined) continue
    const message = `The field of ${className}.${other.name} begins with '${bin}${CHILD_KEY_END}', as the children of ${name} do.`
    problems.add(
      'SKEIN_1012',
      { className, property: other.name },
      message,
      "Give it another with the option name: '…'.",
    )
  }
}

/** Parts with children of their own are consolidated children: nothing else knows them one by one. */
export function checkNested(
  entities: Iterable<EntityModel>,
  parts: ReadonlyMap<string, EmbeddableModel>,
  problems: Problems,
): void {
  const check = (place: Place, name: string | undefined): void => {
    const part = name === undefined ? undefined : parts.get(name)
    const [child] = part === undefined ? [] : childrenOf(part)
    if (child === undefined) return
    const message = `${name} has children of its own (${child.name}), so it can only be a consolidated child.`
    problems.add('SKEIN_1053', place, message, `Store it as @OneToMany(() => ${name}, { strategy: 'consolidate' }).`)
  }
  for (const { name: className, properties, relations } of [...entities, ...parts.values()]) {
    for (const { name: property, type } of properties) {
      let inner = type
      while (inner.kind === 'map') inner = inner.value
      if (inner.kind === 'embedded') check({ className, property }, inner.part)
    }
    for (const { name: property, attributes } of relations) check({ className, property }, attributes)
  }
}
