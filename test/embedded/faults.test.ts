import Aerospike, { type BatchWriteRecord, type Client } from 'aerospike'
import { expect } from 'chai'
import type { EmbeddedServer, FaultKind, FaultOptions } from 'skein/embedded'
import { connectOfficialClient, refusal, releaseTransaction, type Connected } from './official-client.js'

const { Key, batchType, operations: op } = Aerospike
const KEY_BUSY = 14
const TIMEOUT = 9
const PATIENT = { maxRetries: 0, socketTimeout: 20_000, totalTimeout: 20_000 }
const IMPATIENT = { maxRetries: 0, socketTimeout: 1000, totalTimeout: 1000 }

/** Codes that a client sees for each fault on a write; a lost connection has one of several. */
const ACTIONS: readonly {
  readonly name: string
  readonly fault: FaultOptions
  readonly sees: (code?: number) => void
}[] = [
  { name: 'answer', fault: { answer: KEY_BUSY }, sees: (code) => expect(code).to.equal(KEY_BUSY) },
  { name: 'drop', fault: { drop: true }, sees: (code) => expect(code).to.be.lessThan(0) },
  { name: 'hang', fault: { hang: true }, sees: (code) => expect(code).to.equal(TIMEOUT) },
]

describe('embedded server: faults', () => {
  let connected: Connected
  let client: Client
  let server: EmbeddedServer
  let lastId = 0
  const newKey = (set = 'faults') => new Key('test', set, ++lastId)
  const write = (key: Aerospike.Key): BatchWriteRecord => ({
    type: batchType.BATCH_WRITE,
    key,
    ops: [op.write('a', 1)],
  })
  const put = (key: Aerospike.Key, policy = PATIENT) => refusal(client.put(key, { a: 1 }, undefined, policy))

  before(async () => {
    connected = await connectOfficialClient({ namespaces: [{ name: 'test', allowExpunge: true }, 'cache:ap'] })
    ;({ client, server } = connected)
  })
  afterEach(() => server.faults.clear())
  after(() => connected.close())

  for (const { name, fault, sees } of ACTIONS) {
    for (const after of [false, true]) {
      const when = after ? 'after' : 'before'
      const policy = name === 'hang' ? IMPATIENT : PATIENT

      it(`${name} ${when} a write: the record is ${after ? 'written' : 'untouched'}`, async () => {
        const key = newKey()
        const placed = await server.faults.add({ kind: 'write', ...fault, after })
        sees(await put(key, policy))
        expect(await placed.hits()).to.equal(1)
        expect(await client.exists(key)).to.equal(after)
        expect(await put(key)).to.equal(undefined)
      })

      it(`${name} ${when} a row of a batch: the row is ${after ? 'written' : 'untouched'}`, async () => {
        const [first, hit, last] = [newKey(), newKey('hit'), newKey()]
        await server.faults.add({ kind: 'write', set: 'hit', ...fault, after })
        const call = client.batchWrite([write(first), write(hit), write(last)], policy)
        if (name === 'answer') {
          expect((await call).map((row) => row.status)).to.deep.equal([0, KEY_BUSY, 0])
        } else {
          sees(await refusal(call))
          await server.faults.clear()
        }
        expect(await client.exists(first)).to.equal(true)
        expect(await client.exists(hit)).to.equal(after)
      })

      it(`${name} ${when} a batch as a whole: ${after ? 'every row' : 'no row'} is written`, async () => {
        const keys = [newKey(), newKey()]
        await server.faults.add({ kind: 'batch', ...fault, after })
        const outcome = await client.batchWrite(keys.map(write), policy).then(
          (rows) => rows[0].status as number,
          (error: { code: number }) => error.code,
        )
        sees(outcome)
        expect(await Promise.all(keys.map((key) => client.exists(key)))).to.deep.equal([after, after])
      })

      it(`${name} ${when} a delete: the record is ${after ? 'gone' : 'there'}`, async () => {
        const key = newKey()
        await client.put(key, { a: 1 })
        await server.faults.add({ kind: 'delete', ...fault, after })
        sees(await refusal(client.remove(key, policy)))
        expect(await client.exists(key)).to.equal(!after)
      })
    }
  }

  it('meets queries: an answer instead of rows, or no answer at all', async () => {
    await client.put(newKey('queried'), { a: 1 })
    const query = () => client.query('test', 'queried').results({ maxRetries: 0, totalTimeout: 20_000 })
    await server.faults.add({ kind: 'query', set: 'queried', answer: 8 })
    expect(await refusal(query())).to.equal(8)
    await server.faults.add({ kind: 'query', set: 'queried', drop: true })
    expect(await refusal(query())).to.be.lessThan(0)
    await server.faults.add({ kind: 'query', set: 'queried', delay: 20 })
    expect(await query()).to.have.length(1)
  })

  it('tells the client that a write whose answer was lost is in doubt', async () => {
    await server.faults.add({ kind: 'write', drop: true, after: true })
    const error = await client.put(newKey(), { a: 1 }, undefined, PATIENT).catch((reason: unknown) => reason)
    expect(error).to.have.property('inDoubt', true)
  })

  it('delay holds a command back while others go on, and then lets it take effect', async () => {
    const [slow, quick] = [newKey('slow'), newKey()]
    const placed = await server.faults.add({ kind: 'write', set: 'slow', delay: 2000 })
    const waiting = client.put(slow, { a: 1 }, undefined, { totalTimeout: 20_000 })
    while ((await placed.hits()) === 0) await client.put(quick, { a: 1 })
    expect(await client.exists(slow)).to.equal(false)
    await waiting
    expect(await client.exists(slow)).to.equal(true)
  })

  it('delay holds the answer of a batch back', async () => {
    const [slow, quick] = [newKey('slow'), newKey()]
    const placed = await server.faults.add({ set: 'slow', kind: 'write', delay: 2000 })
    let answered = false
    const waiting = client.batchWrite([write(slow), write(quick)], { totalTimeout: 20_000 }).then((rows) => {
      answered = true
      return rows.map((row) => row.status)
    })
    while ((await placed.hits()) === 0) await client.exists(quick)
    expect(answered).to.equal(false)
    expect(await waiting).to.deep.equal([0, 0])
  })

  it('delay after the effect holds back what was read or found before later writes', async () => {
    const key = newKey('late')
    await client.put(key, { a: 1 })
    const placed = await server.faults.add({ kind: ['read', 'query'], set: 'late', times: 2, delay: 200, after: true })
    const read = client.get(key, { totalTimeout: 20_000 })
    const found = client.query('test', 'late').results({ maxRetries: 0, totalTimeout: 20_000 })
    while ((await placed.hits()) < 2) await client.exists(newKey())
    await client.put(key, { a: 2 })
    expect([(await read).bins, (await found).map(({ bins }) => bins)]).to.deep.equal([{ a: 1 }, [{ a: 1 }]])
    expect((await client.get(key)).bins).to.deep.equal({ a: 2 })
  })

  it('delay can come before an answer', async () => {
    const key = newKey()
    await server.faults.add({ kind: 'write', delay: 20, answer: KEY_BUSY })
    expect(await put(key)).to.equal(KEY_BUSY)
    expect(await client.exists(key)).to.equal(false)
  })

  it('meets only commands of its kind', async () => {
    const key = newKey()
    await server.faults.add({ kind: 'read', answer: KEY_BUSY })
    expect(await put(key)).to.equal(undefined)
    expect(await refusal(client.get(key))).to.equal(KEY_BUSY)
    await server.faults.add({ kind: ['delete', 'write'], answer: KEY_BUSY, times: 2 })
    expect(await refusal(client.get(key))).to.equal(undefined)
    expect(await put(key)).to.equal(KEY_BUSY)
    expect(await refusal(client.remove(key))).to.equal(KEY_BUSY)
    expect(await put(key)).to.equal(undefined)
  })

  it('meets only commands on its namespace, its set, its key', async () => {
    await server.faults.add({ namespace: 'cache', answer: KEY_BUSY })
    expect(await put(newKey())).to.equal(undefined)
    expect(await put(new Key('cache', 'demo', 1))).to.equal(KEY_BUSY)
    for (const id of [17, 'seventeen', 2n ** 62n, Buffer.from('17')]) {
      await server.faults.add({ set: 'keyed', key: id, answer: KEY_BUSY })
      expect(await put(new Key('test', 'other', id))).to.equal(undefined)
      expect(await put(new Key('test', 'keyed', 18))).to.equal(undefined)
      expect(await put(new Key('test', 'keyed', id))).to.equal(KEY_BUSY)
    }
  })

  it('lets `skip` commands pass and meets the next `times`', async () => {
    const placed = await server.faults.add({ kind: 'write', answer: KEY_BUSY, skip: 2, times: 3 })
    const key = newKey()
    const codes: (number | undefined)[] = []
    for (let i = 0; i < 7; i++) codes.push(await put(key))
    expect(codes).to.deep.equal([undefined, undefined, KEY_BUSY, KEY_BUSY, KEY_BUSY, undefined, undefined])
    expect(await placed.hits()).to.equal(3)
  })

  it('uses faults in the order they were put in place, and forgets one that is removed', async () => {
    const key = newKey()
    const first = await server.faults.add({ kind: 'write', answer: 8 })
    await server.faults.add({ kind: 'write', answer: 9 })
    const third = await server.faults.add({ kind: 'write', answer: 10 })
    await server.faults.add({ kind: 'write', answer: 11 })
    expect([await put(key), await put(key)]).to.deep.equal([8, 9])
    await first.remove()
    await third.remove()
    expect([await put(key), await put(key)]).to.deep.equal([11, undefined])
  })

  it('reaches every step of a transaction', async () => {
    const kinds: FaultKind[] = [
      'txn-monitor',
      'txn-verify',
      'txn-commit',
      'txn-roll-forward',
      'txn-roll-back',
      'txn-close',
    ]
    const placed = await Promise.all(kinds.map((kind) => server.faults.add({ kind, delay: 1 })))
    const [read, written] = [newKey(), newKey()]
    await client.put(read, { a: 1 })
    for (const finish of ['commit', 'abort'] as const) {
      const txn = new Aerospike.Transaction()
      await client.get(read, { txn })
      await client.put(written, { a: 1 }, undefined, { txn })
      await client[finish](txn)
      releaseTransaction(txn)
    }
    expect(await Promise.all(placed.map((fault) => fault.hits()))).to.deep.equal(kinds.map(() => 1))
  })

  it('refuses what it cannot do', async () => {
    const says = (options: FaultOptions) =>
      server.faults.add(options).then(
        () => '',
        (error: Error) => error.message,
      )
    expect(await says({ kind: 'write' })).to.include('needs something to do')
    expect(await says({ key: 1, answer: 2 })).to.include('needs its set')
    expect(await says({ kind: 'info' as FaultKind, answer: 2 })).to.include('There is no kind of command "info"')
  })
})
