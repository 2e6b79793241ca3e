import Aerospike, { type Client } from 'aerospike'
import { expect } from 'chai'
import { connectOfficialClient, refusal, releaseTransaction, type Connected } from './official-client.js'

const { Key, exp, operations: op } = Aerospike
const { VALUE, MAP_KEY, MATCHING_TREE } = exp.pathSelectFlags
const value = exp.loopVarPart.VALUE

const path = () => new Aerospike.cdt.Context()
const isDear = exp.gt(exp.maps.getByKey(exp.loopVarMap(value), exp.str('price'), exp.type.INT, 7), exp.int(10))
const dearTitles = () => path().addMapKey('books').addAllChildrenWithFilter(isDear).addMapKey('title')
const prices = () => path().addMapKey('books').addAllChildren().addMapKey('price')
const shop = (...entries: [string, number][]) => ({
  shop: { books: entries.map(([title, price]) => ({ title, price })), open: true },
})

for (const mode of ['ap', 'sc'] as const) {
  describe(`embedded server: paths through the official client (${mode})`, () => {
    let connected: Connected
    let client: Client
    const key = new Key('test', 'shops', 1)
    const other = new Key('test', 'shops', 2)

    before(async () => {
      connected = await connectOfficialClient({ namespaces: [{ name: 'test', mode }] })
      client = connected.client
    })
    after(() => connected.close())

    beforeEach(async () => {
      await client.put(key, shop(['a', 5], ['b', 20]))
      await client.put(other, shop(['c', 30]))
    })

    it('select in an operate', async () => {
      const { bins } = await client.operate(key, [
        op.selectByPath('shop', VALUE, dearTitles()),
        exp.operations.read(
          'keys',
          exp.selectByPath(exp.binMap('shop'), exp.type.LIST, MAP_KEY, path().addAllChildren()),
          0,
        ),
      ])
      expect(bins).to.deep.equal({ shop: ['b'], keys: ['books', 'open'] })
    })

    it('change what they lead to, and nothing else', async () => {
      await client.operate(key, [op.modifyByPath('shop', exp.add(exp.loopVarInt(value), exp.int(1)), 0, prices())])
      expect((await client.get(key)).bins).to.deep.equal(shop(['a', 6], ['b', 21]))
    })

    it('remove what they lead to', async () => {
      const dear = path().addMapKey('books').addAllChildrenWithFilter(isDear)
      await client.operate(key, [op.modifyByPath('shop', exp.resultRemove(), 0, dear)])
      expect((await client.get(key)).bins).to.deep.equal(shop(['a', 5]))
    })

    it('leave the record as it was where a change fails', async () => {
      const doubled = op.modifyByPath('shop', exp.mul(exp.loopVarFloat(value), exp.float(2)), 0, prices())
      expect(await refusal(client.operate(key, [op.write('seen', 1), doubled]))).to.equal(1)
      expect((await client.get(key)).bins).to.deep.equal(shop(['a', 5], ['b', 20]))
    })

    it('select in the rows of a batch', async () => {
      const rows = await client.batchRead([
        { key, ops: [op.selectByPath('shop', VALUE, prices())] },
        { key: other, ops: [op.selectByPath('shop', MATCHING_TREE, dearTitles())] },
      ])
      expect(rows.map(({ record }) => record.bins)).to.deep.equal([
        { shop: [5, 20] },
        { shop: { books: [{ title: 'c' }] } },
      ])
    })

    it('filter records', async () => {
      const dear = exp.selectByPath(exp.binMap('shop'), exp.type.LIST, VALUE, dearTitles())
      const filterExpression = exp.eq(exp.lists.size(dear), exp.int(0))
      expect(await refusal(client.get(key, { filterExpression }))).to.equal(27)
      await client.put(key, shop(['a', 5]))
      expect(await refusal(client.get(key, { filterExpression }))).to.equal(undefined)
    })

    it('project the records of a query', async () => {
      const query = client.query('test', 'shops', { ops: [op.selectByPath('shop', VALUE, dearTitles())] })
      const found = (await query.results()).map(({ bins }) => bins.shop)
      expect(found).to.have.deep.members([['b'], ['c']])
    })
  })
}

describe('embedded server: paths in a transaction', () => {
  it('change a record for others when it commits', async () => {
    const connected = await connectOfficialClient({ namespaces: ['test:sc'] })
    const { client } = connected
    const key = new Key('test', 'shops', 1)
    await client.put(key, shop(['a', 5]))
    const txn = new Aerospike.Transaction()
    const change = op.modifyByPath('shop', exp.int(7), 0, prices())
    await client.operate(key, [change], undefined, { txn })
    const before = (await client.get(key)).bins
    await client.commit(txn)
    releaseTransaction(txn)
    expect([before, (await client.get(key)).bins]).to.deep.equal([shop(['a', 5]), shop(['a', 7])])
    await connected.close()
  })
})
