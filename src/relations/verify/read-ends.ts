import { ARCHIVING_BIN, DELETING_BIN } from '../../model/index.js'
import { read, type ReadCommand } from '../../plan/command.js'
import { sinceUpdate } from '../../plan/expression.js'
import type { ReadOperation } from '../../plan/operation.js'
import { readBin, readExpression } from '../../plan/operations.js'
import type { StoredRecord } from '../../plan/outcome.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { Reading } from './judge.js'
import { isUserKey } from './link-ends.js'
import type { LinkEnd } from '../contract/link-verification.js'

const AGE = '_sk.age'

/** Operations that read every record that is checked. */
export const ABOUT_RECORD: readonly ReadOperation[] = [readExpression(AGE, sinceUpdate()), readBin(DELETING_BIN)]

const GONE: Reading = Object.freeze({ exists: false, holds: false, isDeleting: false, age: Infinity, generation: 0 })

const MOVED: Reading = Object.freeze({ ...GONE, exists: true, isDeleting: true, isMoved: true })

/** A record as `ABOUT_RECORD` shows it. */
export function readingOf(record: StoredRecord | null, holds = false): Reading {
  if (record === null) return GONE
  const { bins, generation } = record
  return { exists: true, holds, isDeleting: bins[DELETING_BIN] != null, age: Number(bins[AGE] ?? 0), generation }
}

type ReadAll = (commands: readonly ReadCommand[]) => Promise<(StoredRecord | null)[]>

/** Of each record, whether a transaction that is not completed may hold it: it would show former values. */
export type AreHeld = (records: readonly Pick<ReadCommand, 'entity' | 'key'>[]) => Promise<boolean[]>

/**
 * Leaves out links to and from records that a transaction still holds. To be asked before the ends are read: a record that is not held any
 * more then shows the result.
 */
export async function withoutHeld<T>(
  links: readonly T[],
  endsOf: (link: T) => readonly LinkEnd[],
  areHeld: AreHeld,
): Promise<T[]> {
  const asked = links.map((link) => endsOf(link).flatMap(recordsOf))
  const held = await areHeld(asked.flat())
  let at = 0
  return links.filter((_, i) => !held.slice(at, (at += asked[i].length)).includes(true))
}

/** The record of an end, and the one that keeps its links, where that is another. */
function recordsOf({ model, key, apart }: LinkEnd): Pick<ReadCommand, 'entity' | 'key'>[] {
  const keys = apart === undefined ? [key] : [key, ...homesOf(apart, key)]
  return keys.filter((each) => isUserKey(each.key)).map((each) => ({ entity: model.name, key: each }))
}

/** Records that may hold the link of an end; at least the one that it would be put into. */
function homesOf({ store, home }: NonNullable<LinkEnd['apart']>, owner: RecordKey): readonly RecordKey[] {
  const all = store.lookup === undefined ? [] : store.homes(owner)
  return all.length === 0 ? [home()] : all
}

/** The record that holds a link, or would, and what it says. */
interface HomeAnswer {
  readonly key: RecordKey
  readonly record: StoredRecord | null
  readonly carried?: Value
}

/** True for an entry of an ended link that was ended before another one: its time comes first. */
function isOlder({ carried }: Reading, than: HomeAnswer | undefined): boolean {
  const [here, there] = [carried, than?.carried].map((each) => (Array.isArray(each) ? Number(each[0]) : undefined))
  return here !== undefined && there !== undefined && here < there
}

/** Reads of the record of one end. */
interface Asked {
  readonly end: LinkEnd
  readonly key: RecordKey
  readonly operations: readonly ReadOperation[]
}

/** Reads the ends of many links, each record once, however many links meet there. Records that keep links apart say first where those are. */
export async function readEnds(ends: readonly LinkEnd[], readAll: ReadAll): Promise<Reading[]> {
  const asked = ends.map((end, i) => ({
    end,
    key: end.key,
    operations: [
      ...(end.apart === undefined ? questionsOf(end, i) : end.apart.store.schemeBins.map(readBin)),
      ...(end.model.archive === undefined ? [] : [readBin(ARCHIVING_BIN)]),
    ],
  }))
  const records = await askAll(asked, readAll)
  const away = ends.flatMap(({ apart, key }, i) => {
    const record = records[i]
    if (apart === undefined || record === null) return []
    apart.store.learn(key, record.bins)
    if (apart.store.growing?.isUnsettled(key) === true) return []
    return homesOf(apart, key).map((home) => ({ i, end: ends[i], key: home, operations: questionsOf(ends[i], i) }))
  })
  const homes = new Map<number, HomeAnswer>()
  const again = new Set<number>()
  for (const [at, record] of (await askAll(away, readAll)).entries()) {
    const { i, end, key } = away[at]
    const answer = answerOf(end, i, record)
    if (answer.isAgain === true) again.add(i)
    // The newest that holds it counts; where none does, it would be put into one that is made.
    if (end.apart!.store.lookup === undefined || (answer.holds && !isOlder(answer, homes.get(i))))
      homes.set(i, { record, key, carried: answer.carried })
    else if (!homes.has(i)) homes.set(i, { record: null, key: end.apart!.home() })
  }
  const elsewhere = await readElsewhere(ends, records, readAll)
  return ends.map((end, i): Reading => {
    const there = elsewhere.get(i)
    if (there !== undefined) return there
    const home = homes.get(i)
    // Members that move are nobody's to judge: whoever finishes the move sees to them.
    if (records[i] !== null && end.apart?.store.growing?.isUnsettled(end.key) === true)
      return { ...readingOf(records[i]), isDeleting: true }
    if (home === undefined) return answerOf(end, i, records[i])
    const answer = answerApart(end, i, placed(end, records[i], readingOf(records[i])), home)
    return again.has(i) ? { ...answer, isAgain: true } : answer
  })
}

