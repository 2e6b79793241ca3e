import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { inspect } from 'node:util'
import { expect } from 'chai'
import { Key, ManyToOne, OneToMany, Record, collection, open, ref, type Database } from 'skein'
import { read, remove, write } from '#src/plan/command.js'
import * as op from '#src/plan/operations.js'
import type { RecordKey } from '#src/plan/record-key.js'
import type { Driver } from '#src/driver/driver.js'
import type { CommandEvent, WarningEvent } from '#src/driver/events.js'
import type { DriverOptions } from '#src/driver/options.js'
import { rejection } from '../session/rejection.js'
import { connectTo, freshSet } from './set-up.js'
import { sharedServer } from '../shared-server.js'
import type { TestServer } from '../server.js'
import { heardEvents } from '../heard-events.js'
import { emptySets } from '../empty-sets.js'

@Record({ set: 'ev-ship' })
class Ship {
  @Key() id!: string
  @OneToMany(() => Sailor, 'ship', { strategy: 'secondaryIndex' }) crew = collection<Sailor>()
}

@Record({ set: 'ev-sailor' })
class Sailor {
  @Key() id!: number
  @ManyToOne(() => Ship, 'crew') ship = ref<Ship>()
}

/** Its index is never made. */
@Record({ set: 'ev-pier' })
class Pier {
  @Key() id!: number
  @OneToMany(() => Boat, 'pier', { strategy: 'secondaryIndex' }) boats = collection<Boat>()
}

@Record({ set: 'ev-boat' })
class Boat {
  @Key() id!: number
  @ManyToOne(() => Pier, 'boats') pier = ref<Pier>()
}

