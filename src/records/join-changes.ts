import { tokenOf } from '../codec/index.js'
import type { MapIncrement, Path, WriteOperation } from '../plan/operation.js'
import {
  addToBin,
  listAppend,
  listAppendUnique,
  listRemoveValues,
  mapIncrement,
  mapPutItems,
  mapRemoveKeys,
} from '../plan/operations.js'
import { isDouble, type MapKey, type Value } from '../plan/value.js'
import { compareValues } from '../plan/value-order.js'
import { operationsBytes } from '../plan/wire-bytes.js'

type BinChange = Extract<WriteOperation, { readonly bin: string }>
type Of<K extends BinChange['kind']> = Extract<BinChange, { readonly kind: K }>

/** Changes within one question: each is a level of its expression, of which servers follow some hundreds. */
const MOST_CHANGES = 100
/** Bytes of changes within one question, which sends them several times; a server takes 1 MiB. */
const MOST_BYTES = 131_072

/** Changes of a bin that the list or map at a path may show, as few as can be. */
export function pendingAt(asked: Path, changes: readonly BinChange[]): readonly BinChange[] {
  return joinChanges(changes.filter((change) => !('path' in change) || mayMeet(asked, change.path ?? [])))
}

/** False where there are more changes than a server takes within one question. */
export const fitQuestion = (changes: readonly BinChange[]): boolean =>
  changes.length <= MOST_CHANGES && operationsBytes(changes) <= MOST_BYTES

/** False for paths that lead to different entries of one map. */
const mayMeet = (asked: Path, changed: Path): boolean =>
  asked.every((step, i) => {
    const other = changed[i]
    const isEntry = step.in === 'mapKey' && other?.in === 'mapKey'
    return !isEntry || compareValues(step.key, other.key) === 0
  })

/** Joins changes of one bin that follow each other where one operation says the same: a question takes only so many. */
function joinChanges(changes: readonly BinChange[]): readonly BinChange[] {
  if (changes.length < 2) return changes
  const runs: { readonly id: string | undefined; readonly changes: BinChange[] }[] = []
  for (const change of changes) {
    const id = runId(change)
    const last = runs.at(-1)
    if (id !== undefined && last?.id === id) last.changes.push(change)
    else runs.push({ id, changes: [change] })
  }
  return runs.flatMap((run) => (run.changes.length === 1 ? run.changes : joinRun(run.changes)))
}

/** Equal for changes of the same list or map that can be joined; undefined for those that cannot. */
function runId(change: BinChange): string | undefined {
  switch (change.kind) {
    case 'listAppend':
    case 'listAppendUnique':
      return `${change.kind} ${change.order} ${pathId(change)}`
    case 'mapPut':
    case 'mapPutItems':
      return `put ${pathId(change)}`
    case 'listRemoveValues':
    case 'mapIncrement':
    case 'mapRemoveKeys':
      return `${change.kind} ${pathId(change)}`
    case 'addToBin':
      return isDouble(change.delta) ? undefined : 'add'
    default:
      return undefined
  }
}

const pathId = ({ path = [] }: { readonly path?: Path }): string =>
  JSON.stringify(path.map((step) => (step.in === 'mapKey' ? [step.create, tokenOf(step.key)] : step)))

function joinRun(run: readonly BinChange[]): readonly BinChange[] {
  const [first] = run
  const { bin } = first
  switch (first.kind) {
    case 'listAppend':
      return [listAppend(bin, valuesOf(run), first.order, first.path)]
    case 'listAppendUnique':
      return [listAppendUnique(bin, valuesOf(run), first.path, first.order)]
    case 'listRemoveValues':
      return [listRemoveValues(bin, valuesOf(run), 'none', first.path)]
    case 'mapRemoveKeys':
      return [mapRemoveKeys(bin, unique((run as readonly Of<'mapRemoveKeys'>[]).flatMap(({ keys }) => keys)), 'none', first.path)] // prettier-ignore
    case 'mapPut':
    case 'mapPutItems':
      return [mapPutItems(bin, itemsOf(run as readonly Of<'mapPut' | 'mapPutItems'>[]), first.path, first.subtype)]
    case 'mapIncrement':
      return joinIncrements(run as readonly MapIncrement[])
    default:
      return [addToBin(bin, sumOf((run as readonly Of<'addToBin'>[]).map(({ delta }) => delta)))]
  }
}

const valuesOf = (run: readonly BinChange[]): readonly Value[] =>
  (run as readonly Of<'listAppend'>[]).flatMap(({ values }) => values)

const unique = (keys: readonly MapKey[]): readonly MapKey[] => [
  ...new Map(keys.map((key) => [tokenOf(key), key])).values(),
]

/** The last value under each key. */
function itemsOf(puts: readonly Of<'mapPut' | 'mapPutItems'>[]): ReadonlyMap<MapKey, Value> {
  const all = puts.flatMap((put) => (put.kind === 'mapPut' ? [[put.key, put.value] as const] : [...put.items]))
  return new Map(new Map(all.map((item) => [tokenOf(item[0]), item])).values())
}

/** Joins increments of one key; doubles are left as they are, because their sum depends on the order. */
function joinIncrements(run: readonly MapIncrement[]): readonly BinChange[] {
  if (run.some(({ delta }) => isDouble(delta))) return run
  const deltas = new Map<ReturnType<typeof tokenOf>, Value[]>(run.map(({ key }) => [tokenOf(key), []]))
  for (const { key, delta } of run) deltas.get(tokenOf(key))!.push(delta)
  const firsts = new Map(run.toReversed().map((change) => [tokenOf(change.key), change]))
  return [...deltas].map(([token, all]) => {
    const { bin, key, path, subtype } = firsts.get(token)!
    return mapIncrement(bin, key, sumOf(all), path, subtype)
  })
}

function sumOf(deltas: readonly Value[]): Value {
  const sum = deltas.reduce<bigint>((total, delta) => total + BigInt(delta as number | bigint), 0n)
  return Number.isSafeInteger(Number(sum)) ? Number(sum) : sum
}
