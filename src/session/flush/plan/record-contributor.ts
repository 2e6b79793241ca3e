import type { Draft } from '../../../plan/draft.js'
import { isWrittenOrMissing } from '../../../plan/outcome.js'
import type { Reader } from '../../../relations/contract/reader.js'
import type { Contributor } from '../../../relations/contract/contributor.js'
import { markDeleting } from '../../../relations/write/delete-marker.js'
import type { EmbeddedRefs } from './check-embedded-refs.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import type { MappedClass } from '../../mapping/mapped-class.js'
import { isAssigned } from '../../tracking/assigned-values.js'
import { planDelete } from './delete.js'
import { HistoryWriter } from '../../history/history-writer.js'
import { planInsert, changedTtl, type PlannedRecord, type RecordWrite } from './record-write.js'
import { planUpsert } from './upsert.js'
import { planUpdate } from './update.js'

/** The part of storing a class that is the record itself: its own bins, version, times and expiry. */
export class RecordContributor implements Contributor {
  readonly #mapped: MappedClass
  readonly #refs: EmbeddedRefs | undefined
  readonly #history: HistoryWriter | undefined

  constructor(mapped: MappedClass, refs?: EmbeddedRefs) {
    this.#mapped = mapped
    this.#history = mapped.model.history && new HistoryWriter(mapped)
    this.#refs = refs
  }

  hasChanges(managed: ManagedEntity): boolean {
    if (managed.shownState !== 'stored' || managed.writeOptions !== undefined || managed.doubt !== undefined)
      return true
    if (this.#mapped.codec.hasChanged(managed.entity, managed.snapshot!)) return true
    return changedTtl(managed) !== undefined || (this.#mapped.hasAssigned && isAssigned(managed))
  }

  dropPlan(managed: ManagedEntity): void {
    managed.sending?.drop()
    managed.endWrite()
  }

  save(managed: ManagedEntity, draft: Draft, reader: Reader): void | Promise<void> {
    const planned = planRecord(managed, draft.now)
    this.#refs?.check(managed, reader)
    if (planned === undefined) return
    if (this.#history !== undefined) return this.#history.add('write', managed, planned, draft, reader)
    draft.add('write', planned.command, (outcome) => planned.settle(outcome))
  }

  remove(managed: ManagedEntity, draft: Draft, reader: Reader): void | Promise<void> {
    const planned = planDelete(managed, draft.now)
    const { standsAlone } = this.#mapped
    // Nothing that it would take along goes unless its record is still marked.
    if (managed.deleteIntent?.resumes && !standsAlone && !draft.isTransaction)
      draft.add('mark', markDeleting(managed), isWrittenOrMissing)
    const stage = standsAlone ? 'write' : 'delete'
    if (this.#history !== undefined) return this.#history.add(stage, managed, planned, draft, reader)
    draft.add(stage, planned.command, (outcome) => planned.settle(outcome))
  }
}

/** Plans the write or delete of the entity's own record; undefined when it is as stored. */
export function planRecord(managed: ManagedEntity, now: Date): PlannedRecord | undefined {
  if (managed.state === 'removed') return planDelete(managed, now)
  const write = planWrite(managed, now)
  // From here on, what a handle changes comes after this write.
  if (write !== undefined) managed.beginWrite(write)
  return write
}

function planWrite(managed: ManagedEntity, now: Date): RecordWrite | undefined {
  if (managed.overwrite) return planUpsert(managed, now)
  return managed.state === 'new' ? planInsert(managed, now) : planUpdate(managed, now)
}
