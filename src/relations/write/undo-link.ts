import type { EntityModel, RelationModel } from '../../model/index.js'
import { binEquals, remove } from '../../plan/command.js'
import type { Draft, Settle } from '../../plan/draft.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { Reader } from '../contract/reader.js'
import { isWrittenOrMissing } from '../../plan/outcome.js'
import { storeOf } from './store-of.js'

/** Deletes a link record again, one end of which turned out to be gone, and takes it off the list of the other end. */
export function undoLink(
  { model, key }: { readonly model: EntityModel; readonly key: RecordKey },
  ref: RelationModel,
  gone: RecordKey,
  draft: Draft,
  reader: Reader,
  settle: Settle,
): void {
  const guards = [binEquals(ref.bin!, gone.key)]
  draft.add('undo', remove(model.name, key, { guards, durableDelete: model.durableDelete }), settle)
  const others = model.relations.filter(({ name }) => name !== ref.name && model.key.properties.includes(name))
  for (const { name, target, inverse } of others) {
    const end = reader.entityModel(target)
    const list = end.relations.find((each) => each.name === inverse)
    if (list?.bin === undefined) continue
    const owner = reader.recordKey(end, reader.keyPart(model, reader.fromStored(model, key.key), name))
    void storeOf(end, list, model).remove({ owner, member: key.key }, draft, 'undo', isWrittenOrMissing, reader)
  }
}
