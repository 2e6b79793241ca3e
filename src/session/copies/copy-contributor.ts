import { read, write } from '../../plan/command.js'
import type { Draft } from '../../plan/draft.js'
import { writeBin } from '../../plan/operations.js'
import type { Outcome } from '../../plan/outcome.js'
import type { Value } from '../../plan/value.js'
import type { Contributor } from '../../relations/contract/contributor.js'
import { isCreation, isEntity } from '../../relations/contract/member.js'
import type { Reader } from '../../relations/contract/reader.js'
import { findRefState } from '../../relations/state/state-of.js'
import { readProperty } from '../../codec/index.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import type { CopyLink, CopyLinks } from './copy-links.js'

/** Reads what an entity copies from a source that the session has not loaded, so that it is written together with the reference. */
export class CopyContributor implements Contributor {
  readonly #links: readonly CopyLink[]
  readonly #copies: CopyLinks

  constructor(links: readonly CopyLink[], copies: CopyLinks) {
    this.#links = links
    this.#copies = copies
  }

  hasChanges(): boolean {
    return false
  }

  remove(): void {}

  save(managed: ManagedEntity, draft: Draft, reader: Reader): void | Promise<void> {
    const unknown = this.#links.flatMap((link) => {
      const key = unknownSource(managed, link, reader)
      return key === undefined ? [] : [{ link, key }]
    })
    if (unknown.length === 0) return
    const commands = unknown.map(({ link, key }) =>
      read(link.source.name, reader.recordKey(link.source, key), this.#copies.binsOf(link)),
    )
    return reader.read(commands).then((records) => {
      for (const [i, { link }] of unknown.entries()) {
        const record = records[i]
        const value = record === null ? null : this.#copies.valueIn(link, record.bins)
        if (value !== null) this.#plan(managed, link, value, draft)
      }
    })
  }

  #plan(managed: ManagedEntity, { bin }: CopyLink, value: Value, draft: Draft): void {
    const { model, key, overwrite } = managed
    const exists = overwrite ? 'upsert' : isCreation(managed) ? 'mustNotExist' : 'mustExist'
    const command = write(model.name, key, [writeBin(bin, value)], { exists, ttl: 'keep' })
    draft.add('write', command, ({ state }: Outcome) => state === 'written')
  }
}

/** The key of the source that a changed reference leads to, where the session does not know its value. */
function unknownSource(managed: ManagedEntity, link: CopyLink, reader: Reader) {
  const ref = readProperty(managed.entity, link.relation.name)
  const state = typeof ref === 'object' && ref !== null ? findRefState(ref) : undefined
  if (state === undefined || (!state.isChanged && !isCreation(managed) && !managed.overwrite)) return undefined
  const { target, key } = state
  if (target === null || key === null) return undefined
  const known = isEntity(target) ? reader.tracked(target) : reader.known(link.source.name, key)
  if (known === undefined) return isEntity(target) ? undefined : key
  if (known.state === 'new') return undefined
  return isKnown(known as ManagedEntity, link) ? undefined : key
}

/** True where the session has loaded what is to be copied, and it has no change that may not be stored. */
export function isKnown(source: ManagedEntity, { from }: CopyLink): boolean {
  const { state, isUnread, doubt, loaded, mapped, entity, snapshot } = source
  if (state === 'new') return true
  if (state !== 'stored' || isUnread || doubt !== undefined || snapshot === undefined) return false
  return (loaded === undefined || loaded.has(from)) && !mapped.codec.isChanged(entity, snapshot, from)
}
