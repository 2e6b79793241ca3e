import type { EntityModel } from '../../model/index.js'
import { read } from '../../plan/command.js'
import type { Draft } from '../../plan/draft.js'
import { isWrittenOrMissing } from '../../plan/outcome.js'
import { userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import { retarget } from './guarded-ref-write.js'
import type { MemberStore } from '../contract/member-store.js'

/** Parents whose lists were changed. */
export interface Listed {
  readonly on?: RecordKey
  readonly off?: RecordKey
}

/**
 * Keeps the lists of parents in step with the bin of a child, which is the truth, while several sessions move that child: whoever has
 * changed a list reads the child afterwards, and where the two disagree changes the list again, until they do not.
 */
export class ListUpkeep {
  readonly #lists: MemberStore
  readonly #child: EntityModel
  readonly #childBin: string

  constructor(lists: MemberStore, child: EntityModel, childBin: string) {
    this.#lists = lists
    this.#child = child
    this.#childBin = childBin
  }

  /** Lists were changed outside of a transaction: `on` has the child now, as far as this session knows, and `off` does not. */
  check(child: RecordKey, { on, off }: Listed, draft: Draft): void {
    if (draft.isInside) return
    const bin = this.#childBin
    draft.check(read(this.#child.name, child, [bin]), (record) => {
      const now = record?.bins[bin] as UserKey | undefined
      const isNamed = (parent: RecordKey | undefined): boolean =>
        now !== undefined && parent !== undefined && userKeyId(now) === userKeyId(parent.key)
      if (isNamed(off)) this.putOn(child, off!, draft)
      if (on !== undefined && !isNamed(on)) this.#takeOff(child, on, draft)
    })
  }

  /** Puts a child on the list of the parent that its bin names; where that parent is gone, the bin must not name it. */
  putOn(child: RecordKey, parent: RecordKey, draft: Draft, onLost?: () => void): void {
    void this.#lists.add({ owner: parent, member: child.key }, draft, 'undo', ({ state, reason }) => {
      if (state === 'written') this.check(child, { on: parent }, draft)
      if (reason !== 'missing' && reason !== 'guard') return state === 'written'
      draft.add('undo', retarget(this.#child, child, this.#childBin, parent.key, null), (outcome) => {
        if (outcome.state === 'written') onLost?.()
        return outcome.reason === 'guard' || isWrittenOrMissing(outcome)
      })
      return true
    })
  }

  #takeOff(child: RecordKey, parent: RecordKey, draft: Draft): void {
    void this.#lists.remove({ owner: parent, member: child.key }, draft, 'undo', (outcome) => {
      if (outcome.state === 'written') this.check(child, { off: parent }, draft)
      return isWrittenOrMissing(outcome)
    })
  }
}
