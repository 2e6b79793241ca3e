import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect } from 'chai'
import { Key, ManyToMany, OneToMany, OneToOne, Record, collection, ref, type CommandEvent, type Database } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'counted-user' })
class User {
  @Key() id!: number
  @ManyToMany(() => User, 'followers', { owner: true }) follows = collection<User>()
  @ManyToMany(() => User, 'follows') followers = collection<User>()
}

@Record({ set: 'counted-folder' })
class Folder {
  @Key() id!: number
  @OneToMany(() => Page, { onDelete: 'cascade' }) pages = collection<Page>()
  @OneToMany(() => Page, { onDelete: 'cascade' }) drafts = collection<Page>()
  @OneToMany(() => Page, { onDelete: 'restrict' }) locked = collection<Page>()
}

@Record({ set: 'counted-page' })
class Page {
  @Key() id!: number
}

@Record({ set: 'counted-man' })
class Man {
  @Key() id!: number
  @OneToOne(() => Car, 'man', { owner: true }) car = ref<Car>()
}

@Record({ set: 'counted-car' })
class Car {
  @Key() id!: number
  @OneToOne(() => Man, 'car') man = ref<Man>()
}

const CLASSES = [User, Folder, Page, Man, Car]

/** Number of reads of each record, and of commands that change something. */
async function cost(work: () => Promise<unknown>): Promise<{ reads: { [set: string]: number }; changes: number }> {
  const events: CommandEvent[] = []
  const listen = (event: unknown): void => void events.push(event as CommandEvent)
  subscribe('skein:command', listen)
  try {
    await work()
  } finally {
    unsubscribe('skein:command', listen)
  }
  const reads: { [set: string]: number } = {}
  for (const { kind, set } of events) if (kind === 'read') reads[set] = (reads[set] ?? 0) + 1
  return { reads, changes: events.filter(({ kind }) => kind !== 'read').length }
}

for (const mode of MODES) {
  describe(`what a change has to read (${mode})`, () => {
    let db: Database
    useDatabase(mode, CLASSES, (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        const users = [1, 2, 3, 4].map((id) => session.create(User, { id }))
        users[0].follows.add(users[1], users[2])
        users[3].follows.add(users[0])
        const folder = session.create(Folder, { id: 1 })
        folder.pages.add(session.create(Page, { id: 1 }))
        folder.drafts.add(session.create(Page, { id: 2 }))
        for (const id of [1, 2]) session.create(Man, { id }).car.set(session.create(Car, { id }))
        return Promise.resolve()
      })
    })

    it('is one command for each step of a delete, however many relations a record has', async () => {
      const session = db.session()
      session.remove(await session.load(User, 1))
      const { reads, changes } = await cost(() => session.flush())
      // In stages: what it reaches and the plan; its mark reads once more. In a transaction: both before it and inside.
      expect(reads).to.deep.equal({ 'counted-user': mode === 'ap' ? 2 : 4 })
      expect(changes).to.equal(mode === 'ap' ? 5 : 4)
      expect(await db.session().at(User, 4).collection('follows').keys()).to.deep.equal([])
      expect(await db.session().at(User, 2).collection('followers').keys()).to.deep.equal([])
    })

    it('is one command for all lists of a record that cascades', async () => {
      const session = db.session()
      session.remove(await session.load(Folder, 1))
      await session.findMany(Page, [1, 2])
      const { reads } = await cost(() => session.flush())
      expect(reads).to.deep.equal({ 'counted-folder': 2 })
      expect(await db.session().findMany(Page, [1, 2])).to.deep.equal([null, null])
    })

    it('is one command for each record that a pair is taken from, and one for each that is read again', async () => {
      const session = db.session()
      const [first] = await session.loadMany(Man, [1, 2])
      first.car.set(2)
      const { reads, changes } = await cost(() => session.flush())
      expect(changes).to.equal(4)
      expect(reads).to.deep.equal(
        mode === 'ap' ? { 'counted-man': 2, 'counted-car': 1 } : { 'counted-man': 2, 'counted-car': 2 },
      )
      expect((await db.session().load(Car, 2)).man.key).to.equal(1)
      expect((await db.session().load(Man, 2)).car.key).to.equal(null)
    })
  })
}
