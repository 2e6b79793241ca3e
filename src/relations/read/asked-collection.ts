import { SkeinError } from '../../errors/index.js'
import type { KeyValue } from '../../keys/index.js'
import type { QuestionOptions } from '../../model/related.js'
import type { Binding } from '../contract/binding.js'
import type { KeyRange } from '../contract/collection-members.js'
import { pagedByCursor } from '../contract/companion-errors.js'
import { outlivesEnd } from '../contract/link-class.js'
import { checkNumber, nameOf, noDeletedMembers, pagedOtherwise } from '../contract/relation-errors.js'
import type { CollectionState } from '../state/collection-state.js'

/** As many as the server can return. */
const ALL = 2 ** 31 - 1

/** True while there is no record that could hold more: what was added is all there is. */
export function isComplete({ binding, loaded }: CollectionState): boolean {
  return binding === undefined ? loaded.members === undefined : binding.tracked.state === 'new'
}

/** The session that a question is for, as the options say; throws where there is none. */
export function askedBinding(
  { binding }: CollectionState,
  call: string,
  { outsideTransaction = false, deleted }: QuestionOptions = {},
): Binding {
  if (binding === undefined || binding.tracked.state === 'gone') throw noSession(call)
  const bound = outsideTransaction ? { ...binding, reader: binding.reader.outside() } : binding
  if (deleted === undefined) return bound
  const { ended, links } = bound.strategy
  // The member at the end of an ended link may be there, or be deleted itself; so may a link whose end is deleted.
  const isAsked = ended !== undefined || (links !== undefined && outlivesEnd(links))
  const shown = isAsked ? 'include' : deleted
  return { ...bound, deleted, reader: bound.reader.withDeleted(shown) }
}

/** Refuses to show deleted members of a class whose deletes leave nothing to show. */
export function checkDeleted({ binding }: CollectionState, { deleted }: QuestionOptions = {}): void {
  if (deleted === undefined) return
  const isKnown = deleted === 'include' || deleted === 'only'
  const isPart = binding?.strategy.keyOf !== undefined
  const isSoft =
    binding === undefined || isPart || binding.tracked.state === 'gone'
      ? !isPart
      : binding.strategy.ended !== undefined ||
        binding.reader.entityModel(binding.relation.target).deletedAt !== undefined ||
        binding.strategy.links?.target.deletedAt !== undefined
  if (!isKnown || !isSoft) throw noDeletedMembers(binding, isKnown)
}

/** Refuses the option for a read of one link, which only its attributes can keep. */
export function checkEnded({ binding }: CollectionState, { deleted }: QuestionOptions = {}): void {
  if (deleted === undefined) return
  const isKnown = deleted === 'include' || deleted === 'only'
  if (!isKnown || (binding !== undefined && binding.strategy.ended === undefined))
    throw noDeletedMembers(binding, isKnown)
}

/** Undefined where all keys are meant. */
export function askedRange(
  { binding }: CollectionState,
  offset: number | undefined,
  count: number | undefined,
): KeyRange | undefined {
  if (offset === undefined && count === undefined) return undefined
  checkNumber('offset', offset ?? 0, -Infinity, binding)
  checkNumber('count', count ?? ALL, 0, binding)
  return { offset: offset ?? 0, count: count ?? ALL }
}

export function noNumbers({ relation, strategy }: Binding): SkeinError {
  return strategy.store === undefined ? pagedOtherwise(relation, 'after') : pagedByCursor(relation)
}

/** Keys of what was added to a collection that has nothing stored. */
export function addedKeys(state: CollectionState): KeyValue[] {
  const keys = state.added.map((member) => state.keyOf(member))
  if (keys.every((key): key is KeyValue => key !== null)) return keys
  throw noSession('keys')
}

export function noSession(call: string): SkeinError {
  return new SkeinError('SKEIN_2403', `${call}() of a collection outside a session has no server to ask.`, {
    fix: 'Load the entity that has it with session.load, or hand it to session.persist first.',
  })
}

export function notLoaded(binding: Binding | undefined): SkeinError {
  const name = binding === undefined ? '' : ` ${nameOf(binding)}`
  return new SkeinError('SKEIN_2402', `The collection${name} is not loaded.`, {
    className: binding?.tracked.model.name,
    property: binding?.relation.name,
    fix: 'Call await collection.load() first, or name the relation in { with: […] } when loading.',
  })
}
