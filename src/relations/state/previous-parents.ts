import { userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import { REMEMBER, rememberFields } from './remember-fields.js'

/** Former parent of a member. */
export interface Former {
  readonly member: RecordKey
  readonly parent: UserKey
}

/** Parents that members were taken from and whose lists still name them: once the child says otherwise, nobody else remembers where it was. */
export class PreviousParents {
  readonly #data: { byMember: Map<string, Former> | undefined } = { byMember: undefined }

  get size(): number {
    return this.#data.byMember?.size ?? 0
  }

  get all(): readonly Former[] {
    return [...(this.#data.byMember?.values() ?? [])]
  }

  has({ key }: RecordKey): boolean {
    return this.#data.byMember?.has(userKeyId(key)) === true
  }

  /** Until it is done. */
  note(former: Former): void {
    this.#data.byMember ??= new Map()
    this.#data.byMember.set(userKeyId(former.member.key), former)
  }

  /** The list does not name the member any more; another former parent that was noted since stays. */
  done(former: Former): void {
    const id = userKeyId(former.member.key)
    if (this.#data.byMember?.get(id) === former) this.#data.byMember.delete(id)
  }

  /** The member goes back to where it was. */
  forget(member: RecordKey): void {
    this.#data.byMember?.delete(userKeyId(member.key))
  }

  clear(): void {
    this.#data.byMember = undefined
  }

  /** Returns a function that restores the current state. */
  [REMEMBER](): () => void {
    return rememberFields(this.#data)
  }
}
