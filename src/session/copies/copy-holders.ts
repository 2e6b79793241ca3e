import { readProperty } from '../../codec/index.js'
import type { KeyValue } from '../../keys/index.js'
import type { RecordKey } from '../../plan/record-key.js'
import { indexOn } from '../../relations/contract/index-lookup.js'
import { outlivesEnd } from '../../relations/contract/link-class.js'
import type { Reader } from '../../relations/contract/reader.js'
import { askedBinding } from '../../relations/read/asked-collection.js'
import { memberKeys } from '../../relations/read/pending-overlay.js'
import { collectionStateOf } from '../../relations/state/state-of.js'
import type { CopyLink } from './copy-links.js'

/** Copies written together. */
const STEP = 250

/** Records that hold a copy of a source, some at a time: those that its collection lists, or that an index finds. */
export async function* holdersOf(link: CopyLink, source: RecordKey, reader: Reader): AsyncGenerator<RecordKey[]> {
  const { holder } = link
  for await (const keys of keysOf(link, source, reader))
    for (let i = 0; i < keys.length; i += STEP)
      yield keys.slice(i, i + STEP).map((key) => reader.recordKey(holder, key))
}

async function* keysOf(link: CopyLink, source: RecordKey, reader: Reader): AsyncGenerator<readonly KeyValue[]> {
  const { holder, relation, source: model } = link
  const inverse = model.relations.find(({ name }) => name === relation.inverse)
  const index = indexOn(holder, relation)
  if (inverse?.bin === undefined || inverse.holds !== 'collection') {
    yield* reader.keysBy({ model: holder, index, value: source.key })
    return
  }
  const key = reader.fromStored(model, source.key)
  const owner = reader.known(model.name, key) ?? reader.unread(model, key)
  const state = collectionStateOf(readProperty(owner.entity, inverse.name) as object)
  const { links } = state.binding!.strategy
  // The records that it lists, which are link records where people see what these lead to; such a record stays when its other end is deleted.
  const shown = links !== undefined && outlivesEnd(links) ? ({ deleted: 'include' } as const) : {}
  yield await memberKeys(state, askedBinding(state, 'keys', shown))
}
