import { expect } from 'chai'
import {
  Bin,
  Embeddable,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  collection,
  ref,
  type Database,
  type Finding,
  type Session,
} from 'skein'
import Aerospike from 'aerospike'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { rejection } from '../../session/rejection.js'

@Embeddable()
class Since {
  @Bin() year!: number
}

@Record({ set: 'tenant-user', tenant: true })
class User {
  @Key() id!: number
  @OneToMany(() => Item, 'owner', { onDelete: 'cascade' }) items = collection<Item>()
  @OneToMany(() => Note, 'owner', { strategy: 'secondaryIndex', onDelete: 'cascade' }) notes = collection<Note>()
  @ManyToMany(() => User, 'followers', { owner: true, attributes: () => Since }) follows = collection<User, Since>()
  @ManyToMany(() => User, 'follows', { attributes: () => Since }) followers = collection<User, Since>()
  @OneToOne(() => User, 'twinOf', { owner: true }) twin = ref<User>()
  @OneToOne(() => User, 'twin') twinOf = ref<User>()
  @OneToMany(() => Remark, { strategy: 'consolidate', inverseIndex: { about: { onTargetDelete: 'delete' } } })
  remarks = collection<Remark>()
}

@Record({ set: 'tenant-item', tenant: true })
class Item {
  @Key() id!: number
  @ManyToOne(() => User, 'items') owner = ref<User>()
}

@Record({ set: 'tenant-note', tenant: true })
class Note {
  @Key() id!: number
  @ManyToOne(() => User, 'notes') owner = ref<User>()
}

@Embeddable({ key: '{user}:{no}', parent: 'user' })
class Remark {
  @Bin() user!: number
  @Bin() no!: number
  @ManyToOne(() => Item) about = ref<Item>()
}

const CLASSES = [User, Item, Note]
const ACME = { tenant: 'acme' }

for (const mode of MODES) {
  // User 17 of acme is stored under 'acme:17': such a record has a key of text, though people use a number.
  describe(`relations between records of tenants with integer keys (${mode})`, () => {
    let db: Database
    let session: Session
    useDatabase(mode, CLASSES, (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.withSession(async (made) => {
        const [one, two] = [1, 2, 3, 4].map((id) => made.create(User, { id }))
        const items = [1, 2].map((id) => made.create(Item, { id }))
        one.items.add(...items)
        one.notes.add(made.create(Note, { id: 1 }))
        one.follows.link(two, { year: 2020 })
        one.twin.set(two)
        const remark = Object.assign(new Remark(), { no: 7 })
        remark.about.set(items[0])
        two.remarks.add(remark)
      }, ACME)
      session = db.session(ACME)
    })

    const itemsOf = (...users: number[]) =>
      Promise.all(users.map((id) => db.session(ACME).at(User, id).collection('items').keys()))

    const findings = async (): Promise<Finding[]> => {
      const found: Finding[] = []
      for await (const finding of db.verify(CLASSES, { settle: 0, ...ACME })) found.push(finding)
      return found
    }

    it('load along any path', async () => {
      const one = await session.load(User, 1, { with: ['items', 'notes', 'follows', 'twin'] })
      expect(one.items.items.map(({ id }) => id)).to.deep.equal([1, 2])
      expect(one.notes.items.map(({ id }) => id)).to.deep.equal([1])
      expect(one.follows.items.map(({ id }) => id)).to.deep.equal([2])
      expect((await one.follows.attributesOf(2))?.year).to.equal(2020)
      expect(one.twin.value?.id).to.equal(2)
      const two = await session.load(User, 2, { with: ['followers', 'twinOf', 'remarks.about'] })
      expect(two.followers.items.map(({ id }) => id)).to.deep.equal([1])
      expect(two.twinOf.value?.id).to.equal(1)
      expect(two.remarks.items.map(({ user, about }) => [user, about.value?.id])).to.deep.equal([[2, 1]])
      expect(await findings()).to.deep.equal([])
    })

    it('take in a child that nobody has loaded from the list it was on', async () => {
      session.at(User, 2).collection('items').add(1)
      session.at(User, 2).collection('notes').add(1)
      await session.flush()
      expect(await itemsOf(1, 2)).to.deep.equal([[2], [1]])
      expect(await db.session(ACME).at(User, 2).collection('notes').keys()).to.deep.equal([1])
      expect(await findings()).to.deep.equal([])
    })

    it('move a child that was moved meanwhile from the list it is on now', async () => {
      const item = await session.load(Item, 2)
      await db.withSession(async (other) => (await other.load(Item, 2)).owner.set(2), ACME)
      item.owner.set(3)
      await session.flush()
      expect(await itemsOf(1, 2, 3)).to.deep.equal([[1], [], [2]])
    })

    it('separate from a partner that was chosen meanwhile', async () => {
      const one = await session.load(User, 1)
      await db.withSession(async (other) => (await other.load(User, 1)).twin.set(3), ACME)
      one.twin.set(4)
      await session.flush()
      const found = await db.session(ACME).loadMany(User, [2, 3, 4])
      expect(found.map(({ twinOf }) => twinOf.key)).to.deep.equal([null, null, 1])
      expect(await findings()).to.deep.equal([])
    })

    it('are deleted with what belongs to them and with every link to them', async () => {
      await session.delete(User, 1)
      expect(await db.session(ACME).findMany(Item, [1, 2])).to.deep.equal([null, null])
      expect(await db.session(ACME).find(Note, 1)).to.equal(null)
      const two = await db.session(ACME).load(User, 2, { with: ['followers', 'remarks'] })
      expect([two.followers.items.length, two.twinOf.key, two.remarks.items.length]).to.deep.equal([0, null, 0])
      expect(await findings()).to.deep.equal([])
    })

    it('say that a child is another tenant’s now, as the error of the flush that found it', async () => {
      const one = await session.load(User, 1, { with: ['items'] })
      const { namespace, set } = db.model.entity(Item)
      await db.client.put(new Aerospike.Key(namespace, set, 'acme:1'), { owner: 'other:1' })
      one.items.remove(one.items.items[0])
      expect(await rejection(() => session.flush())).to.have.property('code', 'SKEIN_2104')
    })
  })
}
