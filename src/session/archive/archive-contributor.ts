import { read, remove } from '../../plan/command.js'
import type { Draft } from '../../plan/draft.js'
import { isWrittenOrMissing } from '../../plan/outcome.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import type { Contributor } from '../../relations/contract/contributor.js'
import type { IndexedBy } from '../../relations/contract/index-lookup.js'
import type { Reader } from '../../relations/contract/reader.js'
import type { Tracked } from '../../relations/contract/tracked.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { companionKinds, hasGrowing } from './moved-companions.js'
import { indexedMembers, membersOf, type ArchivedClasses, type MovingMembers, type ReadRecord } from './move-members.js'

/**
 * Deletes what a move to the archive may have left when it was cut off, of the record and of all that moves along with it: it would look as
 * if it were archived. What belongs to another record by now stays.
 */
export class ArchiveContributor implements Contributor {
  readonly #classes: ArchivedClasses
  readonly #takesAlong: boolean

  constructor(classes: ArchivedClasses, takesAlong: boolean) {
    this.#classes = classes
    this.#takesAlong = takesAlong
  }

  hasChanges(): boolean {
    return false
  }

  save(): void {}

  remove({ model, key }: Tracked, draft: Draft, reader: Reader): void | Promise<void> {
    const mapped = this.#classes.of(model.name)
    this.#removeCopy(mapped, { ...key, namespace: model.archive! }, draft)
    if (!this.#takesAlong) return
    return this.#removeAlong(mapped, key, draft, reader)
  }

  async #removeAlong(mapped: MappedClass, key: RecordKey, draft: Draft, reader: Reader): Promise<void> {
    const { model } = mapped
    const [record] = await reader.read([read(model.name, key)])
    if (record === null) return
    await this.#below(mapped, [{ key, ...record }], draft, reader)
    if (!hasGrowing(model)) return
    // Members may have moved since the copy was made.
    const copy = { ...key, namespace: model.archive! }
    const [left] = await reader.direct.read([read(model.name, copy)])
    if (left !== null) this.#removeCompanions(mapped, [{ key: copy, ...left }], draft)
  }

  /** Level by level: members that are archived name those that were archived before them. */
  async #below(owner: MappedClass, records: readonly ReadRecord[], draft: Draft, reader: Reader): Promise<void> {
    const namespace = owner.model.archive!
    this.#removeCompanions(owner, records, draft)
    for (const { mapped, keys, belongs } of await this.#members(owner, records, reader)) {
      const copies = keys.map((key) => ({ ...key, namespace }))
      // The archive is another namespace, which no transaction reaches.
      const found = await reader.direct.read(copies.map((key) => read(mapped.model.name, key)))
      const own = copies.flatMap((key, i): ReadRecord[] => {
        const record = found[i]
        return record === null || !belongs(key, record.bins) ? [] : [{ key, bins: record.bins }]
      })
      for (const { key } of own) this.#removeCopy(mapped, key, draft)
      if (own.length > 0) await this.#below(mapped, own, draft, reader)
    }
  }

  #removeCompanions(owner: MappedClass, records: readonly ReadRecord[], draft: Draft): void {
    const namespace = owner.model.archive!
    for (const { key, bins } of records)
      for (const kind of companionKinds(this.#classes.ofEntity(owner.codec.hydrate(bins))))
        for (const home of kind.of({ ...key, namespace }, bins))
          if (draft.once(`remove copy ${recordId(home)}`)) this.#removeCopy(owner, home, draft)
  }

  /** Members that the records list, and those that an index of the archive finds. */
  async #members(
    owner: MappedClass,
    records: readonly ReadRecord[],
    reader: Reader,
  ): Promise<readonly MovingMembers[]> {
    const found = [...membersOf(owner, records, this.#classes)]
    const archive = owner.model.archive!
    const find = async function* (lookup: IndexedBy): AsyncGenerator<readonly RecordKey[]> {
      const { model } = lookup
      for await (const keys of reader.keysBy({ ...lookup, model: { ...model, namespace: archive } }))
        yield keys.map((key) => reader.recordKey(model, key))
    }
    for (const record of records)
      for await (const members of indexedMembers(owner, record, this.#classes, find)) found.push(members)
    return found
  }

  #removeCopy({ model: { name, durableDelete } }: MappedClass, copy: RecordKey, draft: Draft): void {
    draft.add('delete', remove(name, copy, { durableDelete }), isWrittenOrMissing)
  }
}
