import { expect } from 'chai'
import { commandBytes, valueBytes } from '#src/plan/wire-bytes.js'
import { read, write } from '#src/plan/command.js'
import { bin } from '#src/plan/expression.js'
import { listRemoveValues, listSize, readBin, readExpression, writeBin } from '#src/plan/operations.js'
import { recordId, recordKey } from '#src/plan/record-key.js'
import { checkResultNames } from '#src/plan/effects.js'
import { sameValue } from '#src/plan/same-value.js'
import { jsonValue, showValue } from '#src/plan/show-value.js'
import { DoubleValue, GeoValue, isDouble, type Value } from '#src/plan/value.js'

const key = recordKey('test', 'agent', 17)

describe('record ids', () => {
  it('are equal exactly for the same record', () => {
    expect(recordId(key)).to.equal(recordId(recordKey('test', 'agent', 17n)))
    expect(recordId(key)).to.not.equal(recordId(recordKey('test', 'agent', '17')))
    expect(recordId(recordKey('test', 'a', Buffer.from('17')))).to.not.equal(recordId(recordKey('test', 'a', '17')))
    expect(recordId(recordKey('t', 'agent', 17))).to.not.equal(recordId(key))
  })
})

describe('comparing a sent value with a stored one', () => {
  const pairs: [Value, unknown, boolean][] = [
    ['a', 'a', true],
    ['a', 'b', false],
    [1, 1, true],
    [1n, 1, true],
    [2n ** 60n, 2n ** 60n, true],
    [new DoubleValue(2), 2, true],
    [new DoubleValue(Number.NaN), Number.NaN, true],
    [1, '1', false],
    [null, undefined, false],
    [Buffer.from('ab'), Buffer.from('ab'), true],
    [Buffer.from('ab'), Buffer.from('ac'), false],
    [[1, ['x']], [1, ['x']], true],
    [[1], [1, 2], false],
    [new Map<string | number, Value>([[1, 'a']]), { '1': 'a' }, true],
    [{ a: { b: 1 } }, { a: { b: 1 } }, true],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [new GeoValue('{}'), '{}', true],
    [true, true, true],
    [true, 1, false],
  ]
  for (const [sent, stored, same] of pairs) {
    it(`${showValue(sent)} ${same ? 'is' : 'is not'} ${showValue(stored as Value)}`, () => {
      expect(sameValue(sent, stored)).to.equal(same)
    })
  }
})

describe('values', () => {
  it('recognises doubles of another copy of the package', () => {
    expect(isDouble({ [Symbol.for('skein.double')]: true, value: 2 })).to.equal(true)
    expect(isDouble({ value: 2 })).to.equal(false)
  })

  it('keeps kinds apart in JSON', () => {
    expect(jsonValue(1n)).to.deep.equal({ $integer: '1' })
    expect(jsonValue(new DoubleValue(2))).to.deep.equal({ $double: 2 })
    expect(jsonValue(Buffer.from('a'))).to.deep.equal({ $bytes: 'YQ==' })
    expect(jsonValue(new Map([[1, 'a']]))).to.deep.equal({ $map: [[1, 'a']] })
  })

  it('shows long values short', () => {
    expect(showValue('x'.repeat(500)))
      .to.have.length.below(90)
      .and.contain('502 characters')
  })

  it('estimates bytes that grow with the data', () => {
    expect(valueBytes('é')).to.equal(2)
    expect(valueBytes(Buffer.alloc(100))).to.equal(100)
    expect(valueBytes(['a'.repeat(100), 'b'.repeat(100)])).to.be.within(200, 220)
    const small = write('Agent', key, [writeBin('x', 'a')], { exists: 'upsert' })
    const large = write('Agent', key, [writeBin('x', 'a'.repeat(1000))], { exists: 'upsert' })
    expect(commandBytes(large) - commandBytes(small)).to.equal(999)
  })
})

describe('results that would hide one another', () => {
  it('are refused before anything is sent', () => {
    const twoReads = read('Agent', key, 'all', [listSize('l'), readBin('l')])
    const readAndWrite = write('Agent', key, [readBin('x'), writeBin('x', 1)], { exists: 'mustExist' })
    const twoRemoves = write('Agent', key, [listRemoveValues('l', [1], 'count'), listRemoveValues('l', [2], 'none')], {
      exists: 'mustExist',
    })
    for (const command of [twoReads, readAndWrite, twoRemoves]) {
      expect(() => checkResultNames(command)).to.throw('only one result can come back')
    }
  })

  it('are fine under names of their own', () => {
    checkResultNames(
      write('Agent', key, [readExpression('old', bin('int', 'x')), writeBin('x', 1)], { exists: 'mustExist' }),
    )
    checkResultNames(write('Agent', key, [writeBin('x', 1), writeBin('x', 2)], { exists: 'mustExist' }))
    checkResultNames(read('Agent', key, 'all', [listSize('l'), readBin('m')]))
  })
})
