import type { ConsolidateOptions } from '../options.js'
import { inversePath, type InverseIndexModel } from '../relation-model.js'
import { checkChoice, checkOptions } from './check-options.js'
import type { Compilation, PartNotes } from './compilation.js'
import { evaluateTarget, isRelation, mainNote } from './members.js'
import { didYouMean } from './nearest.js'
import type { Place } from './problems.js'
import { RELATIONS } from './strategies.js'

/** The inverse indexes of a consolidated collection: of references of its children (`author`), or of the children in these (`replies.author`). */
export function compileInverseIndexes(
  { inverseIndex = {} }: ConsolidateOptions,
  bin: string,
  part: PartNotes,
  place: Place,
  compilation: Compilation,
): InverseIndexModel[] {
  const { problems } = compilation
  return Object.entries(inverseIndex).map(([path, options = {}]) => {
    checkOptions(problems, options, ['name', 'onTargetDelete'], place, 'inverseIndex')
    checkChoice(problems, 'onTargetDelete', options.onTargetDelete, ['delete', 'keep'], place)
    const through = path.split('.')
    const ref = through.pop()!
    checkPath(path, through, ref, part, place, compilation)
    const name = options.name ?? `${through.at(-1) ?? bin}_${ref}`
    const onTargetDelete = options.onTargetDelete ?? 'keep'
    return { ref, ...(through.length > 0 && { through }), bin: name, onTargetDelete }
  })
}

/** The class of the parts that an index is about; undefined where its path leads nowhere. */
export function indexedPart(
  part: PartNotes | undefined,
  { through = [] }: Pick<InverseIndexModel, 'through'>,
  { parts }: Pick<Compilation, 'parts'>,
): PartNotes | undefined {
  return through.reduce<PartNotes | undefined>((at, name) => at && partIn(at, name, parts), part)
}

/** The option that gives the map of an index another name. */
export function inverseOption(index: InverseIndexModel): string {
  const path = inversePath(index)
  return `inverseIndex: { ${index.through === undefined ? path : `'${path}'`}: { name: '…' } }`
}

function checkPath(
  path: string,
  through: readonly string[],
  ref: string,
  part: PartNotes,
  place: Place,
  { problems, parts }: Compilation,
): void {
  const add = (message: string, fix: string): void => problems.add('SKEIN_1049', place, message, fix)
  const names = (at: PartNotes, isWanted: (at: PartNotes, name: string) => boolean): readonly string[] =>
    [...at.members.keys()].filter((name) => isWanted(at, name))
  let at = part
  for (const [i, name] of through.entries()) {
    const next = partIn(at, name, parts)
    if (next === undefined) {
      const isChildren = (holder: PartNotes, each: string): boolean => partIn(holder, each, parts) !== undefined
      const hint = didYouMean(name, names(at, isChildren))
      const message = `inverseIndex names '${path}', and ${at.name} has no consolidated children in '${name}'.`
      return add(message, `${hint}Name a collection of ${at.name}, then a @ManyToOne of what is in it.`)
    }
    if (next === at && through[i - 1] === name) {
      const message = `inverseIndex names '${path}', and an index on '${name}' covers every level of it already.`
      return add(message, `Name '${name}' once.`)
    }
    at = next
  }
  if (isRef(at, ref)) return
  const message = `inverseIndex names '${path}', which is not a reference of ${at.name}.`
  add(message, `${didYouMean(ref, names(at, isRef))}Name a @ManyToOne of ${at.name}.`)
}

function isRef(part: PartNotes, name: string): boolean {
  const note = mainNote(part, name)
  return note !== undefined && isRelation(note) && RELATIONS[note.decorator].holds === 'ref'
}

/** The class of the children that a part has in a collection. */
function partIn(part: PartNotes, name: string, parts: Compilation['parts']): PartNotes | undefined {
  const note = mainNote(part, name)
  if (note === undefined || !isRelation(note) || RELATIONS[note.decorator].holds !== 'collection') return undefined
  return parts.get(evaluateTarget(note.target) ?? Object)
}
