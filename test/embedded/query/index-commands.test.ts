import Aerospike, { type Client } from 'aerospike'
import { expect } from 'chai'
import { connectOfficialClient, refusal, type Connected } from '../official-client.js'
import { createIndex, putAll } from './query-client.js'

describe('The commands for secondary indexes', () => {
  let connected: Connected
  let client: Client

  beforeEach(async () => {
    connected = await connectOfficialClient({ namespaces: ['test:ap'] })
    client = connected.client
  })

  afterEach(() => connected.close())

  /** The answer without the name that stands before it. */
  const info = async (command: string) => (await client.infoAny(command)).split('\t')[1].trim()
  const create = (parameters: string) => info(`sindex-create:namespace=test;${parameters}`)

  it('tell whether an index exists', async () => {
    expect(await info('sindex-exists:namespace=test;indexname=a')).to.equal('false')
    await createIndex(client, 'a', { bin: 'n' })
    expect(await info('sindex-exists:namespace=test;indexname=a')).to.equal('true')
  })

  it('list the indexes', async () => {
    await createIndex(client, 'a', { bin: 'n' })
    await create('indexname=b;bin=s;type=STRING;indextype=MAPKEYS')
    expect(await info('sindex-list:namespace=test')).to.equal(
      'ns=test:indexname=a:set=demo:bin=n:type=numeric:indextype=default:context=null:exp=null:state=RW;' +
        'ns=test:indexname=b:set=null:bin=s:type=string:indextype=mapkeys:context=null:exp=null:state=RW',
    )
    expect(await info('sindex-list:')).to.equal(await info('sindex-list:namespace=test'))
  })

  it('count the entries', async () => {
    await putAll(client, 'demo', 5, (id) => ({ l: [id, id, 100] }))
    await createIndex(client, 'a', { bin: 'l', type: 'LIST' })
    expect(await info('sindex-stat:namespace=test;indexname=a')).to.match(/^entries=10;.*load_pct=100;/)
    expect(await info('sindex/test/a')).to.match(/load_pct=100/)
  })

  it('drop an index, and do not mind one that is not there', async () => {
    await createIndex(client, 'a', { bin: 'n' })
    await client.indexRemove('test', 'a')
    expect(await info('sindex-list:namespace=test')).to.equal('')
    expect(await info('sindex-delete:namespace=test;indexname=a')).to.equal('ok')
    expect(await refusal(client.infoAny('sindex-stat:namespace=test;indexname=a'))).to.equal(201)
  })

  it('take a repeated creation for done', async () => {
    expect(await create('indexname=a;bin=n;type=NUMERIC')).to.equal('ok')
    expect(await create('indexname=a;bin=n;type=NUMERIC')).to.equal('ok')
    expect((await info('sindex-list:namespace=test')).split(';')).to.have.length(1)
  })

  it('rename an index that is created again under another name', async () => {
    await create('indexname=a;bin=n;type=NUMERIC')
    await create('indexname=b;bin=n;type=NUMERIC')
    expect(await info('sindex-list:namespace=test')).to.match(/^ns=test:indexname=b:/)
    expect(await info('sindex-exists:namespace=test;indexname=a')).to.equal('false')
  })

  const REFUSED: [string, string, number][] = [
    ['one name for two definitions', 'indexname=a;bin=other;type=NUMERIC', 200],
    ['a type that there is not', 'indexname=b;bin=n;type=FLOAT', 4],
    ['a kind that there is not', 'indexname=b;bin=n;type=NUMERIC;indextype=TREE', 4],
    ['an index on no bin', 'indexname=b;type=NUMERIC', 4],
    ['an index without name', 'bin=n;type=NUMERIC', 4],
    ['a bin name that is too long', 'indexname=b;bin=a234567890123456;type=NUMERIC', 4],
    ['a context that is not base64', 'indexname=b;bin=n;type=NUMERIC;context=%%%', 4],
    ['a context that is not a context', 'indexname=b;bin=n;type=NUMERIC;context=kQE=', 4],
    ['an index on a set that is not named', 'indexname=b;indextype=SET', 4],
  ]
  for (const [what, parameters, code] of REFUSED) {
    it(`refuse ${what}`, async () => {
      await create('indexname=a;bin=n;type=NUMERIC')
      expect(await refusal(client.infoAny(`sindex-create:namespace=test;${parameters}`))).to.equal(code)
    })
  }

  it('refuse a context that would create', async () => {
    const context = new Aerospike.cdt.Context().addListIndexCreate(0, 0, false)
    expect(await refusal(createIndex(client, 'c', { bin: 'n', context }))).to.equal(4)
  })

  it('understand the older form', async () => {
    expect(await info('sindex-create:ns=test;set=demo;indexname=a;indexdata=n,numeric')).to.equal('ok')
    expect(await info('sindex-list:ns=test')).to.include('set=demo:bin=n:type=numeric')
  })
})
