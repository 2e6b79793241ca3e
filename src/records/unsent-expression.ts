import { bug } from '../errors/index.js'
import { edited, intervalOf } from '../plan/collection-expression.js'
import { add, bin, binExists, cond, value, type Expression } from '../plan/expression.js'
import { changePath } from '../plan/path-expression.js'
import type { WriteOperation } from '../plan/operation.js'
import type { Value } from '../plan/value.js'

type BinChange = Extract<WriteOperation, { readonly bin: string }>

/** A list or map bin as it will be once these changes are sent, computed by the server. */
export function unsentCollection(name: string, type: 'list' | 'map', changes: readonly BinChange[]): Expression {
  if (changes.length === 0) return bin(type, name)
  const empty = value(type === 'list' ? [] : new Map<never, Value>())
  const stored = cond(binExists(name), bin(type, name), empty)
  return changes.reduce<Expression>((subject, change) => changed(subject, change, type, empty), stored)
}

function changed(subject: Expression, change: BinChange, type: 'list' | 'map', empty: Expression): Expression {
  const path = 'path' in change ? change.path : undefined
  const edit = (name: Parameters<typeof edited>[0], ...args: readonly Value[]): Expression =>
    edited(name, subject, args, type, path)
  switch (change.kind) {
    case 'changeByPath':
      return changePath(subject, change.levels, change.change, change.type)
    case 'writeBin':
      return value(change.value)
    case 'removeBin':
      return empty
    case 'listAppend':
      return edit('listAppend', change.values)
    case 'listAppendUnique':
      return edit('listAppendUnique', change.values)
    case 'listRemoveRankRange':
      return edit('listRemoveRankRange', change.rank, change.count)
    case 'listRemoveInterval':
      return edit(change.keep ? 'listKeepInterval' : 'listRemoveInterval', ...intervalOf(change.begin, change.end))
    case 'listInsert':
      return edit(change.unique ? 'listInsertUnique' : 'listInsert', change.index, change.values)
    case 'listSet':
      return edit('listSet', change.index, change.value)
    case 'listIncrement':
      return edit('listIncrement', change.index, change.delta)
    case 'listRemoveValues':
      return edit('listRemoveValues', change.values)
    case 'listRemoveIndexRange':
      return edit('listRemoveRange', change.index, change.count)
    case 'listClear':
    case 'mapClear':
      return edit(change.kind)
    case 'mapPut':
      return edit('mapPut', change.key, change.value)
    case 'mapPutMissing':
      return edit('mapPutMissing', change.key, change.value)
    case 'mapPutItems':
      return edit('mapPutItems', change.items)
    case 'mapIncrement':
      return edit('mapIncrement', change.key, change.delta)
    case 'mapRemoveKeys':
      return edit('mapRemoveKeys', change.keys)
    case 'listCreate':
    case 'mapCreate':
      return subject
    default:
      throw bug(`a read cannot show a pending change of kind ${change.kind}.`)
  }
}

/** A counter bin as it will be once these changes are sent. */
export function unsentCounter(name: string, changes: readonly BinChange[]): Expression {
  const stored = cond(binExists(name), bin('int', name), value(0))
  return changes.reduce<Expression>((sum, change) => {
    if (change.kind === 'removeBin') return value(0)
    if (change.kind === 'writeBin') return value(change.value)
    return change.kind === 'addToBin' ? add(sum, value(change.delta)) : sum
  }, stored)
}
