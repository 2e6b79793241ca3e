import { write } from '../plan/command.js'
import { touch } from '../plan/operations.js'
import type { Managed } from './managed.js'
import { mayGrow, settleWrite, type RecordWrite } from './record-write.js'
import { ttlOfUpdate, wantsTtl } from './ttl.js'

/** The write that brings a stored record up to date: only what changed, under the version it was loaded with. */
export function planUpdate(managed: Managed, now: Date): RecordWrite | undefined {
  const { entity, key, model, mapped, version } = managed
  const { codec } = mapped
  const changes = codec.diff(entity, managed.snapshot!, managed.loaded)
  if (changes.length === 0) return wantsTtl(managed) ? planTouch(managed) : undefined
  const { operations, guards } = codec.stamps.update(version, now)
  const ttl = ttlOfUpdate(managed)
  return {
    command: write(model.name, key, operations.length === 0 ? changes : [...changes, ...operations], {
      exists: 'mustExist',
      guards,
      ttl,
      watchSize: mayGrow(changes),
      watchGeneration: model.generationProperty !== undefined,
    }),
    settle: settleWrite(managed, {
      snapshot: codec.snapshot(entity),
      ttl,
      stamp() {
        codec.stamps.updated(entity, version, now)
        if (model.version !== undefined) managed.version = (version ?? 0) + 1
      },
    }),
  }
}

/** Gives the record another expiry and nothing else: no new version, because nothing that people see has changed. */
function planTouch(managed: Managed): RecordWrite {
  const { key, model } = managed
  const ttl = ttlOfUpdate(managed)
  return {
    command: write(model.name, key, [touch()], {
      exists: 'mustExist',
      ttl,
      watchGeneration: model.generationProperty !== undefined,
    }),
    settle: settleWrite(managed, { snapshot: managed.snapshot!, ttl, stamp: () => undefined }),
  }
}
