import type { Operation, Path, Step } from './operation.js'
import { bin } from './expression.js'
import { changePath } from './path-expression.js'
import { showExpression } from './show-expression.js'
import { showValue, showValues } from './show-value.js'
import type { Value } from './value.js'

/** An operation as a line of text; without `values` no stored data shows. */
export function showOperation(operation: Operation, values: boolean): string {
  const one = (value: Value): string => (values ? showValue(value) : '…')
  const many = (list: readonly Value[]): string => (values ? showValues(list) : `… (${list.length})`)
  const at = 'bin' in operation ? target(operation.bin, 'path' in operation ? operation.path : undefined, one) : ''
  switch (operation.kind) {
    case 'writeBin':
      return `write ${at} = ${one(operation.value)}`
    case 'writeMissingBin':
      return `write ${operation.bin} = ${one(operation.value)} if absent`
    case 'writeSize':
      return `write ${operation.bin} = size of ${operation.of}`
    case 'addSize':
      return `${operation.sign > 0 ? 'add to' : 'take off'} ${operation.bin} the size of ${operation.of}`
    case 'removeBin':
      return `remove bin ${at}`
    case 'addToBin':
      return `add ${one(operation.delta)} to ${at}`
    case 'readBin':
      return `read ${at}`
    case 'readExpression':
      return `read ${operation.name} := ${showExpression(operation.expression, values)}`
    case 'changeByPath':
      return `change ${at}: ${showExpression(changePath(bin(operation.type, operation.bin), operation.levels, operation.change, operation.type), values)}`
    case 'rawRead':
      return `raw read of ${at}`
    case 'rawWrite':
      return operation.bin === '' ? 'raw write' : `raw write to ${at}`
    case 'touch':
      return 'touch'
    case 'deleteRecord':
      return 'drop all bins'
    case 'listCreate':
    case 'mapCreate':
      return `create ${operation.order === 'keyValue' ? 'key-value ordered' : operation.order} ${operation.kind === 'listCreate' ? 'list' : 'map'} ${at}${operation.persistIndex ? ' with a persisted index' : ''}`
    case 'listAppend':
      return `append to ${at}: ${many(operation.values)}`
    case 'listAppendUnique':
      return `add to ${at} if absent: ${many(operation.values)}`
    case 'listRemoveValues':
      return `remove from ${at}: ${many(operation.values)}`
    case 'listRemoveIndexRange':
      return `remove ${operation.count} items of ${at} from index ${operation.index}`
    case 'listRemoveRankRange':
      return `remove ${operation.count} items of ${at} from rank ${operation.rank}`
    case 'listRemoveInterval': {
      const values = `values of ${at} from ${end(operation.begin, one)} to ${end(operation.end, one)}`
      return operation.keep ? `keep only ${values}` : `remove ${values}`
    }
    case 'listRemoveFound':
      return `remove from ${at} the tuple of ${many(operation.entries.map(({ id }) => id))} in ${operation.within}`
    case 'listPutFound':
      return `put into ${at} the tuple of ${many(operation.entries.map(({ id }) => id))} in ${operation.within}`
    case 'listSet':
      return `set ${at}[${operation.index}] = ${one(operation.value)}`
    case 'listInsert':
      return `insert into ${at} at ${operation.index}: ${many(operation.values)}`
    case 'listIncrement':
      return `add ${one(operation.delta)} to ${at}[#${operation.index}]`
    case 'listClear':
    case 'mapClear':
      return `clear ${at}`
    case 'listSize':
    case 'mapSize':
      return `read size of ${at}`
    case 'listGetIndexRange':
    case 'mapGetIndexRange':
      return `read ${operation.count} items of ${at} from index ${operation.index}`
    case 'listGetValues':
      return `look for ${many(operation.values)} in ${at}`
    case 'mapPut':
      return `put ${at}[${one(operation.key)}] = ${one(operation.value)}`
    case 'mapPutItems':
      return `put into ${at}: ${many([...operation.items.keys()])}`
    case 'mapIncrement':
      return `add ${one(operation.delta)} to ${at}[${one(operation.key)}]`
    case 'mapRemoveKeys':
      return `remove from ${at} by key: ${many(operation.keys)}`
    case 'mapPutMissing':
      return `put ${at}[${one(operation.key)}] = ${one(operation.value)} if absent`
    case 'mapRemoveValues':
      return `remove from ${at} by value: ${many(operation.values)}`
    case 'mapRemoveFound':
      return `remove from ${at} what ${operation.within} names by key: ${many(operation.keys)}`
    case 'mapMove':
      return operation.moves.map(({ from, to }) => `move ${at}[${one(from)}] to [${one(to)}]`).join(', ')
    case 'mapSetAside':
      return `copy ${operation.from}[${one(operation.key)}] into ${at} as ended at ${operation.stamp}`
    case 'mapRemoveBelow':
      return `remove from ${at} values below ${one(operation.end)}`
    case 'mapKeepRange':
      return `keep of ${at} only ${operation.count} entries from ${operation.by} ${operation.from}`
    case 'mapGetKeys':
      return `read ${at} by key: ${many(operation.keys)}`
    case 'mapGetKeyRange':
      return `read keys of ${at} from ${one(operation.begin)} to ${one(operation.end)}`
  }
}

const end = (value: Value, one: (value: Value) => string): string => (value === null ? 'the end' : one(value))

function target(bin: string, path: Path | undefined, one: (value: Value) => string): string {
  return path === undefined ? bin : bin + path.map((step) => showStep(step, one)).join('')
}

function showStep(step: Step, one: (value: Value) => string): string {
  switch (step.in) {
    case 'mapKey':
      return `[${one(step.key)}]`
    case 'listValue':
      return `[= ${one(step.value)}]`
    case 'mapIndex':
    case 'listIndex':
      return `[#${step.index}]`
    case 'mapRank':
    case 'listRank':
      return `[rank ${step.rank}]`
  }
}
