import { ARCHIVING_BIN, goneBinsOf, isGoneBy, type EntityModel } from '../../model/index.js'
import { ofClass, onlyIf, read } from '../../plan/command.js'
import type { SkeinError } from '../../errors/index.js'
import type { Draft } from '../../plan/draft.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { Reader } from '../contract/reader.js'
import { held } from './link-bin.js'

/**
 * Asks whether a record that a reference was just made to is there and means to stay; `gone` is told if not. Where a transaction may be
 * deleting it, the record is touched: that waits for the transaction, or makes it notice the reference; a read would do neither.
 */
export function askOwner(
  owner: EntityModel,
  key: RecordKey,
  draft: Draft,
  reader: Reader,
  gone: (error?: SkeinError) => void,
): void {
  if (draft.isInside) return
  if (reader.hasTransactions(owner)) {
    draft.add('add references', held(owner, key), ({ state, reason, error }) => {
      if (state === 'notWritten') gone(reason === 'missing' || reason === 'guard' ? undefined : error)
      return true
    })
    return
  }
  const bins = owner.archive === undefined ? goneBinsOf(owner) : [...goneBinsOf(owner), ARCHIVING_BIN]
  const question = read(owner.name, key, bins)
  const isOne = ofClass(owner)
  draft.check(isOne === undefined ? question : onlyIf(question, isOne), (record) => {
    if (record === null || isGoneBy(owner, record.bins) || record.bins[ARCHIVING_BIN] != null) gone()
  })
}
