import { DELETING_BIN } from '../../model/index.js'
import { read, type ReadCommand } from '../../plan/command.js'
import { sinceUpdate } from '../../plan/expression.js'
import type { ReadOperation } from '../../plan/operation.js'
import { readBin, readExpression } from '../../plan/operations.js'
import type { StoredRecord } from '../../plan/outcome.js'
import { recordId } from '../../plan/record-key.js'
import type { Reading } from './judge.js'
import { isUserKey } from './link-ends.js'
import type { LinkEnd } from '../contract/link-verification.js'

const AGE = '_sk.age'

/** Operations that read every record that is checked. */
export const ABOUT_RECORD: readonly ReadOperation[] = [readExpression(AGE, sinceUpdate()), readBin(DELETING_BIN)]

const GONE: Reading = Object.freeze({ exists: false, holds: false, isDeleting: false, age: Infinity, generation: 0 })

/** A record as `ABOUT_RECORD` shows it. */
export function readingOf(record: StoredRecord | null, holds = false): Reading {
  if (record === null) return GONE
  const { bins, generation } = record
  return { exists: true, holds, isDeleting: bins[DELETING_BIN] != null, age: Number(bins[AGE] ?? 0), generation }
}

interface Question {
  readonly end: LinkEnd
  readonly operations: ReadOperation[]
}

/** Reads the ends of many links, each record once, however many links meet there. */
export async function readEnds(
  ends: readonly LinkEnd[],
  readAll: (commands: readonly ReadCommand[]) => Promise<(StoredRecord | null)[]>,
): Promise<Reading[]> {
  const questions = new Map<string, Question>()
  ends.forEach((end, i) => {
    // A value that is not a key has no record.
    if (!isUserKey(end.key.key)) return
    const id = recordId(end.key)
    let question = questions.get(id)
    if (question === undefined) questions.set(id, (question = { end, operations: [...ABOUT_RECORD] }))
    if (end.holds !== undefined) question.operations.push(readExpression(answerName(i), end.holds))
    if (end.carries !== undefined) question.operations.push(readExpression(carriedName(i), end.carries))
    if (end.only !== undefined) question.operations.push(readExpression(heldName(i), end.only.held))
  })
  const commands = [...questions.values()].map(({ end, operations }) =>
    read(end.model.name, end.key, 'none', operations),
  )
  const records = await readAll(commands)
  const found = new Map([...questions.keys()].map((id, i) => [id, records[i]]))
  return ends.map((end, i) => {
    const record = isUserKey(end.key.key) ? found.get(recordId(end.key))! : null
    const reading = readingOf(record, isTrue(record?.bins[answerName(i)]))
    if (end.only !== undefined) return { ...reading, held: record?.bins[heldName(i)] }
    return end.carries === undefined ? reading : { ...reading, carried: record?.bins[carriedName(i)] }
  })
}

const answerName = (index: number): string => `_sk.${index}`

const carriedName = (index: number): string => `_sk.${index}.with`

const heldName = (index: number): string => `_sk.${index}.held`

const isTrue = (answer: unknown): boolean => answer === true || (answer !== undefined && Number(answer) > 0)
