import { readProperty } from '../../../codec/index.js'
import { userKeyId } from '../../../plan/record-key.js'
import type { Reader } from '../../contract/reader.js'
import type { RefState } from '../../state/ref-state.js'
import { refStateOf } from '../../state/state-of.js'
import type { End } from './key-pair-ends.js'

/** Marks the pair as partly sent: once the partner's record may have the change, its own must get it too. */
export function markPartlySent(end: End, reader: Reader): void {
  const state = endState(end, reader)
  state?.notePartlySent(!state.isStored)
}

/** The record no longer says so, or never did. */
export function settleParted(from: End, to: End, reader: Reader): void {
  settlePaired(from, undefined, reader, to)
  const key = reader.fromStored(from.model, from.key.key)
  const state = endState(to, reader)
  if (state === undefined) return
  state.lists.left(key)
  state.notePartlySent(!state.isStored && !state.isAt(key))
}

/** Updates the entity, if this session has it, to what its record holds now. */
export function settlePaired(end: End, to: End | undefined, reader: Reader, former?: End): void {
  const state = endState(end, reader)
  if (state === undefined) return
  if (to !== undefined) state.confirmPair(reader.fromStored(to.model, to.key.key))
  else if (state.stored !== null && userKeyId(state.stored) === userKeyId(former!.key.key)) state.confirmPair(null)
  else state.confirmPair(state.stored)
}

/** Undefined where this session does not have its entity. */
export function endState({ key, model, relation }: End, reader: Reader): RefState | undefined {
  const known = reader.known(model.name, reader.fromStored(model, key.key))
  return known === undefined ? undefined : refStateOf(readProperty(known.entity, relation.name) as object)
}
