import { expect } from 'chai'
import fc from 'fast-check'
import { BatchQueue, type Send } from '#src/driver/batch-queue.js'
import { recordId, recordKey, type RecordKey } from '#src/plan/record-key.js'

interface Entry {
  readonly key: RecordKey
  readonly number: number
  readonly bytes: number
  readonly isDropped: boolean
}

/** Keys that look alike, and two that are of one record. */
const KEYS = [
  recordKey('test', 'a', 1),
  recordKey('test', 'a', 1n),
  recordKey('test', 'b', 1),
  recordKey('test', 'a', '1'),
  recordKey('test', 'a', Buffer.from('1')),
  recordKey('other', 'a', 1),
]
const idOf = ({ key }: Entry): string => recordId(key)

function sender(send: (batch: readonly Entry[]) => Promise<void>): Send<Entry> {
  return {
    one: (entry, done) => void send([entry]).then(done),
    many: (entries, done) => void send(entries).then(done),
  }
}

describe('the batch queue', () => {
  it('sends everything once, in order for each record, within its limits', async () => {
    const entries = fc.array(
      fc.record({
        key: fc.constantFrom(...KEYS),
        bytes: fc.integer({ min: 1, max: 60 }),
        isDropped: fc.constant(false),
      }),
      { maxLength: 200 },
    )
    const limits = fc.record({
      roundTrips: fc.integer({ min: 1, max: 3 }),
      batchRows: fc.integer({ min: 1, max: 6 }),
      batchBytes: fc.integer({ min: 1, max: 150 }),
    })
    await fc.assert(
      fc.asyncProperty(entries, limits, fc.boolean(), async (given, limit, together) => {
        const sent: Entry[] = []
        let out = 0
        let mostOut = 0
        const send = async (batch: readonly Entry[]): Promise<void> => {
          mostOut = Math.max(mostOut, ++out)
          expect(batch.length).to.be.within(1, limit.batchRows)
          expect(new Set(batch.map(idOf)).size).to.equal(batch.length)
          if (batch.length > 1) expect(batch.reduce((sum, one) => sum + one.bytes, 0)).to.be.at.most(limit.batchBytes)
          sent.push(...batch)
          await Promise.resolve()
          out--
        }
        const queue = new BatchQueue<Entry>(sender(send), limit)
        const all = given.map((one, number) => ({ ...one, number }))
        if (together) queue.addAll(all)
        else for (const one of all) queue.add(one)
        while (!queue.isIdle) await new Promise((resolve) => setImmediate(resolve))
        expect(sent.map((one) => one.number).sort((a, b) => a - b)).to.deep.equal(all.map((one) => one.number))
        for (const id of KEYS.map(recordId)) {
          const order = sent.filter((one) => idOf(one) === id).map((one) => one.number)
          expect(order).to.deep.equal(order.toSorted((a, b) => a - b))
        }
        expect(mostOut).to.be.at.most(limit.roundTrips)
      }),
      { numRuns: 200 },
    )
  })

  it('skips what nobody waits for any more', async () => {
    const sent: number[] = []
    const queue = new BatchQueue<Entry>(
      sender((batch) => {
        sent.push(...batch.map((one) => one.number))
        return Promise.resolve()
      }),
      { roundTrips: 1, batchRows: 10, batchBytes: 1000 },
    )
    const entry = (number: number, isDropped: boolean): Entry => {
      return { key: recordKey('test', 'a', number), number, bytes: 1, isDropped }
    }
    queue.addAll([entry(1, true), entry(2, false), entry(3, true)])
    queue.addAll([entry(4, true)])
    while (!queue.isIdle) await new Promise((resolve) => setImmediate(resolve))
    expect(sent).to.deep.equal([2])
  })
})
