import Aerospike, { type Client, type Transaction } from 'aerospike'
import { expect } from 'chai'
import { SkeinError } from 'skein'
import { startEmbedded, type EmbeddedOptions } from 'skein/embedded'
import { connectOfficialClient, refusal, releaseTransaction, type Connected } from './official-client.js'

const { Key, batchType, operations: op } = Aerospike
const DURABLE = { durableDelete: true }
const FORBIDDEN = 22
const ENTERPRISE_ONLY = 25

describe('embedded server: namespaces', () => {
  let connected: Connected
  let client: Client
  let lastId = 0
  const stored = async (namespace: string) => {
    const key = new Key(namespace, 'modes', ++lastId)
    await client.put(key, { a: 1 })
    return key
  }
  const inTransaction = async (work: (txn: Transaction) => Promise<void>) => {
    const txn = new Aerospike.Transaction()
    try {
      await work(txn)
      await client.abort(txn)
    } finally {
      releaseTransaction(txn)
    }
  }

  before(async () => {
    connected = await connectOfficialClient({
      namespaces: ['strong:sc', { name: 'lenient', mode: 'sc', allowExpunge: true }, 'available:ap'],
    })
    client = connected.client
  })
  after(() => connected.close())

  it('strongly consistent: refuses with 22 whatever deletes a record without being durable', async () => {
    const key = await stored('strong')
    expect(await refusal(client.remove(key))).to.equal(FORBIDDEN)
    expect(await refusal(client.put(key, { a: null }))).to.equal(FORBIDDEN)
    expect(await refusal(client.operate(key, [op.delete()]))).to.equal(FORBIDDEN)
    const [row] = await client.batchWrite([
      { type: batchType.BATCH_REMOVE, key },
      { type: batchType.BATCH_READ, key },
    ])
    expect(row.status).to.equal(FORBIDDEN)
    expect((await client.get(key)).bins).to.deep.equal({ a: 1 })
  })

  it('strongly consistent: takes durable deletes', async () => {
    const [removed, emptied] = [await stored('strong'), await stored('strong')]
    await client.remove(removed, DURABLE)
    await client.put(emptied, { a: null }, undefined, DURABLE)
    expect([await client.exists(removed), await client.exists(emptied)]).to.deep.equal([false, false])
  })

  it('strongly consistent with allowExpunge: takes plain deletes, but not inside a transaction', async () => {
    const [plain, held] = [await stored('lenient'), await stored('lenient')]
    await client.remove(plain)
    expect(await client.exists(plain)).to.equal(false)
    await inTransaction(async (txn) => {
      await client.put(held, { a: 2 }, undefined, { txn })
      expect(await refusal(client.remove(held, { txn }))).to.equal(FORBIDDEN)
      await client.remove(held, { txn, ...DURABLE })
    })
  })

  it('available: refuses durable deletes and transactions with 25', async () => {
    const key = await stored('available')
    expect(await refusal(client.remove(key, DURABLE))).to.equal(ENTERPRISE_ONLY)
    await inTransaction(async (txn) => {
      expect(await refusal(client.get(key, { txn }))).to.equal(ENTERPRISE_ONLY)
    })
    await inTransaction(async (txn) => {
      expect(await refusal(client.put(key, { a: 2 }, undefined, { txn }))).to.equal(ENTERPRISE_ONLY)
    })
    expect((await client.get(key)).bins).to.deep.equal({ a: 1 })
    await client.remove(key)
  })

  it('checks whether a delete is durable before it looks for the record', async () => {
    const missing = (namespace: string) => new Key(namespace, 'modes', 'missing')
    expect(await refusal(client.remove(missing('strong')))).to.equal(FORBIDDEN)
    expect(await refusal(client.remove(missing('available'), DURABLE))).to.equal(ENTERPRISE_ONLY)
    expect(await refusal(client.remove(missing('strong'), DURABLE))).to.equal(2)
    expect(await refusal(client.remove(missing('available')))).to.equal(2)
  })

  it('keeps the records of namespaces apart', async () => {
    const keys = ['strong', 'lenient', 'available'].map((namespace) => new Key(namespace, 'apart', 'same'))
    await Promise.all(keys.map((key, i) => client.put(key, { i })))
    const found = await Promise.all(keys.map(async (key) => (await client.get(key)).bins.i))
    expect(found).to.deep.equal([0, 1, 2])
  })

  it('tells its edition, and which namespaces are strongly consistent', async () => {
    expect(await client.infoAny('namespaces')).to.equal('namespaces\tstrong;lenient;available\n')
    expect(await client.infoAny('edition')).to.include('Enterprise')
    const tells = async (namespace: string) => {
      const text = await client.infoAny(`get-config:context=namespace;namespace=${namespace}`)
      return /strong-consistency=(\w+)/.exec(text)?.[1]
    }
    expect([await tells('strong'), await tells('available')]).to.deep.equal(['true', 'false'])
  })
})

describe('embedded server: options', () => {
  it('serves the namespace test, strongly consistent, when it is told nothing', async () => {
    const connected = await connectOfficialClient()
    try {
      expect(await connected.client.infoAny('namespaces')).to.equal('namespaces\ttest\n')
      expect(await connected.client.infoAny('namespace/test')).to.include('strong-consistency=true')
    } finally {
      await connected.close()
    }
  })

  it('answers like a community server when every namespace is available', async () => {
    const connected = await connectOfficialClient({ namespaces: ['test:ap'] })
    try {
      expect(await connected.client.infoAny('edition')).to.equal('edition\tAerospike Ce Edition\n')
    } finally {
      await connected.close()
    }
  })

  const wrong: readonly (readonly [EmbeddedOptions, string])[] = [
    [{ namespaces: [] }, 'No namespace is given.'],
    [{ namespaces: ['a', 'a:ap'] }, 'The namespace "a" is given twice.'],
    [{ namespaces: ['a:cp'] }, '"a:cp" is not a namespace.'],
    [{ namespaces: [{ name: 'a b' }] }, '"a b" is not a namespace name.'],
    [{ namespaces: [{ name: 'a', mode: 'cp' as 'ap' }] }, '"cp" is not a mode of the namespace "a".'],
    [{ namespaces: 'a' as unknown as [] }, 'The namespaces are not a list.'],
    [{ namespaces: [5] as unknown as [] }, '"5" is not a namespace.'],
    [{ port: 65_536 }, 'The port 65536 is not between 0 and 65535.'],
  ]
  for (const [options, says] of wrong) {
    it(`refuses ${JSON.stringify(options)}`, async () => {
      const error = await startEmbedded(options).then(
        () => undefined,
        (reason: Error) => reason,
      )
      expect(error).to.be.instanceOf(SkeinError)
      expect(error).to.include({ code: 'SKEIN_2320' })
      expect(error?.message).to.include(says)
    })
  }
})
