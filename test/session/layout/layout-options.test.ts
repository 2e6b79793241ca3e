import aerospike from 'aerospike'
import { expect } from 'chai'
import { Bin, Key, Record, type Database, type SkeinError } from 'skein'
import { MODES } from '../../server.js'
import { storedFlags } from '../../stored-flags.js'
import { useDatabase } from '../../use-database.js'
import { rejection } from '../rejection.js'

@Record({ set: 'layout_open' })
class Shelf {
  @Key() id!: number
  @Bin({ type: { list: 'int', order: 'sorted' } }) sorted?: number[]
}

@Record({ set: 'layout_tenant', tenant: true })
class Room {
  @Key() id!: number
  @Bin({ type: { list: 'int' } }) plain?: number[]
}

const { lists } = aerospike
const codeOf = async (call: () => Promise<unknown>): Promise<string> =>
  ((await rejection(async () => call())) as SkeinError).code

for (const mode of MODES) {
  describe(`options of db.layout (${mode})`, () => {
    let db: Database
    let namespace: string
    useDatabase(mode, [Shelf, Room], (opened) => ({ db, namespace } = opened))

    it('reject a tenant for classes that have none, so that nothing of others is converted', async () => {
      const key = new aerospike.Key(namespace, 'layout_open', 1)
      await db.session().save(Object.assign(new Shelf(), { id: 1 }))
      await db.client.operate(key, [aerospike.operations.write('sorted', null)])
      await db.client.operate(key, [lists.appendItems('sorted', [3, 1, 2])])
      const before = await storedFlags(db, namespace, 'layout_open', 1)
      for (const tenant of ['a', 5]) {
        expect(await codeOf(() => db.layout.sync({ tenant, classes: [Shelf] }))).to.equal('SKEIN_2320')
        expect(await codeOf(() => db.layout.diff({ tenant, classes: [Shelf, Room] }))).to.equal('SKEIN_2320')
      }
      expect(await codeOf(async () => db.layout.diff({ tenant: {} as never }))).to.equal('SKEIN_2101')
      await db.session({ tenant: 'a' }).save(Object.assign(new Room(), { id: 1, plain: [1] }))
      const last = await db.layout.sync({ tenant: 'a' })
      expect([last?.className, last?.records]).to.deep.equal(['Room', 1])
      expect(await storedFlags(db, namespace, 'layout_open', 1)).to.deep.equal(before)
    })

    it('reject positions that no run has reported', async () => {
      for (const after of ['', 'Other:done', 'Shelf:nonsense', 'Shelf:999999'])
        expect(await codeOf(() => db.layout.sync({ after })), after).to.equal('SKEIN_2335')
    })

    it('take a progress that returns a promise: it is awaited, and its error is that of the run', async () => {
      const problem = new Error('the disk is full')
      expect(await rejection(() => db.layout.sync({ progress: () => Promise.reject(problem) }))).to.equal(problem)
      await db.session().save(Object.assign(new Shelf(), { id: 1 }))
      const verify = async (): Promise<void> => {
        for await (const finding of db.verify(Shelf, { onProgress: () => Promise.reject(problem) })) void finding
      }
      expect(await rejection(verify)).to.equal(problem)
    })
  })
}