/**
 * Ends whose records are not here, and are in the archive, or were brought back from it. A record that belongs to the other end was left
 * by a move that was cut off, whose repetition sees to it; any other says what it holds from there.
 */
async function readElsewhere(
  ends: readonly LinkEnd[],
  records: readonly (StoredRecord | null)[],
  readAll: ReadAll,
): Promise<ReadonlyMap<number, Reading>> {
  const missing = ends.flatMap((end, i) =>
    records[i] === null && end.model.archive !== undefined && isUserKey(end.key.key) ? [{ end, i }] : [],
  )
  if (missing.length === 0) return new Map()
  const asked = missing.map(({ end, i }) => ({
    end,
    key: { ...end.key, namespace: end.model.archive! },
    operations: questionsOf(end, i),
  }))
  const found = await askAll(asked, readAll)
  return new Map(
    missing.flatMap(({ end, i }, at): [number, Reading][] => {
      if (found[at] === null) return []
      return [[i, end.mayBeApart === true ? elsewhereAt(end, i, found[at]) : MOVED]]
    }),
  )
}

const elsewhereAt = (end: LinkEnd, i: number, record: StoredRecord): Reading => {
  const { isCold, ...reading } = answerOf(end, i, record)
  return isCold === true ? reading : { ...reading, isCold: true }
}

function questionsOf({ holds, carries, again, only }: LinkEnd, i: number): ReadOperation[] {
  return [
    ...(again === undefined ? [] : [readExpression(againName(i), again)]),
    ...(holds === undefined ? [] : [readExpression(answerName(i), holds)]),
    ...(carries === undefined ? [] : [readExpression(carriedName(i), carries)]),
    ...(only === undefined ? [] : [readExpression(heldName(i), only.held)]),
  ]
}

async function askAll(asked: readonly Asked[], readAll: ReadAll): Promise<(StoredRecord | null)[]> {
  const questions = new Map<string, { readonly of: Asked; readonly operations: ReadOperation[] }>()
  for (const each of asked) {
    // A value that is not a key has no record.
    if (!isUserKey(each.key.key)) continue
    const id = recordId(each.key)
    let question = questions.get(id)
    if (question === undefined) questions.set(id, (question = { of: each, operations: [...ABOUT_RECORD] }))
    const { operations } = question
    // Reads once what several ask of a record.
    operations.push(...each.operations.filter((one) => one.kind !== 'readBin' || !hasRead(operations, one.bin)))
  }
  const commands = [...questions.values()].map(({ of, operations }) =>
    read(of.end.model.name, of.key, 'none', operations),
  )
  const records = await readAll(commands)
  const found = new Map([...questions.keys()].map((id, i) => [id, records[i]]))
  return asked.map(({ key }) => (isUserKey(key.key) ? found.get(recordId(key))! : null))
}

const hasRead = (operations: readonly ReadOperation[], bin: string): boolean =>
  operations.some((one) => one.kind === 'readBin' && one.bin === bin)

function answerOf(end: LinkEnd, i: number, record: StoredRecord | null): Reading {
  const reading = placed(end, record, readingOf(record, isTrue(record?.bins[answerName(i)])))
  if (end.only !== undefined) return { ...reading, held: record?.bins[heldName(i)] }
  if (end.carries === undefined) return reading
  const carried = record?.bins[carriedName(i)]
  return { ...reading, carried, ...(isTrue(record?.bins[againName(i)]) && { isAgain: true }) }
}

/** Notes that the record is an archived one, or that a move of it is under way. */
function placed({ model }: LinkEnd, record: StoredRecord | null, reading: Reading): Reading {
  if (model.archive === undefined) return reading
  const isMoving = record?.bins[ARCHIVING_BIN] != null
  return { ...reading, ...(isMoving && { isMoving }), ...(model.isArchived && { isCold: true }) }
}

/** The record says whether it is there and stays; the other says what it holds, and when that was changed. */
function answerApart(
  end: LinkEnd,
  i: number,
  { exists, isDeleting, isMoving, age: ownAge }: Reading,
  { key, record }: HomeAnswer,
): Reading {
  const answer = answerOf(end, i, record)
  const age = record === null ? ownAge : answer.age
  return { ...answer, exists, isDeleting, ...(isMoving && { isMoving }), age, home: { key, isThere: record !== null } }
}

const answerName = (index: number): string => `_sk.${index}`

const carriedName = (index: number): string => `_sk.${index}.with`

const againName = (index: number): string => `_sk.${index}.again`

const heldName = (index: number): string => `_sk.${index}.held`

const isTrue = (answer: unknown): boolean => answer === true || (answer !== undefined && Number(answer) > 0)