describe('events', () => {
  it('are published in the context of the call that sent the command, alone, in a batch and in a transaction', async () => {
    const on = await sharedServer()
    const request = new AsyncLocalStorage<number>()
    const key = freshSet(on.namespaces[0])
    const seen: string[] = []
    const listen = (event: unknown): void => {
      const { kind, key: id } = event as CommandEvent
      seen.push(`${kind} ${String(id)} ${request.getStore()}`)
    }
    const named = await connectTo(on, { reveal: { keys: true } })
    subscribe('skein:command', listen)
    try {
      // Many at once, so that some share a batch with those of other callers.
      const numbers = Array.from({ length: 40 }, (_, i) => i)
      const save = (i: number) => write('Thing', key(String(i)), [op.writeBin('x', i)], { exists: 'upsert' })
      await Promise.all(numbers.map((i) => request.run(i, () => named.runOne(save(i)))))
      await Promise.all(numbers.map((i) => request.run(i, () => named.readOne(read('Thing', key(String(i)))))))
      if (on.sc !== undefined) {
        await request.run(41, async () => {
          const transaction = await named.begin()
          await named.run([save(41)], { transaction })
          await named.read([read('Thing', key('41'))], { transaction })
          await named.abort(transaction)
        })
      }
    } finally {
      unsubscribe('skein:command', listen)
      await named.close()
    }
    expect(seen).to.have.length.greaterThan(79)
    for (const line of seen) {
      const [, id, store] = line.split(' ')
      expect(store, line).to.equal(id)
    }
  })

  let server: TestServer
  let at: (key: string) => RecordKey
  let driver: Driver

  before(async () => {
    server = await sharedServer()
    at = freshSet(server.namespaces[0])
    driver = await connectTo(server)
  })
  after(() => driver?.close())

  const using = async (options: Partial<DriverOptions>, work: (driver: Driver) => Promise<unknown>): Promise<void> => {
    const other = await connectTo(server, options)
    await work(other).finally(() => other.close())
  }

  it('tell of each command its class, kind, time and bytes', async () => {
    const events = await heardEvents<CommandEvent>('skein:command', async () => {
      await driver.run([
        write('Agent', at('secret-key'), [op.writeBin('name', 'secret-value')], { exists: 'mustNotExist' }),
      ])
      await driver.readOne(read('Agent', at('secret-key')))
      await driver.run([remove('Agent', at('secret-key')), remove('Listing', at('other-secret'))])
    })
    expect(events.map((event) => [event.kind, event.class, event.code, event.rows])).to.deep.equal([
      ['write', 'Agent', 0, 1],
      ['read', 'Agent', 0, 1],
      ['delete', 'Agent', 0, 2],
      ['delete', 'Listing', 2, 2],
    ])
    expect(new Set(events.map((event) => event.roundTrip)).size).to.equal(3)
    for (const event of events) {
      expect(event.ms).to.be.above(0)
      expect(event.bytes).to.be.above(50)
      expect(event).to.deep.include({ namespace: at('').namespace, set: at('').set, attempt: 1, inTransaction: false })
    }
    expect(inspect(events, { depth: 10 })).to.not.contain('secret')
  })

  it('show keys and values when asked', async () => {
    const events = await heardEvents<CommandEvent>('skein:command', () =>
      using({ reveal: { keys: true, values: true } }, (other) =>
        other.run([write('Agent', at('my-key'), [op.writeBin('name', 'Ann')], { exists: 'upsert' })]),
      ),
    )
    expect(events[0].key).to.equal('my-key')
    expect(events[0].text).to.contain('"my-key"').and.to.contain('write name = "Ann"')
  })

  it('are printed on request, readably and without keys', async () => {
    const lines: string[] = []
    const writeLine = process.stderr.write.bind(process.stderr)
    process.stderr.write = (text: string | Uint8Array) => lines.push(String(text)) > 0
    try {
      await using({ log: 'commands' }, async (other) => {
        await other.readOne(read('Agent', at('secret')))
      })
    } finally {
      process.stderr.write = writeLine
    }
    expect(lines.join('')).to.match(/^skein +[\d.]+ ms {2}read Agent drv-[\w-]+\/… · \d+ bytes {2}code 2\n$/)
  })

  it('are printed with values when asked, still a line each', async () => {
    const lines: string[] = []
    const writeLine = process.stderr.write.bind(process.stderr)
    process.stderr.write = (text: string | Uint8Array) => lines.push(String(text)) > 0
    try {
      await using({ log: 'commands', reveal: { values: true } }, async (other) => {
        const operations = [op.writeBin('name', 'Ann\nLee'), op.writeBin('age', 5)]
        await other.run([write('Agent', at('secret'), operations, { exists: 'upsert' })])
      })
    } finally {
      process.stderr.write = writeLine
    }
    expect(lines).to.have.length(1)
    expect(lines[0]).to.contain('/… · ').and.to.contain(' · write name = "Ann\\nLee", write age = 5 · ')
    expect(lines[0].trimEnd()).to.not.contain('\n')
  })

  it('and errors show keys but never values, not even through their cause', async () => {
    const add = [op.writeBin('secret', 'secret-value'), op.listAppendUnique('name', ['secret-value'])]
    await driver.run([write('Agent', at('shown-key'), [op.writeBin('name', 'text')], { exists: 'upsert' })])
    const outcome = await driver.runOne(write('Agent', at('shown-key'), add, { exists: 'mustExist' }))
    expect(outcome.error?.cause).to.be.instanceOf(Error)
    const text = inspect(outcome.error, { depth: 20, showHidden: true })
    expect(text).to.contain('shown-key').and.not.contain('secret-value')
  })

  it('warn of a record that has grown large, with class, key and bin', async () => {
    const big = ['a', 'b', 'c'].map((letter) => letter.repeat(60_000))
    const grow = (index: number) =>
      write('Agent', at('growing'), [op.writeBin('n', index), op.listAppendUnique('items', [big[index]])], {
        exists: 'upsert',
        watchSize: true,
      })
    let sizes: (number | undefined)[] = []
    const events = await heardEvents<WarningEvent>('skein:warning', () =>
      using({ reveal: { keys: true } }, async (other) => {
        sizes = []
        for (const index of [0, 1, 2]) sizes.push((await other.run([grow(index)]))[0].size)
        sizes.push((await other.run([grow(2)]))[0].size)
      }),
    )
    expect(sizes.at(-1)).to.be.above(180_000)
    expect(events.at(-1)).to.deep.include({
      warning: 'recordSize',
      class: 'Agent',
      key: 'growing',
      bin: 'items',
      limit: 131072,
    })
    expect(events.at(-1)?.size).to.equal(sizes.at(-1))
    const calm = await heardEvents('skein:warning', () =>
      driver.run([write('Agent', at('small'), [op.writeBin('x', 1)], { exists: 'upsert', watchSize: true })]),
    )
    expect(calm).to.deep.equal([])
  })
})

