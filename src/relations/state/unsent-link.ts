import { readProperty } from '../../codec/index.js'
import type { KeyValue } from '../../keys/index.js'
import type { Ref } from '../../model/index.js'
import type { Binding } from '../contract/binding.js'
import { farKey, type LinkClass } from '../contract/link-class.js'
import { isEntity, isNew, type Member } from '../contract/member.js'
import type { Reader } from '../contract/reader.js'
import { forgetChange, sideOf, type LinkValues } from './relation-side.js'

/** Forgets a change of a link record at its other end, too. True where nothing else is to be forgotten: a link that is not stored keeps its ends, of which its key is made. */
export function forgetLink(member: Member, { strategy: { links }, reader }: Binding): boolean {
  if (links === undefined) return false
  if (isEntity(member) && isNew(member, reader)) forgetUnsent(member, links, reader)
  else forgetStored(member, links, reader)
  return !isEntity(member) || isNew(member, reader)
}

function forgetUnsent(link: object, { far, farCollection }: LinkClass, reader: Reader): void {
  const ref = readProperty(link, far) as Ref<object>
  const end = ref.isLoaded ? ref.value : null
  // A link that the session has taken in is stored whoever lists it.
  if (end !== null && farCollection !== undefined && reader.tracked(link) === undefined)
    sideOf(readProperty(end, farCollection))?.revert(link)
}

function forgetStored(link: Member, links: LinkClass, reader: Reader): void {
  const { far, farCollection, model, target } = links
  const key = isEntity(link) ? reader.keyOf(link) : link
  const end = key === null ? undefined : reader.known(target.name, farKey(links, key, reader))?.entity
  if (end === undefined || farCollection === undefined) return
  const known = isEntity(link) ? link : reader.known(model.name, key!)?.entity
  sideOf(readProperty(end, farCollection))?.revert(link)
  if (known !== undefined) sideOf(readProperty(known, far))?.revert(end)
}

/** Forgets attributes that the other ends have given to stored links anew, and that are not sent. */
export function forgetRelinked(
  links: LinkValues,
  { relation, reader, tracked }: Binding,
  isSent: (key: KeyValue) => boolean,
): void {
  for (const [key, { snapshot }] of links.entries) {
    const end = snapshot !== undefined || isSent(key) ? undefined : reader.known(relation.target, key)
    if (end !== undefined) forgetChange(relation, tracked.entity, end.entity)
  }
}
