import { kindsOf } from '../../model/index.js'
import { unknownKind } from '../context/session-errors.js'
import type { MappedClass } from '../mapping/mapped-class.js'

/** Throws unless a record of this class can be worked with unread: it is stored as exactly this class, which each command can ask for. */
export function checkKind(mapped: MappedClass): void {
  const { discriminator } = mapped.model
  if (discriminator === undefined) return
  if (discriminator.value === undefined || kindsOf(mapped.model).length > 1) throw unknownKind(mapped)
}
