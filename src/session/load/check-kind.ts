import { kindsOf } from '../../model/index.js'
import { kindInCompanions, unknownKind } from '../context/session-errors.js'
import type { MappedClass } from '../mapping/mapped-class.js'

/**
 * Throws unless a record of this class can be worked with unread: it is stored as exactly this class, which each command can ask for.
 * `creates` where its first write may make it.
 */
export function checkKind(mapped: MappedClass, creates: boolean): void {
  const { discriminator, relations } = mapped.model
  if (discriminator === undefined) return
  if (discriminator.value === undefined || kindsOf(mapped.model).length > 1) throw unknownKind(mapped)
  // Companions do not say which class their record is, and there is none to ask before it is made.
  const counter = creates ? mapped.shards?.counters[0]?.name : undefined
  const apart = counter ?? relations.find(({ companions }) => companions !== undefined)?.name
  if (apart !== undefined) throw kindInCompanions(mapped, apart)
}
