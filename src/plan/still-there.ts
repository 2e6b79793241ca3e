import { DELETING_BIN, deletedBinOf, type DeletedMode, type EntityModel } from '../model/index.js'
import { goneUnless, type Guard } from './command.js'
import { and, binExists, not, type Expression } from './expression.js'

const NOT_DELETING = not(binExists(DELETING_BIN))
const WHILE_THERE = goneUnless(NOT_DELETING)
const softly = new WeakMap<EntityModel, Guard>()

/** The delete of the record has not begun, and it was not deleted softly. */
export function stillThere(model: EntityModel, deleted?: DeletedMode): Expression {
  const shown = shownBy(model, deleted)
  return shown === undefined ? NOT_DELETING : and(NOT_DELETING, shown)
}

/** Condition on a record of a class with soft deletes; undefined where none is needed. */
export function shownBy(model: EntityModel, deleted: DeletedMode | undefined): Expression | undefined {
  const bin = deletedBinOf(model)
  if (bin === undefined || deleted === 'include') return undefined
  return deleted === 'only' ? binExists(bin) : not(binExists(bin))
}

/** A record whose delete has begun, or that was deleted softly, counts as gone: it takes no new references. */
export function whileThere(model: EntityModel): Guard {
  if (model.deletedAt === undefined) return WHILE_THERE
  let guard = softly.get(model)
  if (guard === undefined) softly.set(model, (guard = softGuard(model)))
  return guard
}

function softGuard(model: EntityModel): Guard {
  const ifRemoved = { bin: deletedBinOf(model)!, guard: WHILE_THERE }
  return Object.freeze({ kind: 'filter', expression: stillThere(model), isGoneUnless: true, ifRemoved })
}
