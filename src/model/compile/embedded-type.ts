import type { EmbeddedType } from '../bin-type.js'
import { isNote, type MemberNote } from '../declaration.js'
import type { EmbeddableModel } from '../model.js'
import { checkChoice } from './check-options.js'
import type { Compilation, EntityNotes, PartNotes } from './compilation.js'
import { keyProperties } from './key-kind.js'
import { evaluateTarget, mainNote } from './members.js'
import type { Place } from './problems.js'
import { isTypeProblem } from './resolve-type.js'
import { listSubtype, mapSubtype, noSubtype } from './subtype.js'

/** The parts of a model, once they are compiled. */
export type PartModels = ReadonlyMap<string, EmbeddableModel>

/** The type of an `@Embedded` property. `models` is needed where the fields become bins of the record. */
export function embeddedType(
  notes: EntityNotes | PartNotes,
  note: MemberNote<'Embedded'>,
  compilation: Compilation,
  models?: PartModels,
): EmbeddedType | undefined {
  const { problems } = compilation
  const { as = 'one', key, layout = 'map' } = note.options
  const place = { className: notes.name, property: note.property }
  const part = findPart(note, place, compilation)
  if (!checkChoice(problems, 'as', as, ['one', 'array', 'map'], place)) return undefined
  if (!checkChoice(problems, 'layout', layout, ['map', 'bins'], place)) return undefined
  if (!checkChoice(problems, 'key', key, ['string', 'int', 'bigint'], place)) return undefined
  if (layout === 'bins' && (as !== 'one' || notes.kind === 'embeddable')) {
    const message = `layout: 'bins' is for one part at the top of a record, not for ${as === 'one' ? 'a part inside a part' : `as: '${as}'`}.`
    problems.add('SKEIN_1049', place, message, "Leave layout out, or say layout: 'map'.")
    return undefined
  }
  if (!part) return undefined
  checkGenerated(part, place, compilation)
  const subtype =
    as === 'one' ? noSubtype(note.options) : as === 'array' ? listSubtype(note.options) : mapSubtype(note.options)
  if (isTypeProblem(subtype)) {
    problems.add(subtype.code, place, subtype.message, subtype.fix)
    return undefined
  }
  const tuple = part.embeddable?.layout === 'tuple' && ({ tuple: true } as const)
  if (tuple && as === 'one') {
    const message = `${part.name} is stored as a tuple, which is for the items of a list or the values of a map.`
    problems.add('SKEIN_1049', place, message, `Say as: 'array' or as: 'map', or leave the layout out of ${part.name}.`)
    return undefined
  }
  if (as === 'map')
    return { kind: 'embedded', shape: 'map', key: key ?? 'string', part: part.name, ...tuple, ...subtype }
  if (as === 'array') return { kind: 'embedded', shape: 'array', part: part.name, ...tuple, ...subtype }
  if (layout === 'map') return { kind: 'embedded', shape: 'one', part: part.name }
  return inBins(part, embeddedPrefix(note), place, compilation, models)
}

/** An embedded part is not looked for by its id, so nobody would notice that none was made. */
function checkGenerated(part: PartNotes, place: Place, { problems }: Compilation): void {
  const key = keyProperties(part).find((name) => {
    const note = mainNote(part, name)
    return note !== undefined && isNote(note, 'Key') && note.options.generate !== undefined
  })
  if (key === undefined) return
  const message = `${part.name}.${key} is generated, which is done for consolidated children and not for embedded parts.`
  const fix = `Leave generate out of ${part.name}.${key}, or store the parts as @OneToMany with the strategy 'consolidate'.`
  problems.add('SKEIN_1006', place, message, fix)
}

/** Prefix of the bins of a part in `layout: 'bins'`. */
export function embeddedPrefix({ property, options }: MemberNote<'Embedded'>): string {
  return options.prefix ?? `${property}_`
}

function inBins(
  part: PartNotes,
  prefix: string,
  place: Place,
  { problems }: Compilation,
  models: PartModels | undefined,
): EmbeddedType | undefined {
  const model = models?.get(part.name)
  if (!model) return undefined
  if (model.relations.length > 0) {
    const message = `${part.name} has references (${model.relations[0].name}), which cannot be bins of the record.`
    problems.add('SKEIN_1049', place, message, "Say layout: 'map', or declare the reference on the record's class.")
  }
  const fields = model.properties.map(({ name, bin, type }) => ({ name, bin: prefix + bin, type }))
  return { kind: 'embedded', shape: 'bins', part: part.name, fields }
}

function findPart(note: MemberNote<'Embedded'>, place: Place, compilation: Compilation): PartNotes | undefined {
  const { problems } = compilation
  const target = evaluateTarget(note.target)
  if (!target) {
    problems.add('SKEIN_1040', place, 'The class of its part is undefined.', circularFix())
    return undefined
  }
  const part = compilation.parts.get(target)
  if (!part) {
    const isRecord = compilation.entities.has(target)
    problems.add(
      'SKEIN_1053',
      place,
      `${target.name} is ${isRecord ? 'a record of its own' : 'not an @Embeddable'}, so it cannot be embedded.`,
      isRecord ? 'Make it a relation, such as @OneToOne.' : `Decorate ${target.name} with @Embeddable().`,
    )
  }
  return part
}

/** Fix for a class that is undefined when the model is compiled. */
export function circularFix(): string {
  return 'Give it as () => Class, check the export, and compile the model after all modules are loaded.'
}
