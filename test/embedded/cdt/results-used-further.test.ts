import Aerospike from 'aerospike'
import { expect } from 'chai'
import { compileExpression, evaluate } from '#src/embedded/expression/index.js'
import { storable } from '#src/embedded/value/storable.js'
import { connectOfficialClient, type Connected } from '../official-client.js'
import { expressionBytes, raw, type Written } from '../expression/expression-bytes.js'
import { sampleRecord } from '../expression/sample-record.js'
import { map, show } from './notation.js'

const UNORDERED_MAP = 16
const BY_RANK: Written = [127, 5, 0, [106, UNORDERED_MAP, 0], [81, 5, raw('m')]]

describe('a map that came back in the order of its values', () => {
  let connected: Connected
  before(async () => {
    connected = await connectOfficialClient({ namespaces: ['test:ap'] })
  })
  after(() => connected.close())

  const record = sampleRecord({ bins: { m: map(1, ['a', 3], ['b', 2], ['c', 1]) } })

  it('keeps that order in the answer', () => {
    expect(show(evaluate(compileExpression(expressionBytes(BY_RANK)), record))).to.equal('{"c":1,"b":2,"a":3}')
  })

  it('is looked into like any other map', () => {
    const lookup = compileExpression(expressionBytes([127, 2, 0, [97, 7, 'a'], BY_RANK]))
    expect(evaluate(lookup, record)).to.equal(3)
  })

  it('is stored in key order', () => {
    expect(show(storable(map(8, ['b', 1], ['a', map(8, ['d', 1], ['c', 2])])))).to.equal('{"a":{"c":2,"d":1},"b":1}')
  })

  it('can be written to a bin and found by key', async () => {
    const { client } = connected
    const { exp, maps } = Aerospike
    const key = new Aerospike.Key('test', 'further', 1)
    await client.put(key, { m: { a: 3, b: 2, c: 1 } })
    const byRank = exp.maps.getByRankRange(exp.binMap('m'), exp.int(3), exp.int(0), maps.returnType.UNORDERED_MAP)
    await client.operate(key, [exp.operations.write('sorted', byRank, 0)])
    const { bins } = await client.operate(key, [maps.getByKey('sorted', 'a', maps.returnType.VALUE)])
    expect(bins).to.deep.equal({ sorted: 3 })
  })
})
