import type { Draft } from '../plan/draft.js'
import { isWrittenOrMissing } from '../plan/outcome.js'
import type { Contributor, Reader } from '../relations/contributor.js'
import { markDeleting } from '../relations/mark.js'
import type { EmbeddedRefs } from './embedded-refs.js'
import type { Managed } from './managed.js'
import type { MappedClass } from './mapped-class.js'
import { planRecord } from './plan-record.js'
import { planRemoval } from './record-removal.js'
import { changedTtl } from './ttl.js'

/** The part of storing a class that is the record itself: its own bins, version, times and expiry. */
export class BinContributor implements Contributor {
  readonly #mapped: MappedClass
  readonly #refs: EmbeddedRefs | undefined

  constructor(mapped: MappedClass, refs?: EmbeddedRefs) {
    this.#mapped = mapped
    this.#refs = refs
  }

  hasChanges(managed: Managed): boolean {
    if (managed.state !== 'stored' || managed.wishes !== undefined || managed.doubt !== undefined) return true
    return this.#mapped.codec.hasChanged(managed.entity, managed.snapshot!) || changedTtl(managed) !== undefined
  }

  save(managed: Managed, draft: Draft, reader: Reader): void {
    const planned = planRecord(managed, draft.now)
    this.#refs?.check(managed, reader)
    if (planned !== undefined) draft.add('write', planned.command, (outcome) => planned.settle(outcome))
  }

  remove(managed: Managed, draft: Draft): void {
    const planned = planRemoval(managed)
    const { standsAlone } = this.#mapped
    // Nothing that it would take along goes unless its record is still marked.
    if (managed.isFinishing && !standsAlone && !draft.isTransaction)
      draft.add('mark', markDeleting(managed), isWrittenOrMissing)
    const stage = standsAlone ? 'write' : 'delete'
    draft.add(stage, planned.command, (outcome) => planned.settle(outcome), managed.depth)
  }
}
