import Aerospike from 'aerospike'
import { expect } from 'chai'
import { connectOfficialClient, refusal, type Connected } from '../official-client.js'

const { bitwise, Key, exp } = Aerospike
const { writeFlags, resizeFlags } = bitwise

describe('embedded server: operations on bits', () => {
  let connected: Connected
  const key = new Key('test', 'bits', 1)

  before(async () => {
    connected = await connectOfficialClient({ namespaces: ['test:ap'] })
  })
  after(() => connected.close())
  beforeEach(() =>
    connected.client.put(key, { b: Buffer.from('0102030405', 'hex'), empty: Buffer.alloc(0), text: 'a' }),
  )

  const operate = (...ops: Parameters<typeof connected.client.operate>[1]) => connected.client.operate(key, ops)
  const stored = async (): Promise<unknown> => {
    const { b } = (await connected.client.get(key)).bins as { b: Buffer }
    return b.toString('hex')
  }

  it('refuse ranges beyond the bits with 26, and beyond the bytes with 4', async () => {
    expect(await refusal(operate(bitwise.set('b', 41, 8, Buffer.from([255]))))).to.equal(26)
    expect(await refusal(operate(bitwise.set('b', 33, 8, Buffer.from([255]))))).to.equal(26)
    expect(await refusal(operate(bitwise.get('b', 0, 41)))).to.equal(26)
    expect(await refusal(operate(bitwise.get('b', -41, 1)))).to.equal(26)
    expect(await refusal(operate(bitwise.not('empty', 0, 1)))).to.equal(26)
    expect(await refusal(operate(bitwise.remove('b', 3, 3)))).to.equal(4)
    expect(await refusal(operate(bitwise.remove('empty', 0, 1)))).to.equal(4)
    expect(await stored()).to.equal('0102030405')
  })

  it('refuse too few bytes, integers of more than 64 bits and flags they do not know with 4', async () => {
    expect(await refusal(operate(bitwise.or('b', 0, 16, Buffer.from([255]))))).to.equal(4)
    expect(await refusal(operate(bitwise.getInt('b', 0, 65, false)))).to.equal(4)
    const createOnly = { writeFlags: writeFlags.CREATE_ONLY }
    expect(await refusal(operate(bitwise.set('b', 0, 8, Buffer.from([1])).withPolicy(createOnly)))).to.equal(4)
  })

  it('need a bin of bytes, and make one only where they resize or insert', async () => {
    expect(await refusal(operate(bitwise.set('none', 0, 8, Buffer.from([1]))))).to.equal(17)
    expect(await refusal(operate(bitwise.not('text', 0, 1)))).to.equal(12)
    expect(await refusal(operate(bitwise.get('text', 0, 1)))).to.equal(12)
    await operate(bitwise.insert('made', 1, Buffer.from([0x0a])), bitwise.resize('sized', 3))
    const { made, sized } = (await connected.client.get(key)).bins
    expect([made, sized]).to.deep.equal([Buffer.from([0, 0x0a]), Buffer.alloc(3)])
  })

  it('do what they can with PARTIAL, and nothing with NO_FAIL', async () => {
    const partial = { writeFlags: writeFlags.PARTIAL }
    const noFail = { writeFlags: writeFlags.NO_FAIL }
    await operate(bitwise.set('b', 36, 8, Buffer.from([255])).withPolicy(noFail))
    await operate(bitwise.remove('b', 4, 9).withPolicy(noFail))
    expect(await stored()).to.equal('0102030405')
    await operate(bitwise.set('b', 36, 8, Buffer.from([255])).withPolicy(partial))
    expect(await stored()).to.equal('010203040f')
    await operate(bitwise.remove('b', 3, 9).withPolicy(partial))
    expect(await stored()).to.equal('010203')
  })

  it('resize from either end, and only in the direction that is allowed', async () => {
    await operate(bitwise.resize('b', 3, resizeFlags.FROM_FRONT))
    expect(await stored()).to.equal('030405')
    await operate(bitwise.resize('b', 4, resizeFlags.FROM_FRONT | resizeFlags.GROW_ONLY))
    expect(await stored()).to.equal('00030405')
    expect(await refusal(operate(bitwise.resize('b', 5, resizeFlags.SHRINK_ONLY)))).to.equal(4)
    await operate(bitwise.resize('b', 0, resizeFlags.SHRINK_ONLY))
    expect(await stored()).to.equal('')
  })

  it('refuse a size that no record can have', async () => {
    expect(await refusal(operate(bitwise.resize('b', 2_000_000)))).to.equal(13)
    expect(await refusal(operate(bitwise.resize('b', 2 ** 30)))).to.equal(4)
    expect(await refusal(operate(bitwise.insert('b', 2 ** 30, Buffer.from([1]))))).to.equal(4)
  })

  it('work in expressions, where a change answers the changed bytes and writes nothing', async () => {
    const count = exp.bit.count(exp.binBlob('b'), exp.uint(40), exp.int(0))
    const without = exp.bit.remove(exp.binBlob('b'), exp.uint(3), exp.int(1), null as never)
    const { bins } = await operate(exp.operations.read('count', count, 0), exp.operations.read('without', without, 0))
    expect(bins).to.deep.include({ count: 7, without: Buffer.from([1, 5]) })
    expect(await stored()).to.equal('0102030405')
  })
})
