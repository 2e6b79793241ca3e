import type { EntityModel, RelationModel } from '../../model/index.js'
import { read } from '../../plan/command.js'
import type { Draft } from '../../plan/draft.js'
import { isWrittenOrMissing, type StoredRecord } from '../../plan/outcome.js'
import { userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import { retarget } from './guarded-ref-write.js'
import { isInKey } from './ref-in-key.js'
import { undoLink } from './undo-link.js'
import { storedRef } from '../contract/member.js'
import type { OwnerLists } from '../contract/member-store.js'
import type { Reader } from '../contract/reader.js'

/** Parents whose lists were changed. */
interface Listed {
  readonly on?: RecordKey
  readonly off?: RecordKey
}

/**
 * Keeps the lists of parents in step with the bin of a child, which is the truth, while several sessions move that child: whoever has
 * changed a list reads the child afterwards, and where the two disagree changes the list again, until they do not.
 */
export class ListUpkeep {
  readonly #lists: OwnerLists
  readonly #child: EntityModel
  /** The child's reference to its parent. */
  readonly #ref: RelationModel
  /** True where the child is a link record, and the parent one of its two ends. */
  readonly #isLink: boolean

  constructor(lists: OwnerLists, child: EntityModel, ref: RelationModel, isLink: boolean) {
    this.#lists = lists
    this.#child = child
    this.#ref = ref
    this.#isLink = isLink
  }

  /** Lists were changed outside of a transaction: `on` has the child now, as far as this session knows, and `off` does not. */
  check(child: RecordKey, { on, off }: Listed, draft: Draft, reader: Reader): void {
    if (draft.isInside) return
    const { name, archive } = this.#child
    const judge = (record: StoredRecord | null, isArchived = false): void => {
      const now = record?.bins[this.#ref.bin!] as UserKey | undefined
      const isNamed = (parent: RecordKey | undefined): boolean =>
        now !== undefined && parent !== undefined && userKeyId(now) === userKeyId(storedRef(this.#ref, parent))
      if (isNamed(off) && !isArchived) this.putOn(child, off!, draft, reader)
      if (on !== undefined && !isNamed(on)) this.#takeOff(child, on, draft, reader)
    }
    const command = read(name, child, [this.#ref.bin!])
    draft.check(command, (record) => {
      if (record !== null || archive === undefined) return judge(record)
      // A child that is archived stays on the lists that it was on, and comes back to no other.
      draft.check({ ...command, key: { ...child, namespace: archive } }, (found) => judge(found, found !== null))
    })
  }

  /** Puts a child on the list of the parent that its bin names; where that parent is gone, the bin must not name it. */
  putOn(child: RecordKey, parent: RecordKey, draft: Draft, reader: Reader, onLost?: () => void): void {
    void this.#lists.at(parent).add({ owner: parent, member: child.key }, draft, 'undo', ({ state, reason }) => {
      if (state === 'written') this.check(child, { on: parent }, draft, reader)
      if (reason !== 'missing' && reason !== 'guard') return state === 'written'
      // Without what is part of its key nobody could read the record: a link goes with its end, any other stays for verify to report.
      if (isInKey(this.#child, this.#ref)) {
        if (this.#isLink) this.#undoLink(child, parent, draft, reader)
        return true
      }
      draft.add('undo', retarget(this.#child, child, this.#ref.bin!, storedRef(this.#ref, parent), null), (outcome) => {
        if (outcome.state === 'written') onLost?.()
        return outcome.reason === 'guard' || isWrittenOrMissing(outcome)
      })
      return true
    })
  }

  #undoLink(key: RecordKey, gone: RecordKey, draft: Draft, reader: Reader): void {
    undoLink({ model: this.#child, key }, this.#ref, gone, draft, reader, (outcome) => {
      return outcome.reason === 'guard' || isWrittenOrMissing(outcome)
    })
  }

  #takeOff(child: RecordKey, parent: RecordKey, draft: Draft, reader: Reader): void {
    void this.#lists.at(parent).remove({ owner: parent, member: child.key }, draft, 'undo', (outcome) => {
      if (outcome.state === 'written') this.check(child, { off: parent }, draft, reader)
      return isWrittenOrMissing(outcome)
    })
  }
}
