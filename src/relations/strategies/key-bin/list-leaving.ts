import { readProperty } from '../../../codec/index.js'
import type { KeyValue } from '../../../keys/index.js'
import type { Draft } from '../../../plan/draft.js'
import { isWrittenOrMissing, type Outcome } from '../../../plan/outcome.js'
import type { RecordKey } from '../../../plan/record-key.js'
import type { Reader } from '../../contract/reader.js'
import type { Tracked } from '../../contract/tracked.js'
import type { RefState } from '../../state/ref-state.js'
import { collectionStateOf } from '../../state/state-of.js'
import type { KeyBinSides } from './key-bin-sides.js'

/** Takes the key of an entity out of the list of an owner that it leaves. */
export class ListLeaving {
  readonly #sides: KeyBinSides

  constructor(sides: KeyBinSides) {
    this.#sides = sides
  }

  plan(
    tracked: Tracked,
    state: RefState,
    owner: KeyValue,
    draft: Draft,
    reader: Reader,
    stage: 'remove references' | 'undo' = 'remove references',
  ): void | Promise<void> {
    const { target, list, lists, upkeep } = this.#sides
    const parent = reader.recordKey(target, owner)
    const settle = (outcome: Outcome): boolean => {
      if (!isWrittenOrMissing(outcome)) return false
      state.lists.left(owner)
      const known = reader.known(target.name, owner)
      if (known) collectionStateOf(readProperty(known.entity, list!.name) as object).confirmRemoved(tracked.entity)
      // Another session may have moved it back since this one has moved it away.
      if (outcome.state === 'written' && tracked.state !== 'removed')
        upkeep!.check(tracked.key, { off: parent, on: this.#listedAt(state, reader) }, draft, reader)
      return true
    }
    return lists!.at(parent).remove({ owner: parent, member: tracked.key.key }, draft, stage, settle, reader)
  }

  #listedAt({ stored, lists }: RefState, reader: Reader): RecordKey | undefined {
    return stored === null || lists.toJoin !== undefined ? undefined : reader.recordKey(this.#sides.target, stored)
  }
}
