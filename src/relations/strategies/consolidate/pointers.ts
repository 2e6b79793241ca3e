import type { WriteOperation } from '../../../plan/operation.js'
import { atKey, listAppendUnique, listRemoveValues, mapPutMissing } from '../../../plan/operations.js'
import { userKeyId, type UserKey } from '../../../plan/record-key.js'
import type { Value } from '../../../plan/value.js'

/** Parts by the key they point to, as an inverse index lists them. */
export class Pointers {
  readonly #parts = new Map<string, { readonly key: UserKey; readonly parts: Value[] }>()

  add(key: UserKey, part: Value): void {
    const entry = this.#parts.get(userKeyId(key))
    if (entry === undefined) this.#parts.set(userKeyId(key), { key, parts: [part] })
    else entry.parts.push(part)
  }

  get isEmpty(): boolean {
    return this.#parts.size === 0
  }

  get entries(): readonly { readonly key: UserKey; readonly parts: readonly Value[] }[] {
    return [...this.#parts.values()]
  }

  /** Puts them on their lists. A path never creates, so each list is there first. */
  listed(bin: string): readonly WriteOperation[] {
    return this.entries.flatMap(({ key, parts }) => [
      mapPutMissing(bin, key, []),
      listAppendUnique(bin, parts, [atKey(key)]),
    ])
  }

  /** Takes them off their lists, which may be empty then. */
  unlisted(bin: string): readonly WriteOperation[] {
    return this.entries.flatMap(({ key, parts }) => [
      mapPutMissing(bin, key, []),
      listRemoveValues(bin, parts, 'none', [atKey(key)]),
    ])
  }
}
