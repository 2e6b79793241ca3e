import type { BinType } from '../bin-type.js'
import type { MemberNote } from '../declaration.js'
import type { EntityModel } from '../model.js'
import type { CopyModel } from '../property-model.js'
import { checkChoice } from './check-options.js'
import type { Compilation, EntityNotes, PartNotes } from './compilation.js'
import { evaluateTarget, mainNote, namesSeveral } from './members.js'
import type { Problems } from './problems.js'
import { typeOfProperty } from './value-type.js'

const REFRESH = ['onSave', 'background', 'never'] as const
const COPIED: readonly BinType['kind'][] = ['int', 'double', 'string', 'boolean', 'bytes', 'bigint', 'date', 'enum']

/** Type and source of a copied property. */
export function compileCopy(
  notes: EntityNotes | PartNotes,
  note: MemberNote<'Copy'>,
  { problems, entities }: Compilation,
): { readonly type: BinType; readonly copy: CopyModel } | undefined {
  const { of, from, refresh = 'onSave' } = note.options
  const place = { className: notes.name, property: note.property }
  if (!checkChoice(problems, 'refresh', refresh, REFRESH, place)) return undefined
  const refuse = (message: string, fix: string): undefined => void problems.add('SKEIN_1062', place, message, fix)
  const relation = namedBy(of)
  const reference = relation === undefined ? undefined : mainNote(notes, relation)
  if (relation === undefined || reference?.decorator !== 'ManyToOne')
    return refuse('It does not name a @ManyToOne of the same class.', 'Name one: @Copy((entity) => entity.owner, …).')
  if (namesSeveral(reference.target))
    return refuse(`${relation} leads to several classes.`, 'Copy from a reference to one class.')
  const target = entities.get(evaluateTarget(reference.target)!)
  // A class that is missing is reported for the reference itself.
  if (target === undefined) return undefined
  const source = mainNote(target, from)
  if (source?.decorator !== 'Bin')
    return refuse(`${target.name}.${from} is not a @Bin.`, `Name a property of ${target.name} with @Bin.`)
  const type = typeOfProperty(target, from)
  if (type === undefined) return undefined
  if (!COPIED.includes(type.kind))
    return refuse(`${target.name}.${from} is more than one value.`, `Copy a number, text, date or the like.`)
  return { type, copy: { relation, from, refresh } }
}

/** The one property that the function asks for. */
function namedBy(of: unknown): string | undefined {
  if (typeof of !== 'function') return undefined
  const names: string[] = []
  const probe = new Proxy(
    {},
    {
      get: (_, name) => {
        names.push(String(name))
        return undefined
      },
    },
  )
  try {
    ;(of as (entity: object) => unknown)(probe)
  } catch {
    return undefined
  }
  return names.length === 1 ? names[0] : undefined
}

/** Checks that what follows its source can be found from there. */
export function checkCopies(entities: ReadonlyMap<string, EntityModel>, problems: Problems): void {
  for (const entity of entities.values())
    for (const { name: property, copy } of entity.properties) {
      const relation = entity.relations.find(({ name }) => name === copy?.relation)
      if (copy?.refresh !== 'onSave' || relation === undefined) continue
      const isListed = entities.get(relation.target)?.relations.some(({ name }) => name === relation.inverse) === true
      const isIndexed = entity.indexes.some(({ bin, on }) => bin === relation.bin && on === 'value')
      if (isListed || isIndexed) continue
      const message = `When ${relation.target}.${copy.from} changes, nothing tells which ${entity.name} records have copies of it.`
      const fix = `Put @Index() on ${relation.name}, give ${relation.target} a collection of ${entity.name}, or use refresh: 'background' or 'never'.`
      problems.add('SKEIN_1062', { className: entity.name, property }, message, fix)
    }
}
