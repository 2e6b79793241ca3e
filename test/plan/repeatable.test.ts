import { expect } from 'chai'
import { binEquals, remove, versionIs, write, type WriteOptions } from '#src/plan/command.js'
import { bin } from '#src/plan/expression.js'
import type { Operation } from '#src/plan/operation.js'
import * as op from '#src/plan/operations.js'
import { recordKey } from '#src/plan/record-key.js'
import { afterDoubt } from '#src/plan/effects.js'

const key = recordKey('test', 'agent', 17)
const after = (operations: Operation[], options: Partial<WriteOptions> = {}): string =>
  afterDoubt(write('Agent', key, operations, { exists: 'mustExist', ...options }))

describe('what may follow a write whose answer was lost', () => {
  it('repeats what is the same done twice', () => {
    expect(after([op.writeBin('x', 1), op.removeBin('y')])).to.equal('repeat')
    expect(after([op.listAppendUnique('l', [1]), op.listRemoveValues('m', [2])])).to.equal('repeat')
    expect(after([op.mapPut('m', 'a', 1), op.mapRemoveKeys('m', ['b'])])).to.equal('repeat')
    expect(afterDoubt(remove('Agent', key))).to.equal('repeat')
  })

  it('never repeats what adds up', () => {
    expect(after([op.addToBin('n', 1)])).to.equal('report')
    expect(after([op.mapIncrement('m', 'a', 1)])).to.equal('report')
    expect(after([op.listAppend('l', [1], 'unordered')])).to.equal('report')
    expect(after([op.listRemoveIndexRange('l', 0, 2)])).to.equal('report')
    expect(after([op.writeBin('x', 1), op.addToBin('n', 1)])).to.equal('report')
  })

  it('never repeats a write that returns what it changes', () => {
    expect(after([op.readExpression('old', bin('str', 'x')), op.writeBin('x', 'new')])).to.equal('report')
    expect(after([op.listRemoveValues('l', [1], 'count')])).to.equal('report')
    expect(after([op.readExpression('other', bin('str', 'y')), op.writeBin('x', 'new')])).to.equal('repeat')
    expect(afterDoubt(remove('Agent', key, { operations: [op.readBin('x')] }))).to.equal('report')
  })

  it('reads back what its own condition keeps from happening twice', () => {
    expect(after([op.writeBin('x', 1)], { exists: 'mustNotExist' })).to.equal('readBack')
    expect(after([op.addToBin('n', 1)], { exists: 'mustNotExist' })).to.equal('readBack')
    expect(after([op.writeBin('x', 1), op.addToBin('v', 1)], { guards: [versionIs('v', 3)] })).to.equal('readBack')
    expect(after([op.writeBin('owner', 'b')], { guards: [binEquals('owner', 'a')] })).to.equal('readBack')
    expect(after([op.addToBin('n', 1)], { generation: 3 })).to.equal('readBack')
  })

  it('does not trust a guard that the command leaves true', () => {
    expect(after([op.addToBin('n', 1)], { guards: [binEquals('owner', 'a')] })).to.equal('report')
    expect(after([op.writeBin('owner', 'a'), op.addToBin('n', 1)], { guards: [binEquals('owner', 'a')] })).to.equal(
      'report',
    )
  })
})
