import { expect } from 'chai'
import {
  Bin,
  collection,
  Companion,
  Counter,
  Embeddable,
  Key,
  OneToMany,
  Record,
  Sharded,
  type Collection,
  type Database,
  type Session,
} from 'skein'
import { MODES, need, type TestServer } from '../server.js'
import { useDatabase } from '../use-database.js'
import { FAULTS, underWay } from './in-flight-fields.js'

@Embeddable()
class Comment {
  @Key() id!: string
  @Counter() likes = 0
  @Bin({ type: { map: 'int' } }) votes = new Map([['up', 0]])
  @Bin({ type: { list: 'int' } }) log: number[] = []
}

abstract class Fields {
  @Key() id!: number
  @Bin() title?: string
  abstract comments: Collection<Comment>
}

@Record({ set: 'rec_kid' })
class Post extends Fields {
  @OneToMany(() => Comment, { strategy: 'consolidate' }) comments = collection<Comment>()
}

@Record({ set: 'rec_kid_c' })
class Apart extends Fields {
  @Companion() @OneToMany(() => Comment, { strategy: 'consolidate' }) comments = collection<Comment>()
}

@Record({ set: 'rec_kid_s' })
class Spread extends Fields {
  @Sharded({ by: 'hash', shards: 2, when: { bytes: 100_000 } })
  @OneToMany(() => Comment, { strategy: 'consolidate' })
  comments = collection<Comment>()
}

const CLASSES = [Post, Apart, Spread]
const HOMES = new Map([
  [Post, 'rec_kid'],
  [Apart, 'rec_kid_c_comments'],
  [Spread, 'rec_kid_s'],
]) as ReadonlyMap<typeof Post, string>

const made = (): Comment => Object.assign(new Comment(), { id: 'c1' })

/** A change of the child through its handle, of each kind. */
function change(session: Session, owner: Post): void {
  const child = session.at(owner).child('comments', 'c1')
  child.increment('likes')
  child.at('votes').increment('up')
  child.at('log').append(1)
}

/** The same change of the loaded child, as far as it is sent as an operation. */
function assign(session: Session, owner: Post, comment: Comment): void {
  comment.likes += 1
  session.at(owner).child('comments', 'c1').at('votes').increment('up')
  comment.log.push(1)
}

const shown = ({ likes, votes, log }: Comment): unknown => [likes, votes.get('up'), log.length]

for (const mode of MODES) {
  for (const Class of CLASSES) {
    const set = HOMES.get(Class)!

    describe(`a handle's change of a child whose ${Class.name} is being written (${mode})`, () => {
      let db: Database
      let server: TestServer
      useDatabase(mode, CLASSES, (opened) => ({ db, server } = opened))
      afterEach(() => server.embedded?.faults.clear())

      const store = async (): Promise<void> => {
        const owner = Object.assign(new Class(), { id: 1 })
        owner.comments.add(made())
        await db.session().save(owner)
      }
      const stored = async (): Promise<unknown> => {
        const owner = await db.session().load(Class, 1, { with: ['comments'] })
        return shown([...owner.comments][0])
      }
      const byOther = async (): Promise<void> => {
        const session = db.session()
        const child = session.at(Class, 1).child('comments', 'c1')
        child.increment('likes')
        child.at('votes').increment('up')
        child.at('log').append(1)
        await session.flush()
      }
      const times = (count: number): unknown => [count, count, count]

      it('is sent once, as the change that it is, after changes of the loaded child', async () => {
        await store()
        const session = db.session()
        const owner = await session.load(Class, 1, { with: ['comments'] })
        const [comment] = owner.comments
        assign(session, owner, comment)
        const first = await underWay(server, set, () => session.flush())
        change(session, owner)
        assign(session, owner, comment)
        change(session, owner)
        expect(shown(comment)).to.deep.equal(times(4))
        await first.end
        expect(shown(comment)).to.deep.equal(times(4))
        await byOther()
        await session.flush()
        expect(await stored()).to.deep.equal(times(5))
        expect(shown(comment)).to.deep.equal(times(4))
        expect(session.isDirty()).to.equal(false)
      })

      it('is sent once, as the change that it is, where the child is being added', async () => {
        await db.session().save(Object.assign(new Class(), { id: 1 }))
        const session = db.session()
        const owner = await session.load(Class, 1, { with: ['comments'] })
        const comment = made()
        owner.comments.add(comment)
        assign(session, owner, comment)
        const first = await underWay(server, set, () => session.flush())
        change(session, owner)
        assign(session, owner, comment)
        change(session, owner)
        expect(shown(comment)).to.deep.equal(times(4))
        await first.end
        await byOther()
        await session.flush()
        expect(await stored()).to.deep.equal(times(5))
        expect(session.isDirty()).to.equal(false)
      })

      it('is sent once, as the change that it is, where child and owner are being created', async () => {
        const session = db.session()
        const owner = session.persist(Object.assign(new Class(), { id: 1 }))
        const comment = made()
        owner.comments.add(comment)
        const first = await underWay(server, set, () => session.flush())
        change(session, owner)
        assign(session, owner, comment)
        change(session, owner)
        expect(shown(comment)).to.deep.equal(times(3))
        await first.end
        await byOther()
        await session.flush()
        expect(await stored()).to.deep.equal(times(4))
        expect(session.isDirty()).to.equal(false)
      })

      it('is sent once where the child is not loaded', async () => {
        await store()
        const session = db.session()
        const owner = await session.load(Class, 1, { only: ['title'] })
        change(session, owner)
        const first = await underWay(server, set, () => session.flush())
        change(session, owner)
        await first.end
        await byOther()
        await session.flush()
        expect(await stored()).to.deep.equal(times(3))
        expect(session.isDirty()).to.equal(false)
      })

      for (const [how, fault] of Object.entries(FAULTS))
        it(`is sent with the first where that ${how}`, async function () {
          need(this, server.embedded, 'only the embedded server makes faults')
          await store()
          const session = db.session()
          const owner = await session.load(Class, 1, { with: ['comments'] })
          const [comment] = owner.comments
          assign(session, owner, comment)
          const first = await underWay(server, set, () => session.flush().catch(() => undefined), fault)
          change(session, owner)
          assign(session, owner, comment)
          change(session, owner)
          await first.end
          change(session, owner)
          expect(shown(comment)).to.deep.equal(times(5))
          await byOther()
          await session.flush()
          // Increments in doubt are never sent again.
          expect(await stored()).to.deep.equal(times(how === 'is lost' ? 5 : 6))
          expect(session.isDirty()).to.equal(false)
        })

      for (const [how, fault] of Object.entries(FAULTS))
        it(`is sent once where the write that adds the child ${how}`, async function () {
          need(this, server.embedded, 'only the embedded server makes faults')
          await db.session().save(Object.assign(new Class(), { id: 1 }))
          const session = db.session()
          const owner = await session.load(Class, 1, { with: ['comments'] })
          const comment = made()
          owner.comments.add(comment)
          const first = await underWay(server, set, () => session.flush().catch(() => undefined), fault)
          change(session, owner)
          await first.end
          change(session, owner)
          await session.flush()
          expect(await stored()).to.deep.equal(times(2))
          expect(shown(comment)).to.deep.equal(times(2))
          expect(session.isDirty()).to.equal(false)
        })
    })
  }
}
