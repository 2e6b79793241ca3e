import Aerospike from 'aerospike'
import { expect } from 'chai'
import { Bin, Embeddable, Key, ManyToMany, Record, collection, type Database, type Finding } from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { settled } from './settled.js'

@Embeddable()
class Membership {
  @Bin() role!: string
  @Bin({ type: 'double' }) fee?: number
}

@Record({ set: 'person' })
class Person {
  @Key() id!: number
  @ManyToMany(() => Club, 'members', { owner: true, attributes: () => Membership }) clubs = collection<
    Club,
    Membership
  >()
  @ManyToMany(() => Person, 'friends') friends = collection<Person>()
}

@Record({ set: 'club' })
class Club {
  @Key() id!: string
  @ManyToMany(() => Person, 'clubs', { attributes: () => Membership }) members = collection<Person, Membership>()
}

const { maps, lists } = Aerospike

for (const mode of MODES) {
  describe(`verify of links with attributes and of relations that are their own other side (${mode})`, () => {
    let server: TestServer
    let namespace: string
    let db: Database
    useDatabase(mode, [Person, Club], (opened) => ({ db, server, namespace } = opened))
    beforeEach(async () => {
      await db.withSession(async (session) => {
        for (const id of [1, 2, 3]) session.create(Person, { id })
        for (const id of ['chess', 'golf']) session.create(Club, { id })
      })
      await db.withSession(async (session) => {
        session.at(Person, 1).collection('clubs').link('chess', { role: 'chair', fee: 2 })
        session.at(Person, 2).collection('clubs').link('chess', { role: 'member' })
        session.at(Person, 1).collection('friends').add(2, 3)
      })
    })

    const change = (set: string, id: string | number, ...operations: object[]) =>
      db.client.operate(new Aerospike.Key(namespace, set, id), operations as never)

    async function verifyAll(repair = false): Promise<string[]> {
      const findings: Finding[] = []
      const terms = { repair, ...(await settled(server)) }
      for await (const finding of db.verify([Person, Club], terms)) findings.push(finding)
      return findings.map(({ kind, message, state }) => `${kind} ${state}: ${message}`)
    }

    it('finds nothing where all agrees', async () => {
      expect(await verifyAll()).to.deep.equal([])
    })

    it('puts a link back with the attributes that its owner has', async () => {
      await change('club', 'chess', maps.removeByKey('members', 1 as never))
      expect(await verifyAll(true)).to.deep.equal([
        'oneSidedLink repaired: Club "chess" lacks Person 1 in members, which names it in clubs.',
      ])
      expect(await verifyAll()).to.deep.equal([])
      const found = await db.session().at(Club, 'chess').collection('members').attributesOf(1)
      expect(found).to.deep.include({ role: 'chair', fee: 2 })
    })

    it('gives both sides the attributes that the owner has', async () => {
      await change('club', 'chess', maps.put('members', 1 as never, { role: 'member', fee: 2.5 }))
      expect(await verifyAll(true)).to.deep.equal([
        'differentAttributes repaired: Club "chess" has other attributes for Person 1 in members than that has in clubs.',
      ])
      const { members } = await db.session().load(Club, 'chess')
      expect(await members.attributesOf(1)).to.deep.include({ role: 'chair', fee: 2 })
      expect(await verifyAll()).to.deep.equal([])
    })

    it('takes out a link that its owner does not have, and one to a record that is gone', async () => {
      await change('person', 2, maps.removeByKey('clubs', 'chess'))
      await change('person', 3, maps.put('clubs', 'rowing', { role: 'member' }))
      expect(await verifyAll(true)).to.have.members([
        'oneSidedLink repaired: Club "chess" holds Person 2 in members, which does not name it in clubs.',
        'danglingKey repaired: Person 3 holds Club "rowing" in clubs, which has no record.',
      ])
      expect(await verifyAll()).to.deep.equal([])
    })

    it('completes a relation that is its own other side', async () => {
      await change('person', 3, lists.removeByValue('friends', 1))
      expect(await verifyAll(true)).to.deep.equal([
        'oneSidedLink repaired: Person 3 lacks Person 1 in friends, which names it in friends.',
      ])
      expect(await db.session().at(Person, 3).collection('friends').keys()).to.deep.equal([1])
      expect(await verifyAll()).to.deep.equal([])
    })
  })
}
