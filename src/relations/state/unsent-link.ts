import { readProperty } from '../../codec/index.js'
import type { Ref } from '../../model/index.js'
import type { Binding } from '../contract/binding.js'
import { isNew } from '../contract/member.js'
import { sideOf } from './relation-side.js'

/** Forgets a link record that is not stored at its other end, too; it keeps its ends, of which its key is made. False for all others. */
export function forgetUnsentLink(member: object, { strategy: { links }, reader }: Binding): boolean {
  if (links === undefined || !isNew(member, reader)) return false
  const { far, farCollection } = links
  const ref = readProperty(member, far) as Ref<object>
  const end = ref.isLoaded ? ref.value : null
  // A link that the session has taken in is stored whoever lists it.
  if (end !== null && farCollection !== undefined && reader.tracked(member) === undefined)
    sideOf(readProperty(end, farCollection))?.revert(member)
  return true
}
