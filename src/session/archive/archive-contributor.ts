import { read, remove } from '../../plan/command.js'
import type { Draft } from '../../plan/draft.js'
import { isWrittenOrMissing } from '../../plan/outcome.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { Contributor } from '../../relations/contract/contributor.js'
import type { Reader } from '../../relations/contract/reader.js'
import type { RelationStrategy } from '../../relations/contract/relation-strategy.js'
import type { Tracked } from '../../relations/contract/tracked.js'

/** Deletes what a move to the archive may have left when it was cut off, of the record and of its members: it would look as if it were archived. */
export class ArchiveContributor implements Contributor {
  readonly #along: readonly RelationStrategy[]

  constructor(along: readonly RelationStrategy[]) {
    this.#along = along
  }

  hasChanges(): boolean {
    return false
  }

  save(): void {}

  remove({ model, key }: Tracked, draft: Draft, reader: Reader): void | Promise<void> {
    const { archive: namespace, durableDelete } = model
    const removeCopy = (entity: string, copy: RecordKey): void =>
      draft.add('delete', remove(entity, copy, { durableDelete }), isWrittenOrMissing)
    removeCopy(model.name, { ...key, namespace: namespace! })
    if (this.#along.length === 0) return
    const bins = this.#along.flatMap((strategy) => strategy.bins)
    return reader.read([read(model.name, key, bins)]).then(([record]) => {
      for (const strategy of this.#along) {
        const { name, set } = reader.entityModel(strategy.model.target)
        for (const member of strategy.listed!(record?.bins ?? {}, key))
          removeCopy(name, { namespace: namespace!, set, key: member })
      }
    })
  }
}
