import Aerospike from 'aerospike'
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { ModelError, SkeinError, open, type Database, type OpenOptions } from 'skein'
import { startTestServer } from '../../server.js'
import { sharedServer } from '../../shared-server.js'
import { Account, Person } from '../models.js'
import { inEachMode } from '../modes.js'
import { rejection } from '../rejection.js'

const run = promisify(execFile)

const failure = async (work: () => Promise<Database>): Promise<SkeinError> => (await rejection(work)) as SkeinError

inEachMode('an open database', (bed) => {
  it('tells what the server can do', () => {
    const { capabilities } = bed().db
    expect(capabilities.edition).to.be.a('string')
    expect(capabilities.build).to.match(/^\d+\.\d+/)
    const namespace = capabilities.namespaces[bed().namespace]
    expect(namespace.strongConsistency).to.equal(bed().server.sc === bed().namespace)
    expect(namespace.maxRecordSize).to.be.greaterThan(0)
    expect(namespace.ttl).to.be.a('boolean')
  })

  it('has the model and the raw client', async () => {
    const { db, namespace } = bed()
    expect(db.model.entity(Person).set).to.equal('person')
    const id = bed().fresh()
    await db.session().save(Object.assign(new Person(), { id, name: 'Ada' }))
    const { bins } = await db.client.get({ ns: namespace, set: 'person', key: id })
    expect(bins).to.deep.equal({ id, name: 'Ada' })
  })

  it('reads plain instances that no session manages', async () => {
    const { db } = bed()
    const ids = [bed().fresh(), bed().fresh(), bed().fresh()]
    const session = db.session()
    session.create(Person, { id: ids[0], name: 'Ada', tags: ['a'], roles: new Set(['x']), born: new Date(5) })
    session.create(Person, { id: ids[2], name: 'Cy', age: 3 })
    await session.flush()
    const [a, b, c] = await db.read(Person, ids)
    expect(a)
      .to.be.instanceOf(Person)
      .and.deep.include({ name: 'Ada', tags: ['a'], born: new Date(5) })
    expect(a!.roles).to.deep.equal(new Set(['x']))
    expect(b).to.equal(null)
    expect(c!.age).to.equal(3)
    expect(await db.read(Person, [ids[2]], { only: ['name'] })).to.deep.include.members([
      Object.assign(new Person(), { ...c, age: undefined }),
    ])
    expect(await rejection(() => db.session().refresh(a!))).to.have.property('code', 'SKEIN_2305')
  })

  it('empties a set', async () => {
    const { db } = bed()
    const id = bed().freshNumber()
    await db.session().save(Object.assign(new Account(), { id, owner: 'Ada' }))
    await db.truncate(Account)
    expect(await db.session().find(Account, id)).to.equal(null)
  })

  it('leaves nothing in an emptied set that was acknowledged before', async () => {
    const { db } = bed()
    for (let round = 0; round < 40; round++) {
      const id = bed().freshNumber()
      await db.session().save(Object.assign(new Account(), { id, owner: 'Ada' }))
      await db.truncate(Account)
      expect(await db.session().find(Account, id), `round ${round}`).to.equal(null)
    }
  })

  it('gives a function a session of its own, and flushes what it leaves', async () => {
    const id = bed().fresh()
    let kept: Person | undefined
    const result = await bed().db.withSession(async (session) => {
      kept = session.create(Person, { id, name: 'Ada' })
      return 'done'
    })
    expect(result).to.equal('done')
    expect((await bed().db.session().load(Person, id)).name).to.equal('Ada')
    kept!.name = 'free again'
    await bed().db.session().upsert(kept!)
  })

  it('sends nothing more when that function throws, and throws its error', async () => {
    const id = bed().fresh()
    const error = new Error('mine')
    const work = bed().db.withSession(async (session) => {
      session.create(Person, { id, name: 'Ada' })
      throw error
    })
    expect(await rejection(() => work)).to.equal(error)
    expect(await bed().db.session().find(Person, id)).to.equal(null)
  })

  it('waits for what is under way when it closes, and refuses what comes after', async () => {
    const db = await bed().open()
    const session = db.session()
    const ids = Array.from({ length: 50 }, () => bed().fresh())
    for (const id of ids) session.create(Person, { id, name: 'Ada' })
    const flush = session.flush()
    const closed = db.close()
    await flush
    await closed
    await db.close()
    expect(await bed().db.session().findMany(Person, ids)).to.not.include(null)
    expect(await rejection(() => db.session())).to.have.property('code', 'SKEIN_4104')
    expect(await rejection(() => session.load(Person, bed().fresh()))).to.have.property('code', 'SKEIN_4104')
    expect(await rejection(() => session.flush())).to.have.property('code', 'SKEIN_4104')
    expect(await rejection(() => db.read(Person, [ids[0]]))).to.have.property('code', 'SKEIN_4104')
    expect(await rejection(() => db.truncate(Person))).to.have.property('code', 'SKEIN_4104')
  })

  it('lets a function that was given a session finish when it closes, with all it still sends', async () => {
    const db = await bed().open()
    const [first, second] = [bed().fresh(), bed().fresh()]
    let goOn!: () => void
    const gate = new Promise<void>((resolve) => (goOn = resolve))
    const request = db.withSession(async (session) => {
      const person = await session.save(Object.assign(new Person(), { id: first, name: 'Ada' }))
      await gate
      expect(await session.find(Person, second)).to.equal(null)
      await session.save(Object.assign(new Person(), { id: second, name: 'Bo' }))
      person.name = 'Alma'
    })
    const closed = db.close()
    expect(await rejection(() => db.withSession(async () => {}))).to.have.property('code', 'SKEIN_4104')
    goOn()
    await request
    await closed
    const [one, other] = await bed().db.read(Person, [first, second])
    expect([one!.name, other!.name]).to.deep.equal(['Alma', 'Bo'])
  })

  it('lets a transaction finish when it closes', async function () {
    if (bed().server.sc !== bed().namespace) this.skip()
    const db = await bed().open()
    const [first, second] = [bed().fresh(), bed().fresh()]
    let goOn!: () => void
    const gate = new Promise<void>((resolve) => (goOn = resolve))
    const inside = db.transaction(async (session) => {
      session.create(Person, { id: first, name: 'Ada' })
      await gate
      session.create(Person, { id: second, name: 'Bo' })
    })
    const request = db.withSession(async (session) => {
      await gate
      await session.transaction(async (own) => void own.create(Person, { id: bed().fresh(), name: 'Cy' }))
    })
    const closed = db.close()
    expect(await rejection(() => db.transaction(async () => {}))).to.have.property('code', 'SKEIN_4104')
    goOn()
    await Promise.all([inside, request])
    await closed
    expect(await bed().db.read(Person, [first, second])).to.not.include(null)
  })

  it('refuses a namespace that does not exist, and names those that do', async () => {
    const { hosts } = bed().server
    const error = await failure(() => open({ hosts, namespace: 'nowhere', entities: [Person] }))
    expect(error.code).to.equal('SKEIN_4103')
    expect(error.message).to.contain(bed().namespace)
  })
})