describe('a record that is too large', () => {
  it('is refused with the sizes, the bin and the advice', async () => {
    const server = await sharedServer()
    const driver = await connectTo(server)
    const key = freshSet(server.namespaces[0])('large')
    const limit = driver.capabilities.namespaces[key.namespace].maxRecordSize
    await driver.run([
      write('Agent', key, [op.listAppend('items', ['x'.repeat(1000)], 'unordered')], { exists: 'upsert' }),
    ])
    const [outcome] = await driver.run([
      write('Agent', key, [op.listAppend('items', ['y'.repeat(limit)], 'unordered')], { exists: 'mustExist' }),
    ])
    await driver.close()
    expect(outcome).to.deep.include({ state: 'notWritten', reason: 'tooLarge' })
    expect(outcome.error).to.deep.include({ name: 'RecordTooLargeError', limit })
    expect((outcome.error as unknown as { size: number }).size).to.be.above(limit + 1000)
    expect(outcome.error?.details.bin).to.equal('items')
    expect(outcome.error?.message).to.contain('secondaryIndex')
  })
})

describe('events of queries and scans', () => {
  const work = async (db: Database): Promise<void> => {
    const { crew } = await db.session().load(Ship, 'secret-ship')
    expect(await crew.count()).to.equal(3)
    for await (const finding of db.verify(Sailor)) expect.fail(finding.message)
  }
  let server: TestServer
  let db: Database
  before(async () => {
    server = await sharedServer()
    db = await open({ hosts: server.hosts, namespace: server.namespaces[0], entities: [Ship, Sailor] })
    await emptySets(db, [Ship, Sailor])
    await db.indexes.sync()
    await db.withSession(async (session) => {
      const ship = session.create(Ship, { id: 'secret-ship' })
      for (const id of [1, 2, 3]) ship.crew.add(session.create(Sailor, { id }))
    })
  })
  after(() => db?.close())

  it('tell class, kind, records, time and bytes, and neither keys nor values', async () => {
    const events = await heardEvents<CommandEvent>('skein:command', () => work(db))
    const many = events.filter(({ kind }) => kind === 'query' || kind === 'scan')
    expect(many.map((event) => [event.kind, event.class, event.set, event.records, event.code])).to.deep.equal([
      ['query', 'Sailor', 'ev-sailor', 3, 0],
      ['scan', 'Sailor', 'ev-sailor', 3, 0],
    ])
    for (const event of many) {
      expect(event.ms).to.be.above(0)
      expect(event.bytes).to.be.above(40)
      expect(event).to.deep.include({ namespace: server.namespaces[0], rows: 1, attempt: 1, inTransaction: false })
    }
    expect(new Set(events.map(({ roundTrip }) => roundTrip)).size).to.equal(events.length - batched(events))
    expect(many[0].text).to.contain('by ev-sailor_ship (ship = …)')
    expect(inspect(events, { depth: 10 })).to.not.contain('secret')
  })

  it('show what an index was asked for when keys may be shown', async () => {
    const loud = await open({
      ...{ hosts: server.hosts, namespace: server.namespaces[0], entities: [Ship, Sailor] },
      reveal: { keys: true },
    })
    const events = await heardEvents<CommandEvent>('skein:command', () => work(loud)).finally(() => loud.close())
    expect(events.find(({ kind }) => kind === 'query')?.text).to.contain('(ship = "secret-ship")')
  })

  it('tell of a query that fails, with its code', async () => {
    const lacking = await open({ hosts: server.hosts, namespace: server.namespaces[0], entities: [Pier, Boat] })
    const events = await heardEvents<CommandEvent>('skein:command', async () => {
      const error = await rejection(() => lacking.session().at(Pier, 1).collection('boats').count())
      expect((error as { code: string }).code).to.equal('SKEIN_4211')
    }).finally(() => lacking.close())
    expect(events.map(({ kind, code, records }) => [kind, code, records])).to.deep.equal([['query', 201, 0]])
  })

  it('are printed on request', async () => {
    const lines: string[] = []
    const writeLine = process.stderr.write.bind(process.stderr)
    process.stderr.write = (text: string | Uint8Array) => lines.push(String(text)) > 0
    try {
      const printing = await open({
        ...{ hosts: server.hosts, namespace: server.namespaces[0], entities: [Ship, Sailor] },
        log: 'commands',
      })
      await work(printing).finally(() => printing.close())
    } finally {
      process.stderr.write = writeLine
    }
    const text = lines.join('')
    expect(text).to.match(/^skein +[\d.]+ ms {2}query Sailor ev-sailor · by .* · \d+ bytes {2}3 records$/m)
    expect(text).to.match(/^skein +[\d.]+ ms {2}scan Sailor ev-sailor · .*\d+ bytes {2}3 records$/m)
    expect(text).to.not.contain('secret')
  })
})

/** How many commands shared the round trip of another one. */
function batched(events: readonly CommandEvent[]): number {
  const rows = new Map(events.map(({ roundTrip, rows }) => [roundTrip, rows]))
  return [...rows.values()].reduce((sum, each) => sum + each - 1, 0)
}
