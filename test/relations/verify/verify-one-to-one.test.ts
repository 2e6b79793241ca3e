import Aerospike from 'aerospike'
import { expect } from 'chai'
import { Key, OneToMany, OneToOne, Record, collection, ref, type Database, type Finding } from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { settled } from './settled.js'

@Record({ set: 'person' })
class Person {
  @Key() id!: number
  @OneToOne(() => Desk, 'person', { owner: true }) desk = ref<Desk>()
  @OneToOne(() => Desk) spare = ref<Desk>()
  @OneToMany(() => Desk, { strategy: 'keyList' }) wished = collection<Desk>()
}

@Record({ set: 'desk' })
class Desk {
  @Key() id!: string
  @OneToOne(() => Person, 'desk') person = ref<Person>()
}

for (const mode of MODES) {
  describe(`verify of one to one and of what only one side stores (${mode})`, () => {
    let server: TestServer
    let namespace: string
    let db: Database
    useDatabase(mode, [Person, Desk], (opened) => ({ db, server, namespace } = opened))
    beforeEach(async () => {
      await db.withSession(async (session) => {
        for (const id of [1, 2]) {
          const person = session.create(Person, { id })
          person.desk.set(session.create(Desk, { id: `d${id}` }))
          person.spare.set('d1')
          person.wished.add('d1', 'd2')
        }
      })
    })

    const put = (set: string, id: string | number, bins: object) =>
      db.client.put(new Aerospike.Key(namespace, set, id), bins as never)
    const binsOf = async (set: string, id: string | number) =>
      (await db.client.get(new Aerospike.Key(namespace, set, id))).bins

    async function verifyAll(repair = false): Promise<string[]> {
      const findings: Finding[] = []
      const terms = { repair, ...(await settled(server)) }
      for await (const finding of db.verify([Person, Desk], terms)) findings.push(finding)
      return findings.map(({ kind, message, state }) => `${kind} ${state}: ${message}`)
    }

    it('finds nothing where all agrees', async () => {
      expect(await verifyAll()).to.deep.equal([])
    })

    it('lets the other side follow its owner', async () => {
      await put('desk', 'd1', { person: null })
      expect(await verifyAll(true)).to.deep.equal([
        'oneSidedLink repaired: Desk "d1" lacks Person 1 in person, which names it in desk.',
      ])
      expect(await binsOf('desk', 'd1')).to.have.property('person', 1)
      expect(await verifyAll()).to.deep.equal([])
    })

    it('takes away what its owner does not say', async () => {
      await put('person', 1, { desk: null })
      expect(await verifyAll(true)).to.deep.equal([
        'oneSidedLink repaired: Desk "d1" holds Person 1 in person, which does not name it in desk.',
      ])
      expect(await binsOf('desk', 'd1')).to.not.have.property('person')
      expect(await verifyAll()).to.deep.equal([])
    })

    it('takes away what an owner says of one that is paired with another', async () => {
      await put('person', 2, { desk: 'd1' })
      expect(await verifyAll(true)).to.have.members([
        'oneSidedLink repaired: Person 2 holds Desk "d1" in desk, which does not name it in person.',
        'oneSidedLink repaired: Desk "d2" holds Person 2 in person, which does not name it in desk.',
      ])
      expect(await binsOf('desk', 'd1')).to.have.property('person', 1)
      expect(await binsOf('person', 1)).to.have.property('desk', 'd1')
      expect(await verifyAll()).to.deep.equal([])
    })

    it('does not choose between two owners when the other names neither', async () => {
      await put('person', 2, { desk: 'd1' })
      await put('desk', 'd1', { person: 3 })
      await put('person', 3, { id: 3 })
      const first = await verifyAll()
      expect(first).to.include('oneSidedLink found: Desk "d1" lacks Person 1 in person, which names it in desk.')
      expect(first).to.include('oneSidedLink found: Desk "d1" lacks Person 2 in person, which names it in desk.')
    })

    it('finds dangling keys on either side, and where only one side stores anything', async () => {
      const durableDelete = mode === 'sc'
      await db.client.remove(
        new Aerospike.Key(namespace, 'desk', 'd1'),
        new Aerospike.policy.RemovePolicy({ durableDelete }),
      )
      await db.client.remove(
        new Aerospike.Key(namespace, 'person', 2),
        new Aerospike.policy.RemovePolicy({ durableDelete }),
      )
      expect(await verifyAll(true)).to.have.members([
        'danglingKey repaired: Person 1 holds Desk "d1" in desk, which has no record.',
        'danglingKey repaired: Person 1 holds Desk "d1" in spare, which has no record.',
        'danglingKey repaired: Person 1 holds Desk "d1" in wished, which has no record.',
        'danglingKey repaired: Desk "d2" holds Person 2 in person, which has no record.',
      ])
      expect(await verifyAll()).to.deep.equal([])
      expect(await binsOf('person', 1)).to.deep.equal({ id: 1, wished: ['d2'] })
    })

    it('reports a record that does not say its key', async () => {
      await put('person', 7, { id: 1.5, desk: 'd1' })
      const [finding, ...others] = await verifyAll(true)
      expect(finding).to.match(/^unreadable found: A record of Person does not say its key: /)
      expect(others).to.deep.equal([])
    })
  })
}
