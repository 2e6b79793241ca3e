import type { SkeinError } from '../../../errors/index.js'
import type { KeyValue } from '../../../keys/index.js'
import { binEquals, remove } from '../../../plan/command.js'
import type { Draft, Settle } from '../../../plan/draft.js'
import { isOvertaken, type Outcome } from '../../../plan/outcome.js'
import type { UserKey } from '../../../plan/record-key.js'
import type { Reader } from '../../contract/reader.js'
import { ownerGone } from '../../contract/relation-errors.js'
import { modelAt, storedRef } from '../../contract/member.js'
import type { Tracked } from '../../contract/tracked.js'
import type { RefState } from '../../state/ref-state.js'
import { leaveUnlessThere, retarget } from '../../write/guarded-ref-write.js'
import { askOwner } from '../../write/owner-there.js'
import { isInKey } from '../../write/ref-in-key.js'
import { undoLink, undoReplacedLink } from '../../write/undo-link.js'
import type { KeyBinSides } from './key-bin-sides.js'

/** Undoes a reference whose owner turns out to be gone. */
export class OwnerGoneUndo {
  readonly #sides: KeyBinSides
  readonly #isEndOfLink: boolean

  constructor(sides: KeyBinSides, isEndOfLink: boolean) {
    this.#sides = sides
    this.#isEndOfLink = isEndOfLink
  }

  /** Nothing is written on an owner that finds us by index, so it is asked whether it is there and means to stay. */
  askOwner(tracked: Tracked, state: RefState, owner: KeyValue, draft: Draft, reader: Reader, isCreated: boolean): void {
    const key = reader.recordKey(this.#sides.target, owner)
    const target = modelAt(this.#sides.target, key)
    askOwner(target, key, draft, reader, (error) => {
      const why = error ?? ownerGone(target, reader.fromStored(target, key.key))
      // A record that was created alone where there are transactions: all of it is stored, or nothing.
      if (isCreated && draft.isTransaction) this.#planRemoval(tracked, owner, draft, reader, why)
      else this.plan(tracked, state, owner, draft, reader, why)
    })
  }

  /** Rolls back the creation of a record that points to nothing. */
  #planRemoval(tracked: Tracked, owner: KeyValue, draft: Draft, reader: Reader, error: SkeinError): void {
    const { model, key } = tracked
    const guards = [binEquals(this.#sides.model.bin!, this.#storedAs(owner, reader))]
    draft.add('undo', remove(model.name, key, { guards, durableDelete: model.durableDelete }), ({ state }) => {
      if (state === 'written') reader.startAnew(tracked)
      return error
    })
  }

  /** The owner is gone: nothing may point to it, so the entity goes back to the owner it had, whose list still has it. */
  plan(tracked: Tracked, state: RefState, owner: KeyValue, draft: Draft, reader: Reader, error?: SkeinError): void {
    // Without what is part of its key nobody could read the record: it stays as it is, and the error says so.
    if (isInKey(this.#sides.owner, this.#sides.model)) {
      if (this.#isEndOfLink) return this.#planLinkRemoval(tracked, owner, draft, reader, error)
      if (error !== undefined) throw error
      return
    }
    const { previousKey } = state
    if (state.isOthers) {
      state.leftToOthers(previousKey)
      if (error !== undefined) throw error
      return
    }
    const back = previousKey === null ? null : this.#storedAs(previousKey, reader)
    const command = retarget(
      this.#sides.owner,
      tracked.key,
      this.#sides.model.bin!,
      this.#storedAs(owner, reader),
      back,
    )
    draft.add('undo', command, (outcome) => {
      const isDone = this.#settleBack(tracked, state, outcome, draft, reader)
      return error ?? isDone
    })
  }

  #settleBack(tracked: Tracked, state: RefState, outcome: Outcome, draft: Draft, reader: Reader): boolean {
    const { previousKey } = state
    if (!isOvertaken(outcome)) {
      state.wentBack(previousKey)
      if (outcome.state !== 'written') state.doubtStored()
      else if (previousKey !== null) this.#returnTo(tracked, state, previousKey, draft, reader)
      return outcome.state === 'written'
    }
    // Others have deleted or moved the entity meanwhile, and do not know of the owner that still lists it.
    state.leftToOthers(previousKey)
    if (previousKey !== null) {
      const on = reader.recordKey(this.#sides.target, previousKey)
      this.#sides.upkeep?.check(tracked.key, { on }, draft, reader)
    }
    return true
  }

  /** The link record is as new as before. */
  #planLinkRemoval(tracked: Tracked, owner: KeyValue, draft: Draft, reader: Reader, error?: SkeinError): void {
    const { model, target } = this.#sides
    const gone = reader.recordKey(target, owner)
    const undone: Settle = ({ state }) => {
      if (state === 'written') reader.startAnew(tracked)
      return error ?? true
    }
    const remove = (): void => undoLink(tracked, model, gone, draft, reader, undone)
    const end = { model: modelAt(target, gone), key: gone }
    if (!undoReplacedLink(tracked, model, end, draft, undone, remove)) remove()
  }

  #storedAs(owner: KeyValue, reader: Reader): UserKey {
    return storedRef(this.#sides.target, reader.recordKey(this.#sides.target, owner))
  }

  /** The owner it goes back to may have been deleted while the entity named another one. */
  #returnTo(tracked: Tracked, state: RefState, owner: KeyValue, draft: Draft, reader: Reader): void {
    const key = reader.recordKey(this.#sides.target, owner)
    const lost = (): void => {
      if (state.isStoredAs(owner)) state.knowStored(null)
    }
    if (this.#sides.upkeep !== undefined) this.#sides.upkeep.putOn(tracked.key, key, draft, reader, lost)
    else if (this.#sides.indexed !== undefined)
      leaveUnlessThere(this.#sides.owner, tracked.key, this.#sides.model, this.#sides.target, key, draft, lost)
  }
}
