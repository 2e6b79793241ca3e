import type { Draft } from '../../plan/draft.js'
import type { Outcome } from '../../plan/outcome.js'
import type { CollectionState } from './collection-state.js'
import type { Member } from '../contract/member.js'

/** Called for each record of a change: whether the record is as it should be, and the outcome of its command if there was one. */
export type Progress = (isDone: boolean, outcome?: Outcome) => boolean

/** Follows a change of a member through its records: once one of them may have it, all must get it, whatever the session forgets. */
export function progressOf(
  member: Member,
  records: number,
  state: CollectionState,
  draft: Draft,
  settle: () => void,
  notePartlySent = (): void => state.notePartlySent(member),
): Progress {
  let open = records
  return (isDone, outcome) => {
    const isSent = outcome !== undefined && outcome.state !== 'notWritten'
    // A transaction changes all of them or none.
    if (isSent && records > 1 && !draft.isTransaction) notePartlySent()
    if (isDone && --open === 0) settle()
    return isDone
  }
}
