import { writeProperty } from '../../codec/index.js'
import { SkeinError } from '../../errors/index.js'
import type { DeletedOption } from '../../model/index.js'
import type { Binding } from '../contract/binding.js'
import type { Member } from '../contract/member.js'
import { attributesOfLinkRecord, nameOf, noAttributes } from '../contract/relation-errors.js'
import type { CollectionState } from '../state/collection-state.js'
import { askedBinding, isComplete } from './asked-collection.js'

/** The attributes of the link to a member; with `deleted` also of a link that was ended, as an object of its own. */
export async function askAttributes(
  state: CollectionState,
  member: Member,
  { deleted }: DeletedOption = {},
): Promise<object | null> {
  const live = deleted === 'only' ? null : await attributesOfLink(state, member)
  return deleted === undefined || live !== null ? live : endedAttributes(state, 'attributesOf', member)
}

async function attributesOfLink(state: CollectionState, member: Member): Promise<object | null> {
  const known = state.links.get(member)
  if (known !== undefined) return known.value
  if (isComplete(state) || state.isRemoved(member) || state.isAdded(member)) return null
  const binding = askedBinding(state, 'attributesOf')
  if (binding.strategy.links !== undefined) throw attributesOfLinkRecord(binding)
  if (binding.strategy.attributesOf === undefined) throw noAttributes(binding)
  return binding.strategy.attributesOf(binding.tracked, member, binding.reader)
}

async function endedAttributes(state: CollectionState, call: string, member: Member): Promise<object | null> {
  const binding = askedBinding(state, call)
  const key = state.keyOf(member)
  return key === null ? null : binding.strategy.ended!.attributesOf(binding.tracked, key, binding.reader)
}

/** Makes the link to a member again that was ended, with the attributes it had; false where there is no such link. */
export async function restoreLink(state: CollectionState, member: Member): Promise<boolean> {
  const binding = askedBinding(state, 'restore')
  if (binding.strategy.ended === undefined) throw notKept(binding)
  if (state.isAdded(member)) return false
  const attributes = await endedAttributes(state, 'restore', member)
  if (attributes === null || state.isAdded(member)) return false
  writeProperty(attributes, binding.strategy.ended.property, undefined)
  state.link(member, attributes)
  return true
}

function notKept(binding: Binding): SkeinError {
  const { tracked, relation } = binding
  const fix =
    relation.through === undefined
      ? 'Declare @DeletedAt() in the class of its attributes.'
      : 'Restore the record of the link: session.restore(await collection.linkOf(member, { deleted: "only" })).'
  return new SkeinError('SKEIN_2316', `The links of ${nameOf(binding)} do not stay when they are ended.`, {
    className: tracked.model.name,
    property: relation.name,
    fix,
  })
}
