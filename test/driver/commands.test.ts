import { expect } from 'chai'
import { binEquals, holds, read, remove, versionIs, write, type Command, type WriteOptions } from '#src/plan/command.js'
import * as e from '#src/plan/expression.js'
import type { Operation } from '#src/plan/operation.js'
import * as op from '#src/plan/operations.js'
import type { RecordKey } from '#src/plan/record-key.js'
import { DoubleValue, GeoValue, type Value } from '#src/plan/value.js'
import type { Driver } from '#src/driver/driver.js'
import type { Outcome } from '#src/driver/outcome.js'
import { connectTo, freshSet } from './set-up.js'
import { isNamedServer, need, needMode, startTestServer, type TestServer } from '../server.js'
import { connect } from '#src/driver/connect.js'
import { startEmbedded } from 'skein/embedded'

for (const mode of ['sc', 'ap'] as const) {
  describe(`commands on a namespace that is ${mode}`, () => {
    let server: TestServer
    let driver: Driver
    let at: (key: string | number | bigint | Uint8Array) => RecordKey

    before(async function () {
      // The client shows time to live by its own clock: no other test may have moved the server's.
      server = await startTestServer()
      at = freshSet(needMode(this, server, mode))
      driver = await connectTo(server)
    })
    after(async () => {
      await driver?.close()
      await server.stop()
    })

    const run = async (command: Exclude<Command, { kind: 'read' }>): Promise<Outcome> =>
      (await driver.run([command]))[0]
    const save = (key: RecordKey, operations: Operation[], options: Partial<WriteOptions> = {}): Promise<Outcome> =>
      run(write('Thing', key, operations, { exists: 'upsert', ...options }))
    const bins = async (key: RecordKey): Promise<unknown> => (await driver.readOne(read('Thing', key)))?.bins

    const values: Record<string, [Value, unknown]> = {
      integer: [42, 42],
      'negative integer': [-1, -1],
      'integer beyond 2^53': [2n ** 60n, 2n ** 60n],
      'smallest integer': [-(2n ** 63n), -(2n ** 63n)],
      'small BigInt': [7n, 7],
      fraction: [1.5, 1.5],
      'integral double': [new DoubleValue(2), 2],
      NaN: [new DoubleValue(Number.NaN), Number.NaN],
      infinity: [new DoubleValue(-Infinity), -Infinity],
      string: ['grüße', 'grüße'],
      'empty string': ['', ''],
      boolean: [true, true],
      bytes: [Buffer.from([0, 1, 2]), Buffer.from([0, 1, 2])],
      'typed array': [new Uint8Array([3, 4]), Buffer.from([3, 4])],
      list: [
        [1, 'a', null, [new DoubleValue(3)]],
        [1, 'a', null, [3]],
      ],
      object: [
        { a: 1, b: { c: [new DoubleValue(2)] } },
        { a: 1, b: { c: [2] } },
      ],
      map: [
        new Map<string | number, Value>([
          [1, 'x'],
          ['y', 2n ** 60n],
        ]),
        { 1: 'x', y: 2n ** 60n },
      ],
      geo: [new GeoValue('{"type":"Point","coordinates":[1,2]}'), '{"type":"Point","coordinates":[1,2]}'],
    }
    for (const [name, [sent, stored]] of Object.entries(values)) {
      it(`stores and reads back: ${name}`, async () => {
        const key = at(`value ${name}`)
        expect((await save(key, [op.writeBin('x', sent)])).state).to.equal('written')
        expect(await bins(key)).to.deep.equal({ x: stored })
      })
    }

    it('keeps a double a double', async () => {
      const key = at('double')
      await save(key, [op.writeBin('x', new DoubleValue(2)), op.writeBin('l', [new DoubleValue(2)])])
      const types = read('Thing', key, 'all', [
        op.readExpression('x', e.eq(e.bin('float', 'x'), e.value(new DoubleValue(2)))),
      ])
      expect((await driver.readOne(types))?.bins).to.deep.equal({ x: true })
    })

    for (const key of [17, 'text', 2n ** 62n, Buffer.from([0, 255])] as const) {
      it(`finds a record by a key of type ${key.constructor.name}`, async () => {
        await save(at(key), [op.writeBin('x', 1)])
        expect(await bins(at(key))).to.deep.equal({ x: 1 })
      })
    }

    it('reads all bins, some bins, none, or what the server computes', async () => {
      const key = at('read')
      await save(key, [op.writeBin('a', 1), op.writeBin('b', 2), op.writeBin('l', [3, 1, 2])])
      const [all, some, none, computed, absent] = await driver.read([
        read('Thing', key),
        read('Thing', key, ['a', 'nope']),
        read('Thing', key, 'none'),
        read('Thing', key, 'all', [
          op.listSize('l'),
          op.readExpression('sum', e.add(e.bin('int', 'a'), e.bin('int', 'b'))),
        ]),
        read('Thing', at('absent')),
      ])
      expect(all?.bins).to.deep.equal({ a: 1, b: 2, l: [3, 1, 2] })
      expect(some?.bins.a).to.equal(1)
      expect(some?.bins.b).to.equal(undefined)
      expect(none?.bins).to.deep.equal({})
      expect(none?.generation).to.equal(1)
      expect(computed?.bins).to.deep.equal({ l: 3, sum: 3 })
      expect(absent).to.equal(null)
      expect((await driver.readOne(read('Thing', key, ['b'])))?.bins).to.deep.equal({ b: 2 })
      expect((await driver.readOne(read('Thing', key, 'none')))?.bins).to.deep.equal({})
      expect(await driver.readOne(read('Thing', at('absent'), 'none'))).to.equal(null)
      expect(await driver.readOne(read('Thing', at('absent'), ['a']))).to.equal(null)
      expect(await driver.readOne(read('Thing', at('absent'), 'all', [op.listSize('l')]))).to.equal(null)
    })

    it('honours existence', async () => {
      const key = at('exists')
      const x = [op.writeBin('x', 1)]
      expect(await save(key, x, { exists: 'mustExist' })).to.deep.include({ state: 'notWritten', reason: 'missing' })
      expect(await save(key, x, { exists: 'mustNotExist', watchGeneration: true })).to.deep.include({
        state: 'written',
        generation: 1,
      })
      const again = await save(key, x, { exists: 'mustNotExist' })
      expect(again).to.deep.include({ state: 'notWritten', reason: 'exists' })
      expect(again.error?.name).to.equal('AlreadyExistsError')
      expect(again.error?.details).to.deep.include({ className: 'Thing', key: 'exists' })
      expect((await save(key, [op.writeBin('y', 2)], { exists: 'replace' })).state).to.equal('written')
      expect(await bins(key)).to.deep.equal({ y: 2 })
    })

    it('replaces a record with lists by dropping all bins first', async () => {
      const key = at('replace')
      await save(key, [op.writeBin('old', 1)])
      await save(key, [op.deleteRecord(), op.writeBin('new', 1), op.listAppendUnique('l', [2, 1])])
      expect(await bins(key)).to.deep.equal({ new: 1, l: [1, 2] })
    })

    it('honours guards, and says what is stored instead', async () => {
      const key = at('guards')
      await save(key, [op.writeBin('v', 1), op.writeBin('owner', 'ann'), op.writeBin('blob', Buffer.from('k'))])
      const guarded = (guards: WriteOptions['guards']): Promise<Outcome> =>
        save(key, [op.writeBin('x', 1)], { exists: 'mustExist', guards })
      for (const guards of [
        [versionIs('v', 1)],
        [binEquals('owner', 'ann')],
        [binEquals('blob', Buffer.from('k'))],
        [binEquals('nothing', null), versionIs('v', 1)],
        [holds(e.gt(e.bin('int', 'v'), e.value(0)))],
      ]) {
        expect((await guarded(guards)).state).to.equal('written')
      }
      const stale = await guarded([versionIs('v', 7)])
      expect(stale).to.deep.include({ state: 'notWritten', reason: 'guard' })
      expect(stale.error).to.deep.include({ name: 'VersionConflictError', expected: 7, stored: 1 })
      expect((await guarded([binEquals('owner', null)])).reason).to.equal('guard')
      expect((await guarded([binEquals('owner', 'bob')])).error).to.deep.include({ expected: 'bob', stored: 'ann' })
      expect((await guarded([holds(e.lt(e.bin('int', 'v'), e.value(0)))])).reason).to.equal('guard')
    })

    it('sets and removes bins by the cheaper call when nothing has to come back', async () => {
      const key = at('plain')
      await save(key, [op.writeBin('x', 1), op.writeBin('y', 2), op.writeBin('__proto__', 3)])
      const outcome = await save(key, [op.writeBin('x', 2n ** 62n), op.removeBin('y')], { exists: 'mustExist' })
      expect(outcome).to.deep.include({ state: 'written', generation: undefined })
      const stored = (await bins(key)) as Record<string, unknown>
      expect(stored.x).to.equal(2n ** 62n)
      expect(stored.y).to.equal(undefined)
      expect((await save(at('none'), [op.removeBin('y')], { exists: 'mustExist' })).reason).to.equal('missing')
      expect((await save(key, [op.writeBin('x', 1)], { exists: 'replace' })).state).to.equal('written')
      expect(await bins(key)).to.deep.equal({ x: 1 })
      const guarded = await save(key, [op.writeBin('x', 9)], { exists: 'mustExist', guards: [binEquals('x', 5)] })
      expect(guarded.reason).to.equal('guard')
    })

    it('checks a generation', async () => {
      const key = at('generation')
      await save(key, [op.writeBin('x', 1)])
      const first = await save(key, [op.writeBin('x', 2)], {
        exists: 'mustExist',
        generation: 1,
        watchGeneration: true,
      })
      expect(first).to.deep.include({ state: 'written', generation: 2 })
      const stale = await save(key, [op.writeBin('x', 3)], { exists: 'mustExist', generation: 1 })
      expect(stale).to.deep.include({ state: 'notWritten', reason: 'generation' })
      expect((await run(remove('Thing', key, { generation: 1 }))).reason).to.equal('generation')
      expect((await run(remove('Thing', key, { generation: 2 }))).state).to.equal('written')
    })

    it('deletes, says whether there was anything, and can read before', async () => {
      const key = at('delete')
      await save(key, [op.writeBin('x', 1)])
      expect((await run(remove('Thing', key, { guards: [binEquals('x', 2)] }))).reason).to.equal('guard')
      const gone = await run(remove('Thing', key, { operations: [op.readBin('x')] }))
      expect(gone).to.deep.include({ state: 'written', bins: { x: 1 } })
      expect(await run(remove('Thing', key))).to.deep.include({ state: 'notWritten', reason: 'missing' })
      expect((await run(remove('Thing', key, { operations: [op.readBin('x')] }))).reason).to.equal('missing')
      expect(await bins(key)).to.equal(undefined)
    })

    it('removes bins, and the record with its last bin', async () => {
      const key = at('remove bin')
      await save(key, [op.writeBin('x', 1), op.writeBin('y', 2)])
      await save(key, [op.removeBin('x')], { exists: 'mustExist' })
      expect(await bins(key)).to.deep.equal({ y: 2 })
      expect((await save(key, [op.removeBin('y')], { exists: 'mustExist' })).state).to.equal('written')
      expect(await bins(key)).to.equal(undefined)
    })

    it('adds to bins, beyond 2^53 too', async () => {
      const key = at('add')
      await save(key, [op.addToBin('n', 5), op.addToBin('d', new DoubleValue(0.5)), op.addToBin('big', 2n ** 60n)])
      await save(key, [op.addToBin('n', -2), op.addToBin('d', new DoubleValue(1)), op.addToBin('big', 2n ** 60n)])
      expect(await bins(key)).to.deep.equal({ n: 3, d: 1.5, big: 2n ** 61n })
    })

    it('keeps, sets and removes the expiry', async () => {
      const key = at('ttl')
      const ttl = async (): Promise<number | null | undefined> => (await driver.readOne(read('Thing', key)))?.ttl
      await save(key, [op.writeBin('x', 1)], { ttl: 1000 })
      expect(await ttl()).to.be.within(990, 1000)
      await save(key, [op.writeBin('x', 2)], { exists: 'mustExist' })
      expect(await ttl()).to.be.within(990, 1000)
      await save(key, [op.touch()], { exists: 'mustExist', ttl: 5000 })
      expect(await ttl()).to.be.within(4990, 5000)
      await save(key, [op.writeBin('x', 3)], { exists: 'mustExist', ttl: 'never' })
      expect(await ttl()).to.equal(null)
    })

    it('works on lists', async () => {
      const key = at('lists')
      await save(key, [op.listCreate('l', 'ordered', true), op.listAppendUnique('l', ['b', 'a'])], {
        exists: 'mustNotExist',
      })
      await save(key, [op.listAppendUnique('l', ['a', 'c'])], { exists: 'mustExist' })
      await save(key, [op.listAppend('raw', [3, 1, 3], 'unordered')], { exists: 'mustExist' })
      expect(await bins(key)).to.deep.equal({ l: ['a', 'b', 'c'], raw: [3, 1, 3] })
      const asked = await driver.read([
        read('Thing', key, 'all', [op.listSize('l'), op.listGetValues('raw', [3], 'count')]),
        read('Thing', key, 'all', [op.listGetIndexRange('l', 1, 5), op.listGetValues('raw', [1, 9], 'value')]),
        read('Thing', key, 'all', [op.listGetValues('raw', [9], 'exists')]),
      ])
      expect(asked.map((one) => one?.bins)).to.deep.equal([
        { l: 3, raw: 2 },
        { l: ['b', 'c'], raw: [1] },
        { raw: false },
      ])
      const removed = await save(key, [
        op.listRemoveValues('l', ['a', 'x'], 'count'),
        op.listRemoveIndexRange('raw', 0, 2),
      ])
      expect(removed.bins).to.deep.equal({ l: 1 })
      await save(key, [op.listSet('raw', 0, 9), op.listRemoveValues('l', ['b'])])
      expect(await bins(key)).to.deep.equal({ l: ['c'], raw: [9] })
      await save(key, [op.listClear('l')])
      expect(await bins(key)).to.deep.equal({ l: [], raw: [9] })
    })

    it('works on maps and inside them', async () => {
      const key = at('maps')
      await save(key, [op.mapCreate('m', 'ordered', true), op.mapPut('m', 'b', { n: 1 }), op.writeBin('x', 1)])
      await save(key, [
        op.mapPutItems(
          'm',
          new Map([
            ['a', { n: 2 }],
            ['c', { n: 3 }],
          ]),
        ),
      ])
      await save(key, [op.mapPut('m', 'name', 'Ann', [op.atKey('b')]), op.mapIncrement('m', 'n', 10, [op.atKey('a')])])
      expect(await bins(key)).to.deep.equal({ x: 1, m: { a: { n: 12 }, b: { n: 1, name: 'Ann' }, c: { n: 3 } } })
      const asked = await driver.read([
        read('Thing', key, 'all', [op.mapSize('m')]),
        read('Thing', key, 'all', [op.mapGetKeys('m', ['a'], 'value')]),
        read('Thing', key, 'all', [op.mapGetKeys('m', ['c', 'zz'], 'key')]),
        read('Thing', key, 'all', [op.mapGetKeyRange('m', 'b', null, 'key')]),
        read('Thing', key, 'all', [op.mapGetIndexRange('m', 1, 1, 'key')]),
        read('Thing', key, 'all', [op.mapGetKeys('m', ['zz'], 'exists')]),
        read('Thing', key, 'all', [op.mapGetIndexRange('m', 2, 1)]),
      ])
      expect(asked.map((one) => one?.bins.m)).to.deep.equal([
        3,
        { n: 12 },
        ['c'],
        ['b', 'c'],
        ['b'],
        false,
        ['c', { n: 3 }],
      ])
      expect((await save(key, [op.mapPut('m', 'n', 1, [op.atKey('gone')])], { exists: 'mustExist' })).reason).to.equal(
        'partMissing',
      )
      expect((await save(key, [op.mapRemoveKeys('m', ['a', 'b'], 'count')])).bins).to.deep.equal({ m: 2 })
      await save(key, [op.mapClear('m')])
      expect(await bins(key)).to.deep.equal({ x: 1, m: {} })
    })

    it('returns the previous value of a bin it overwrites, alone and in a batch', async () => {
      const swap = (key: RecordKey): Exclude<Command, { kind: 'read' }> =>
        write('Thing', key, [op.readExpression('old', e.bin('str', 'x')), op.writeBin('x', 'new')], {
          exists: 'mustExist',
        })
      for (const key of ['p1', 'p2', 'p3']) await save(at(key), [op.writeBin('x', `old ${key}`)])
      expect((await run(swap(at('p1')))).bins).to.deep.equal({ old: 'old p1' })
      const outcomes = await driver.run([swap(at('p2')), swap(at('p3')), swap(at('missing'))])
      expect(outcomes.map((one) => [one.state, one.bins.old])).to.deep.equal([
        ['written', 'old p2'],
        ['written', 'old p3'],
        ['notWritten', undefined],
      ])
    })

    it('runs writes and deletes of one stage together and tells them apart', async () => {
      await save(at('b1'), [op.writeBin('v', 1)])
      await save(at('b2'), [op.writeBin('x', 1)])
      const outcomes = await driver.run([
        write('Thing', at('b1'), [op.writeBin('x', 1), op.addToBin('v', 1)], {
          exists: 'mustExist',
          guards: [versionIs('v', 1)],
        }),
        write('Thing', at('b1x'), [op.writeBin('x', 1)], { exists: 'mustExist' }),
        remove('Thing', at('b2')),
        remove('Thing', at('b2x')),
        write('Thing', at('b3'), [op.writeBin('x', 1)], { exists: 'mustNotExist', ttl: 100 }),
        write('Thing', at('b4'), [op.addToBin('n', 1)], { exists: 'upsert' }),
      ])
      expect(outcomes.map((one) => one.reason ?? one.state)).to.deep.equal([
        'written',
        'missing',
        'written',
        'missing',
        'written',
        'written',
      ])
      const found = await driver.read(['b1', 'b2', 'b3', 'b4'].map((key) => read('Thing', at(key))))
      expect(found.map((one) => one?.bins)).to.deep.equal([{ v: 2, x: 1 }, undefined, { x: 1 }, { n: 1 }])
      expect(found[2]?.ttl).to.be.within(90, 100)
    })

    it('stores the user key only when asked', async () => {
      await save(at('k1'), [op.writeBin('x', 1)], { sendKey: true })
      await driver.run(
        ['k2', 'k3'].map((key) =>
          write('Thing', at(key), [op.writeBin('x', 1)], { exists: 'upsert', sendKey: key === 'k2' }),
        ),
      )
      const keep = e.binExists('x')
      const stored = await driver.read(
        ['k1', 'k2', 'k3'].map((key) => read('Thing', at(key), 'all', [op.readExpression('x', keep)])),
      )
      expect(stored).to.have.length(3)
      const query = driver.client.query(at('k1').namespace, at('k1').set)
      const keys = (await query.results()).map((record) => record.key.key ?? null)
      expect(keys).to.include.members(['k1', 'k2']).and.not.include('k3')
    })
  })
}

describe('a namespace that does not expire records', () => {
  it('refuses a time to live and says what to do', async function () {
    need(this, isNamedServer ? undefined : true, 'needs a namespace that does not expire records')
    const still = await startEmbedded({ namespaces: [{ name: 'still', mode: 'ap', nsupPeriod: 0 }] })
    const driver = await connect({ hosts: still.hosts, namespaces: ['still'] })
    const key = freshSet('still')(1)
    expect(driver.capabilities.namespaces.still.ttl).to.equal(false)
    const outcome = await driver.runOne(write('Thing', key, [op.writeBin('x', 1)], { exists: 'upsert', ttl: 60 }))
    await driver.close()
    await still.stop()
    expect(outcome.reason).to.equal('refused')
    expect(outcome.error?.code).to.equal('SKEIN_4208')
    expect(outcome.error?.message).to.contain('nsup-period')
  })
})
