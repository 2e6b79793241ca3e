import { write } from '../plan/command.js'
import type { Managed } from './managed.js'
import { checkKey, mayGrow, settleWrite, type RecordWrite } from './record-write.js'
import { ttlOfNew } from './ttl.js'

/** The write that creates the record of a new entity. */
export function planCreation(managed: Managed, now: Date): RecordWrite {
  const { entity, key, model, mapped } = managed
  const { codec } = mapped
  checkKey(managed)
  const stamps = codec.stamps.creation(entity, now)
  const operations = stamps.length === 0 ? codec.create(entity) : [...codec.create(entity), ...stamps]
  const ttl = ttlOfNew(managed)
  return {
    command: write(model.name, key, operations, {
      exists: 'mustNotExist',
      ttl,
      sendKey: model.sendKey,
      watchGeneration: model.generationProperty !== undefined,
      watchSize: mayGrow(operations),
    }),
    settle: settleWrite(managed, {
      snapshot: codec.snapshot(entity),
      ttl,
      stamp() {
        codec.stamps.created(entity, now)
        if (model.version !== undefined) managed.version = 1
      },
    }),
  }
}