describe('open', () => {
  it('reports a wrong model before it connects', async () => {
    class Plain {}
    const error = await failure(() => open({ hosts: '127.0.0.1:1', namespace: 'test', entities: [Plain] }))
    expect(error).to.be.instanceOf(ModelError)
  })

  it('wants exactly one place to connect to', async () => {
    const both = await failure(() => open({ hosts: 'x', embedded: true, namespace: 'test', entities: [Person] }))
    const none = await failure(() => open({ namespace: 'test', entities: [Person] }))
    expect([both.code, none.code]).to.deep.equal(['SKEIN_2302', 'SKEIN_2302'])
  })

  describe('refuses options that cannot work, before anything is started:', () => {
    const limits = [
      'roundTrips',
      'alone',
      'batchRows',
      'batchBytes',
      'transactions',
      'queryRecords',
      'warnRecordSize',
      'keyBytes',
    ]
    const wrong: { [what: string]: object } = {
      'a name that nobody reads': { conectTimeout: 5 },
      'a limit that nobody reads': { limits: { batchRow: 5 } },
      'a log that does not exist': { log: 'comands' },
      'a way to use transactions that does not exist': { transactions: 'on' },
      'hosts that are a number': { embedded: undefined, hosts: 3000 },
      'hosts that are a list of texts': { embedded: undefined, hosts: ['127.0.0.1:3000'] },
      'no namespace': { namespace: undefined },
      'no entities': { entities: undefined },
      'a user without a password': { user: 'ada' },
      'a time-out that is a text': { connectTimeout: '5s' },
      'no tries': { retry: { attempts: 0 } },
      'a namespace of the embedded server in a mode that does not exist': { embedded: { namespaces: ['test:zz'] } },
      'a port of the embedded server that does not exist': { embedded: { port: 70_000 } },
      'an option that the embedded server does not read': { embedded: { prot: 3000 } },
      'a kind of policy that does not exist': { policies: { reed: { totalTimeout: 4 } } },
      'an option that a policy does not have': { policies: { read: { totalTimout: 4 } } },
      'an option that only another kind of policy has': { policies: { info: { totalTimeout: 4 } } },
      'a policy that is a number': { policies: { read: 4 } },
      'too few connections for reads, writes and what goes alone': { maxConnsPerNode: 2 },
      'a deadline that has passed': { retry: { deadline: -1 } },
      'an interval that is a text': { tenderInterval: 'x' },
      'no time to connect': { connTimeoutMs: 0 },
      'racks that are a number': { rackIds: 3 },
      'a rack that is a text': { rackIds: ['a'] },
      'a port that does not exist': { port: 70_000 },
      'a flag that is a text': { validate: 'no' },
      'tls that is only a wish': { tls: true },
      'a user that is a number': { user: 3, password: 'x' },
      'reveal of a text': { reveal: { keys: 'yes' } },
      'a time-out of a policy below zero': { policies: { read: { socketTimeout: -1 } } },
      'a time-out of a policy that is a text': { policies: { write: { totalTimeout: '3s' } } },
      'a time-out of a policy that the client cannot count to': { policies: { write: { totalTimeout: 2 ** 40 } } },
      'a flag of a policy that is a number': { policies: { remove: { durableDelete: 1 } } },
      'a share beyond its special value': { policies: { read: { readTouchTtlPercent: -2 } } },
    }
    for (const name of limits) {
      for (const value of [0, NaN, 1.5, '4', null]) wrong[`limits.${name} of ${value}`] = { limits: { [name]: value } }
    }
    for (const [what, options] of Object.entries(wrong)) {
      it(what, async () => {
        const all = { embedded: true, namespace: 'test', entities: [Person], ...options } as OpenOptions
        expect(await failure(() => open(all))).to.include({ code: 'SKEIN_2320' })
      })
    }

    it('no options at all', async () => {
      expect(await failure(() => open(undefined as never))).to.include({ code: 'SKEIN_2320' })
    })
  })

  it('says which option was meant', async () => {
    const options = { embedded: true, namespace: 'test', entities: [Person], conectTimeout: 5 }
    expect((await failure(() => open(options))).message)
      .to.contain("'conectTimeout'")
      .and.to.contain("'connectTimeout'")
  })

  it('says which option of a policy was meant', async () => {
    const policies = { batchRemove: { durableDeletes: true } } as OpenOptions['policies']
    const error = await failure(() => open({ embedded: true, namespace: 'test', entities: [Person], policies }))
    expect(error.message).to.contain('policies.batchRemove').and.to.contain("'durableDelete'")
  })

  it('takes every kind of policy as the client makes it', async () => {
    const { hosts, namespaces } = await sharedServer()
    const { policy } = Aerospike
    const policies = {
      read: new policy.ReadPolicy({ totalTimeout: 30_000 }),
      write: new policy.WritePolicy(),
      batchRemove: new policy.BatchRemovePolicy(),
      txnRoll: new policy.BatchPolicy(),
      scan: undefined,
      batchWrite: { ttl: -2, durableDelete: undefined },
    }
    const db = await open({ hosts, namespace: namespaces[0], entities: [Person], policies })
    expect(await db.session().find(Person, 'no-such-person')).to.equal(null)
    await db.close()
  })

  it('takes an undefined limit for the default', async () => {
    const undefinedOnes = { alone: undefined, batchRows: undefined, roundTrips: undefined, transactions: undefined }
    const { hosts, namespaces } = await sharedServer()
    const options = { hosts, namespace: namespaces[0], entities: [Person] }
    const db = await open({ ...options, limits: undefinedOnes, retry: { attempts: undefined, backoff: undefined } })
    const session = db.session()
    const ids = Array.from({ length: 50 }, (_, i) => `undefined-limit-${Date.now()}-${i}`)
    for (const id of ids) session.create(Person, { id, name: 'Ada' })
    await session.flush()
    expect(await db.read(Person, ids)).to.not.include(null)
    await db.close()
  })

  it('reports an unreachable server in one clear error', async () => {
    const options = { hosts: '127.0.0.1:1', connectTimeout: 300, namespace: 'test', entities: [Person] }
    const error = await failure(() => open(options))
    expect(error.code).to.equal('SKEIN_4101')
    expect(error.message).to.contain('127.0.0.1:1')
  })

  it('reports that one of several hosts is not there', async () => {
    // A single node, because of several the client takes those that are there.
    const server = await startTestServer({ nodes: 1 })
    const { hosts, namespaces } = server
    const dead = '127.0.0.1:1'
    const options = { connectTimeout: 300, namespace: namespaces[0], entities: [Person] }
    for (const several of [`${dead},${hosts}`, `${hosts},${dead}`]) {
      const error = await failure(() => open({ hosts: several, ...options }))
      expect(error.code).to.equal('SKEIN_4101')
      expect(error.message).to.contain(dead).and.to.not.contain('refused its options')
    }
    await server.stop()
  })

  it('reports a port that the embedded server cannot have', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const error = await failure(() => open({ embedded: { port }, namespace: 'test', entities: [Person] }))
    taken.close()
    expect(error).to.be.instanceOf(SkeinError).and.to.include({ code: 'SKEIN_4107' })
    expect(error.message).to.contain(`${port} is in use`)
  })

  it('leaves no handle behind, neither after a failure nor after a close', async () => {
    const script = `
      import 'reflect-metadata'
      import { open } from 'skein'
      import { Person } from './.build/test/session/models.js'
      await open({ hosts: '127.0.0.1:1', connectTimeout: 300, namespace: 'test', entities: [Person] }).catch((e) => console.log(e.code))
      await open({ embedded: { namespaces: ['other:ap'] }, namespace: 'test', entities: [Person] }).catch((e) => console.log(e.code))
      const db = await open({ embedded: true, namespace: 'test', entities: [Person] })
      await db.session().save(Object.assign(new Person(), { id: 'a', name: 'Ada' }))
      await db.close()
      console.log('closed')`
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { timeout: 100_000 })
    expect(stdout.trim().split('\n')).to.deep.equal(['SKEIN_4101', 'SKEIN_4103', 'closed'])
  })

  it('starts an embedded server as it is told, and stops it', async () => {
    const db = await open({
      embedded: { namespaces: ['cache:ap'], limits: { maxRecordSize: 2000 } },
      namespace: 'cache',
      entities: [Person],
    })
    expect(db.capabilities.namespaces.cache).to.include({ strongConsistency: false, maxRecordSize: 2000 })
    await db.close()
  })

  it('passes client options on', async () => {
    const { hosts, namespaces } = await sharedServer()
    const db = await open({ hosts, namespace: namespaces[0], entities: [Person], maxConnsPerNode: 7 })
    expect((db.client.config as { maxConnsPerNode?: number }).maxConnsPerNode).to.equal(7)
    await db.close()
  })
})
