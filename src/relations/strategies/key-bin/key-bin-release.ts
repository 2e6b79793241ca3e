import type { KeyValue } from '../../../keys/index.js'
import { read } from '../../../plan/command.js'
import { tolerating, type Draft } from '../../../plan/draft.js'
import { removeBin } from '../../../plan/operations.js'
import type { Outcome } from '../../../plan/outcome.js'
import type { UserKey } from '../../../plan/record-key.js'
import type { Reader } from '../../contract/reader.js'
import { storedRef } from '../../contract/member.js'
import type { Tracked } from '../../contract/tracked.js'
import type { RefState } from '../../state/ref-state.js'
import { retarget } from '../../write/guarded-ref-write.js'
import { linkWrite } from '../../write/link-bin.js'
import type { KeyBinSides } from './key-bin-sides.js'

/** An entity that the collection of the owner `left` has detached; `present`: the owner that a transaction reads. */
interface Release {
  readonly tracked: Tracked
  readonly state: RefState
  readonly left: KeyValue
  readonly present: KeyValue | null
}

/** A collection has detached it: that concerns its owner alone, and another session may have given it to another one meanwhile. */
export function planRelease(
  sides: KeyBinSides,
  release: Release,
  draft: Draft,
  reader: Reader,
  settled: (isDone: boolean, outcome: Outcome) => void,
): void {
  const { tracked, state, left, present } = release
  const { model, owner, target } = sides
  const settle = tolerating(['guard'], (isDone, outcome) => {
    if (outcome.reason === 'guard') learnOwner(sides, release, draft, reader)
    settled(isDone, outcome)
  })
  const name = model.bin!
  const command = retarget(owner, tracked.key, name, storedRef(target, reader.recordKey(target, left)), null)
  if (!draft.isTransaction) draft.addApart('write', command, settle)
  else if (!draft.isInside) draft.add('write', command, settle)
  else if (present === null || state.isStoredAs(present))
    draft.add('write', linkWrite(owner, tracked.key, [removeBin(name)]), (outcome) => settle(outcome))
  else state.takeStored(present)
}

function learnOwner(
  { model, owner, target }: KeyBinSides,
  { tracked, state }: Release,
  draft: Draft,
  reader: Reader,
): void {
  state.mustReread()
  const name = model.bin!
  draft.check(read(owner.name, tracked.key, [name]), (record) => {
    const stored = record?.bins[name] as UserKey | undefined
    state.takeStored(stored === undefined ? null : reader.fromStored(target, stored))
  })
}
