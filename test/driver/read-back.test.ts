import { expect } from 'chai'
import { binEquals, remove, versionIs, write, type WriteCommand, type WriteOptions } from '#src/plan/command.js'
import type { Operation } from '#src/plan/operation.js'
import * as op from '#src/plan/operations.js'
import { recordKey } from '#src/plan/record-key.js'
import { binsToJudge, judge } from '#src/driver/read-back.js'
import type { StoredRecord } from '#src/driver/outcome.js'

const key = recordKey('test', 'thing', 1)
const stored = (bins: StoredRecord['bins'], generation = 1): StoredRecord => ({ bins, generation, ttl: null })
const create = (...operations: Operation[]): WriteCommand => write('Thing', key, operations, { exists: 'mustNotExist' })
const change = (operations: Operation[], options: Partial<WriteOptions>): WriteCommand =>
  write('Thing', key, operations, { exists: 'mustExist', ...options })

describe('judging a lost write by the stored record', () => {
  it('reads the bins that the command changes or checks', () => {
    const command = change([op.writeBin('x', 1), op.addToBin('v', 1)], {
      guards: [versionIs('v', 1), binEquals('owner', 'a')],
    })
    expect(binsToJudge(command)).to.deep.equal(['x', 'v', 'owner'])
  })

  it('a create', () => {
    const command = create(
      op.writeBin('x', 1),
      op.removeBin('y'),
      op.addToBin('n', 5),
      op.listCreate('l', 'ordered', true),
    )
    expect(judge(command, null)).to.equal('notApplied')
    expect(judge(command, stored({ x: 1, n: 5, l: [] }))).to.equal('asWanted')
    expect(judge(command, stored({ x: 1, n: 6, l: [] }))).to.equal('unknown')
    expect(judge(command, stored({ x: 1, y: 2, n: 5 }))).to.equal('unknown')
    expect(judge(command, stored({ x: 2, n: 5 }))).to.equal('unknown')
    const own = { ...command, key: { ...key, isMade: true as const } }
    expect(judge(own, stored({ x: 1, n: 5, l: [] }))).to.equal('applied')
    expect(judge(own, stored({ x: 2, n: 5 }))).to.equal('unknown')
  })

  it('a versioned write', () => {
    const command = change([op.writeBin('x', 'mine'), op.addToBin('v', 1)], { guards: [versionIs('v', 3)] })
    expect(judge(command, stored({ v: 3 }))).to.equal('notApplied')
    expect(judge(command, stored({ v: 4, x: 'mine' }))).to.equal('asWanted')
    expect(judge(command, stored({ v: 4, x: 'theirs' }))).to.equal('lost')
    expect(judge(command, stored({ v: 5, x: 'mine' }))).to.equal('unknown')
    expect(judge(command, null)).to.equal('unknown')
  })

  it('a versioned write that adds to what others add to', () => {
    const counts = [op.writeBin('x', 'mine'), op.addToBin('n', 1), op.addToBin('v', 1)]
    const command = change(counts, { guards: [versionIs('v', 3)] })
    expect(judge(command, stored({ v: 3, n: 0 }))).to.equal('notApplied')
    expect(judge(command, stored({ v: 4, n: 1, x: 'mine' }))).to.equal('unknown')
    expect(judge(command, stored({ v: 4, n: 1, x: 'theirs' }))).to.equal('lost')
    const appends = change([op.listAppend('l', ['a'], 'unordered'), op.addToBin('v', 1)], {
      guards: [versionIs('v', 3)],
    })
    expect(judge(appends, stored({ v: 4, l: ['a'] }))).to.equal('unknown')
    expect(judge(appends, stored({ v: 4, l: [] }))).to.equal('lost')
  })

  it('a first version', () => {
    const command = change([op.writeBin('x', 1), op.addToBin('v', 1)], { guards: [versionIs('v', null)] })
    expect(judge(command, stored({}))).to.equal('notApplied')
    expect(judge(command, stored({ v: 1, x: 1 }))).to.equal('asWanted')
    expect(judge(command, stored({ v: 1, x: 2 }))).to.equal('lost')
  })

  it('a compare-and-set', () => {
    const command = change([op.writeBin('owner', 'b')], { guards: [binEquals('owner', 'a')] })
    expect(judge(command, stored({ owner: 'a' }))).to.equal('notApplied')
    expect(judge(command, stored({ owner: 'b' }))).to.equal('applied')
    expect(judge(command, stored({ owner: 'c' }))).to.equal('unknown')
  })

  it('a write under a generation', () => {
    const command = change([op.writeBin('x', 1)], { generation: 2 })
    expect(judge(command, stored({ x: 0 }, 2))).to.equal('notApplied')
    expect(judge(command, stored({ x: 1 }, 3))).to.equal('applied')
    expect(judge(command, stored({ x: 0 }, 3))).to.equal('unknown')
    expect(judge(change([op.addToBin('n', 1)], { generation: 2 }), stored({ n: 1 }, 3))).to.equal('unknown')
    expect(judge(change([op.touch()], { generation: 2 }), stored({}, 3))).to.equal('unknown')
  })

  it('a delete under a generation', () => {
    const command = remove('Thing', key, { generation: 2 })
    expect(judge(command, null)).to.equal('applied')
    expect(judge(command, stored({}, 2))).to.equal('notApplied')
    expect(judge(command, stored({}, 3))).to.equal('unknown')
  })

  it('changes of lists and maps, nested ones too', () => {
    const cases: [Operation, StoredRecord['bins'], StoredRecord['bins']][] = [
      [op.listAppendUnique('l', ['a', 'b']), { l: ['a', 'b', 'c'] }, { l: ['a'] }],
      [op.listAppend('l', ['a'], 'unordered'), { l: ['a'] }, {}],
      [op.listRemoveValues('l', ['a']), { l: ['b'] }, { l: ['a', 'b'] }],
      [op.listRemoveValues('l', ['a']), {}, { l: ['a'] }],
      [op.mapPut('m', 'k', 1), { m: { k: 1 } }, { m: { k: 2 } }],
      [op.mapPut('m', 'f', 1, [op.atKey('k')]), { m: { k: { f: 1 } } }, { m: { k: {} } }],
      [op.mapPut('m', 'f', 1, [op.atIndex(0)]), { m: [{ f: 1 }] }, { m: [{ f: 2 }] }],
      [op.mapPut('m', 'f', 1, [op.atKey('k')]), { m: { k: { f: 1 } } }, { m: 5 }],
      [
        op.mapPutItems(
          'm',
          new Map([
            ['a', 1],
            ['b', 2],
          ]),
        ),
        { m: { a: 1, b: 2 } },
        { m: { a: 1 } },
      ],
      [op.mapRemoveKeys('m', ['a']), { m: { b: 1 } }, { m: { a: 1 } }],
    ]
    for (const [operation, happened, not] of cases) {
      expect(judge(create(operation), stored(happened)), operation.kind).to.equal('asWanted')
      expect(judge(create(operation), stored(not)), operation.kind).to.equal('unknown')
    }
  })
})
