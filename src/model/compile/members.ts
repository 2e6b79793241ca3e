import type { MemberDecorator, MemberNote } from '../declaration.js'
import type { EntityClass } from '../model.js'
import type { ClassNotes } from './class-notes.js'
import type { Problems } from './problems.js'
import { isRelationDecorator, type RelationDecorator } from './strategies.js'

/** Decorators that only add to what another one on the same property says. */
const ADDITIONS: readonly MemberDecorator[] = ['Index', 'Sharded', 'Companion']

/** A property with the one decorator that says what it is, and those that add to it. */
export interface Member {
  readonly note: MemberNote
  readonly index?: MemberNote<'Index'>
  readonly sharded?: MemberNote<'Sharded'>
  readonly companion?: MemberNote<'Companion'>
}

/** The properties of a class, each with exactly one meaning; notes a problem where there are two or none. */
export function readMemberRoles(notes: ClassNotes, problems: Problems): Member[] {
  const members: Member[] = []
  for (const [property, all] of notes.members) {
    const place = { className: notes.name, property }
    const main = all.filter((note) => !ADDITIONS.includes(note.decorator))
    if (main.length === 0) {
      const only = `@${all[0].decorator}`
      problems.add('SKEIN_1026', place, `${only} stands alone.`, `Add what it is, for instance ${only}() @Bin().`)
    } else if (main.length > 1 || new Set(all.map((note) => note.decorator)).size < all.length) {
      const names = all.map((note) => `@${note.decorator}`).join(' and ')
      problems.add('SKEIN_1025', place, `It has ${names}, which contradict each other.`, 'Keep one of them.')
    } else {
      const index = all.find((note): note is MemberNote<'Index'> => note.decorator === 'Index')
      const sharded = all.find((note): note is MemberNote<'Sharded'> => note.decorator === 'Sharded')
      const companion = all.find((note): note is MemberNote<'Companion'> => note.decorator === 'Companion')
      if (sharded && companion) {
        const message = 'It has @Sharded and @Companion, and shards are companion records already.'
        problems.add('SKEIN_1025', place, message, 'Keep one of them.')
      }
      members.push({
        note: main[0],
        ...(index && { index }),
        ...(sharded && { sharded }),
        ...(companion && { companion }),
      })
    }
  }
  return members
}

/** The one note that says what a property is, when there is exactly one. */
export function mainNote(notes: ClassNotes, property: string): MemberNote | undefined {
  const main = notes.members.get(property)?.filter((note) => !ADDITIONS.includes(note.decorator))
  return main?.length === 1 ? main[0] : undefined
}

export function isRelation(note: MemberNote): note is MemberNote<RelationDecorator> {
  return isRelationDecorator(note.decorator)
}

/** Classes that a relation names: one, or those of a list; undefined where one of them is. */
export function evaluateTargets(target: (() => unknown) | undefined): readonly EntityClass[] | undefined {
  let several: unknown
  const one = evaluateTarget(() => (several = target?.()))
  if (one !== undefined) return [one]
  if (!Array.isArray(several) || several.length === 0) return undefined
  return several.every((each) => typeof each === 'function') ? (several as EntityClass[]) : undefined
}

/** True where a relation names a list of classes. */
export function namesSeveral(target: (() => unknown) | undefined): boolean {
  let several: unknown
  evaluateTarget(() => (several = target?.()))
  return Array.isArray(several)
}

/** Calls `() => Class`; undefined when that fails or gives no class, as in a cycle of imports that is not resolved yet. */
export function evaluateTarget(target: (() => unknown) | undefined): EntityClass | undefined {
  try {
    const result = target?.()
    return typeof result === 'function' ? (result as EntityClass) : undefined
  } catch (error) {
    if (error instanceof ReferenceError) return undefined
    throw error
  }
}
