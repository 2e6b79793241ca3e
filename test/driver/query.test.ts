import { expect } from 'chai'
import { SkeinError } from 'skein'
import { createIndex, dropIndex } from '#src/driver/create-index.js'
import type { Driver } from '#src/driver/driver.js'
import { remove, write } from '#src/plan/command.js'
import { binExists, not } from '#src/plan/expression.js'
import { writeBin } from '#src/plan/operations.js'
import type { FoundRecord } from '#src/plan/outcome.js'
import { query, type IndexLookup, type QueryCommand } from '#src/plan/query-command.js'
import type { UserKey } from '#src/plan/record-key.js'
import { need } from '../server.js'
import { connectTo, freshSet } from './set-up.js'
import { sharedServer } from '../shared-server.js'

const idOf = ({ bins }: FoundRecord): number => bins.id as number
const ordered = (ids: number[]): number[] => ids.toSorted((a, b) => a - b)

describe('queries of the driver', () => {
  let driver: Driver
  let narrow: Driver
  let namespace: string
  let set: string
  const COUNT = 1500

  before(async () => {
    const server = await sharedServer()
    namespace = server.namespaces[0]
    driver = await connectTo(server)
    narrow = await connectTo(server, { limits: { queryRecords: 10 } })
    const key = freshSet(namespace)
    set = key(0).set
    await putAll(0, COUNT)
    await index(set, 'parent', 'numeric', 'p')
  })
  after(async () => {
    for (const name of indexes) await dropIndex(driver.client, namespace, name)
    await driver?.close()
    await narrow?.close()
  })

  const indexes: string[] = []
  async function index(set: string, bin: string, type: 'numeric' | 'string' | 'blob', short = bin): Promise<void> {
    const name = `${set}_${short}`
    indexes.push(name)
    await createIndex(driver.client, { name, namespace, set, bin, type })
  }

  async function putAll(from: number, count: number, parentOf = (id: number): number => id % 3): Promise<void> {
    const ids = Array.from({ length: count }, (_, i) => from + i)
    const outcomes = await driver.run(
      ids.map((id) =>
        write('Child', { namespace, set, key: id }, [writeBin('id', id), writeBin('parent', parentOf(id))], {
          exists: 'upsert',
        }),
      ),
    )
    expect(outcomes.every(({ state }) => state === 'written')).to.equal(true)
  }

  const lookup = (value: UserKey, index: Partial<IndexLookup> = {}): QueryCommand =>
    query({
      entity: 'Child',
      namespace,
      set,
      index: { name: `${set}_p`, bin: 'parent', on: 'value', value, ...index },
      bins: ['id'],
    })
  const everything = (): QueryCommand => query({ entity: 'Child', namespace, set, bins: ['id'] })

  async function all(on: Driver, command: QueryCommand): Promise<number[]> {
    const ids: number[] = []
    for await (const records of on.query(command)) ids.push(...records.map(idOf))
    return ids
  }

  async function allPages(on: Driver, command: QueryCommand, count: number): Promise<number[][]> {
    const pages: number[][] = []
    let after: string | undefined
    do {
      const page = await on.queryPage(command, count, { after })
      pages.push(page.records.map(idOf))
      after = page.next
    } while (after !== undefined)
    return pages
  }

  const expected = Array.from({ length: COUNT }, (_, id) => id).filter((id) => id % 3 === 1)

  it('find by index every record once, whatever fits into memory', async () => {
    expect(ordered(await all(driver, lookup(1)))).to.deep.equal(expected)
    expect(ordered(await all(narrow, lookup(1)))).to.deep.equal(expected)
  })

  it('find all records of a set', async () => {
    expect(await all(driver, everything())).to.have.length(COUNT)
    expect(new Set(await all(narrow, everything())).size).to.equal(COUNT)
  })

  it('hold a bounded number of records at a time', async () => {
    for await (const records of narrow.query(everything())) expect(records.length).to.be.at.most(10)
  })

  it('read a bounded number of steps ahead of the reader', async function () {
    const { embedded } = await sharedServer()
    const server = need(this, embedded, 'only the embedded server counts queries')
    const commandsOf = async (ahead: number): Promise<number> => {
      const { byKind } = await server.commands.during(async () => {
        for await (const records of narrow.query(everything(), { ahead })) {
          expect(records.length).to.be.at.most(10)
          break
        }
      })
      return byKind.query!.commands
    }
    const [alone, ahead] = [await commandsOf(0), await commandsOf(2)]
    // A step that turns out to hold too much is asked for again, unless the width that fits is known from a former query.
    expect(ahead).to.be.within(3, alone + 8)
  })

  it('give each record once while later steps are read, in the order of partitions', async () => {
    const ids: number[] = []
    const shares: number[] = []
    const onStep = (share: number): void => void shares.push(share)
    for await (const records of narrow.query(everything(), { ahead: 3, onStep })) ids.push(...records.map(idOf))
    expect(ordered(ids)).to.deep.equal(Array.from({ length: COUNT }, (_, id) => id))
    expect(shares).to.deep.equal(shares.toSorted((a, b) => a - b))
    expect(shares.at(-1)).to.equal(1)
  })

  it('read a partition that holds too much in pages', async () => {
    const tight = await connectTo(await sharedServer(), { limits: { queryRecords: 1 } })
    const command = query({ ...lookup(1), index: { ...lookup(1).index!, value: 5 } })
    await putAll(10_000, 6, () => 5)
    expect(ordered(await all(tight, command))).to.deep.equal([10_000, 10_001, 10_002, 10_003, 10_004, 10_005])
    const pages = await allPages(tight, command, 4)
    expect(pages.map((page) => page.length)).to.deep.equal([4, 2])
    await driver.run(pages.flat().map((id) => remove('Child', { namespace, set, key: id })))
    await tight.close()
  })

  it('need one command where there are few matches', async function () {
    const { embedded } = await sharedServer()
    const server = need(this, embedded, 'only the embedded server counts queries')
    const { byKind } = await server.commands.during(() => all(driver, lookup(1)))
    expect(byKind.query!.commands).to.equal(1)
  })

  it('give pages of the size asked for, each record once, in one order', async () => {
    const pages = await allPages(driver, lookup(1), 70)
    expect(pages.slice(0, -1).every((page) => page.length === 70)).to.equal(true)
    expect(ordered(pages.flat())).to.deep.equal(expected)
    expect((await allPages(narrow, lookup(1), 33)).flat()).to.deep.equal(pages.flat())
  })

  it('have no next page after the last record', async () => {
    expect(await allPages(driver, lookup(1), expected.length)).to.have.length(1)
    expect(await allPages(driver, lookup(7), 10)).to.deep.equal([[]])
  })

  it('go on where a page ended, whatever came and went meanwhile', async () => {
    const first = await driver.queryPage(lookup(1), 200)
    await putAll(COUNT, 300, () => 1)
    await driver.run(first.records.map((record) => remove('Child', { namespace, set, key: idOf(record) })))
    const rest: number[] = []
    for (let after = first.next; after !== undefined;) {
      const page = await driver.queryPage(lookup(1), 50, { after })
      rest.push(...page.records.map(idOf))
      after = page.next
    }
    const stayed = [...first.records.map(idOf), ...rest].filter((id) => id < COUNT)
    expect(ordered(stayed)).to.deep.equal(expected)
    const extra = Array.from({ length: 300 }, (_, i) => COUNT + i)
    await driver.run(extra.map((id) => remove('Child', { namespace, set, key: id })))
    for (const record of first.records) await putAll(idOf(record), 1)
  })

  it('leave out what a filter excludes', async () => {
    const [id] = expected
    const mark = write('Child', { namespace, set, key: id }, [writeBin('gone', true)], { exists: 'mustExist' })
    await driver.run([mark])
    const command = query({ ...lookup(1), filter: not(binExists('gone')) })
    expect(await all(driver, command))
      .to.have.length(expected.length - 1)
      .and.not.include(id)
  })

  it('find keys of other types', async () => {
    const key = freshSet(namespace)
    const { set } = key(0)
    const keys: [UserKey, 'numeric' | 'string' | 'blob', string][] = [
      ['dept-1', 'string', 's'],
      [Buffer.from([1, 0, 255]), 'blob', 'b'],
      [2n ** 62n + 1n, 'numeric', 'n'],
    ]
    for (const [value, type, bin] of keys) {
      await index(set, bin, type)
      const others = typeof value === 'bigint' ? [value, value - 1n, value + 1n] : [value]
      await driver.run(
        others.map((each, i) =>
          write('Child', key(`${bin}${i}`), [writeBin('id', i), writeBin(bin, each)], { exists: 'upsert' }),
        ),
      )
      const command = query({
        entity: 'Child',
        namespace,
        set,
        index: { name: `${set}_${bin}`, bin, on: 'value', value },
        bins: ['id'],
      })
      expect(await all(driver, command), type).to.deep.equal([0])
    }
  })

  it('say which index is missing and how to create it', async () => {
    const error = await all(driver, lookup('x', { name: 'child_other', bin: 'other' })).catch((e: unknown) => e)
    expect(error).to.be.instanceOf(SkeinError).and.have.property('code', 'SKEIN_4211')
    expect((error as SkeinError).message)
      .to.include("'child_other'")
      .and.include('db.indexes.sync()')
  })

  it('are tried again when the server is busy', async function () {
    const { embedded } = await sharedServer()
    const server = need(this, embedded, 'only the embedded server fails on demand')
    const fault = await server.faults.add({ kind: 'query', set, answer: 18 })
    expect(await all(driver, lookup(2))).to.have.length(500)
    expect(await fault.hits()).to.equal(1)
  })

  it('stop when the signal fires', async () => {
    const abort = new AbortController()
    const seen: number[] = []
    const reading = (async () => {
      for await (const records of narrow.query(everything(), { signal: abort.signal })) {
        seen.push(records.length)
        abort.abort(new Error('enough'))
      }
    })()
    expect(await reading.catch((error: Error) => error.message)).to.equal('enough')
    expect(seen).to.have.length(1)
  })

  it('refuse a cursor that no page has returned', async () => {
    const error = await driver.queryPage(lookup(1), 5, { after: 'abc' }).catch((e: unknown) => e)
    expect(error).to.have.property('code', 'SKEIN_2501')
  })
})
