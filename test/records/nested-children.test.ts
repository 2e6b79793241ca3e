import { IsNotEmpty } from 'class-validator'
import { expect } from 'chai'
import {
  Bin,
  Counter,
  Embeddable,
  EntityGoneError,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  Sharded,
  ValidationFailedError,
  collection,
  ref,
  type Database,
} from 'skein'
import { MODES, type TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

@Record({ set: 'hnc_user' })
class User {
  @Key() id!: number
}

@Embeddable()
class Reply {
  @Key({ generate: 'sortable' }) id!: string
  @Bin() @IsNotEmpty() text!: string
  @Counter() likes = 0
  @ManyToOne(() => User) author = ref<User>()
  @OneToMany(() => Reply, { strategy: 'consolidate' }) replies = collection<Reply>()
}

@Record({ set: 'hnc_post' })
class Post {
  @Key() id!: number
  @OneToMany(() => Reply, { strategy: 'consolidate' }) comments = collection<Reply>()
}

@Record({ set: 'hnc_hall' })
class Hall {
  @Key() id!: number
  @Sharded({ by: 'hash', shards: 3 })
  @OneToMany(() => Reply, { strategy: 'consolidate' })
  comments = collection<Reply>()
}

function reply(id: string | undefined, ...replies: Reply[]): Reply {
  const made = Object.assign(new Reply(), { text: `text of ${id}` }, id === undefined ? {} : { id })
  made.replies.add(...replies)
  return made
}

const shape = (replies: Iterable<Reply>): string =>
  [...replies].map((each) => each.id + ([...each.replies].length === 0 ? '' : `(${shape(each.replies)})`)).join(' ')

for (const mode of MODES)
  for (const Class of [Post, Hall]) {
    describe(`handles on the children of a child (${Class.name}, ${mode})`, () => {
      let db: Database
      let server: TestServer
      useDatabase(mode, [User, Class], (opened) => ({ db, server } = opened))
      beforeEach(async () => {
        await db.withSession((session) =>
          session.create(Class, { id: 1 }).comments.add(reply('c', reply('r', reply('s')), reply('q'))),
        )
      })
      const stored = async (): Promise<string> =>
        shape((await db.session().load(Class, 1, { with: ['comments'] })).comments)

      it('add and remove them at every level in one command, without loading anything', async () => {
        const session = db.session()
        const c = session.at(Class, 1).child('comments', 'c')
        c.collection('replies').add(reply('n', reply('m')))
        c.collection('replies').remove('q')
        c.child('replies', 'r').collection('replies').add(reply('t'))
        c.child('replies', 'r').collection('replies').remove('s')
        c.increment('likes')
        const sent = await server.commands.during(() => session.flush())
        expect([sent.commands, await stored()]).to.deep.equal([1, 'c(n(m) r(t))'])
        expect(session.isDirty()).to.equal(false)
      })

      it('give a child its id, and replace one that has it', async () => {
        const session = db.session()
        const replies = session.at(Class, 1).child('comments', 'c').collection('replies')
        const made = reply(undefined)
        replies.add(made, Object.assign(reply('r'), { text: 'other' }))
        expect(made.id).to.be.a('string')
        await session.flush()
        expect((await stored()).split(' ')).to.have.length(3)
        expect(await stored())
          .to.contain(made.id)
          .and.not.contain('s')
      })

      it('answer with the changes that are not sent yet', async () => {
        const session = db.session()
        const replies = session.at(Class, 1).child('comments', 'c').collection('replies')
        expect([await replies.count(), await replies.contains('r'), await replies.contains('n')]).to.deep.equal([
          2,
          true,
          false,
        ])
        replies.add(reply('n'))
        replies.remove('r')
        expect([await replies.count(), await replies.contains('r'), await replies.contains('n')]).to.deep.equal([
          2,
          false,
          true,
        ])
      })

      it('show their changes in a child that is loaded before they are sent, and nothing is sent twice', async () => {
        const session = db.session()
        const c = session.at(Class, 1).child('comments', 'c')
        c.collection('replies').add(reply('n'))
        c.child('replies', 'r').collection('replies').remove('s')
        const loaded = (await session.at(Class, 1).collection('comments').get('c'))!
        expect(shape([loaded])).to.equal('c(n q r)')
        await session.flush()
        expect([await stored(), session.isDirty()]).to.deep.equal(['c(n q r)', false])
        loaded.replies.items[0].text = 'changed'
        await session.flush()
        expect(
          (await db.session().load(Class, 1, { with: ['comments'] })).comments.items[0].replies.items[0].text,
        ).to.equal('changed')
      })

      it('change the collection of a child that is loaded', async () => {
        const session = db.session()
        const { comments } = await session.load(Class, 1, { with: ['comments'] })
        const replies = session.at(Class, 1).child('comments', 'c').collection('replies')
        replies.add(reply('n'))
        replies.remove('q')
        expect(shape(comments)).to.equal('c(n r(s))')
        expect(await replies.count()).to.equal(2)
        await session.flush()
        expect(await stored()).to.equal('c(n r(s))')
      })

      it('never make a child that is gone', async () => {
        const session = db.session()
        session.at(Class, 1).child('comments', 'gone').collection('replies').add(reply('n'))
        expect(await rejection(() => session.flush())).to.be.instanceOf(EntityGoneError)
        expect(await stored()).to.equal('c(q r(s))')
      })

      it('check the rules of what is added, and name the way to it', async () => {
        const session = db.session()
        const bad = Object.assign(reply('n'), { text: '' })
        session.at(Class, 1).child('comments', 'c').child('replies', 'r').collection('replies').add(bad)
        const error = await rejection(() => session.flush())
        expect(error).to.be.instanceOf(ValidationFailedError)
        expect(String(error)).to.contain('comments["c"].replies["r"].replies["n"].text')
      })

      it('reject what nobody would save or list', async () => {
        const session = db.session()
        const pointing = reply('n')
        pointing.author.set(Object.assign(new User(), { id: 9 }))
        const replies = session.at(Class, 1).child('comments', 'c').collection('replies')
        expect(() => replies.add(pointing)).to.throw('Reply.author points to an entity that is not stored yet')
        expect(() => replies.add({ id: 'x' } as never)).to.throw('holds instances of Reply')
        expect(() =>
          session
            .at(Class, 1)
            .child('comments', 'c')
            .collection('text' as never),
        ).to.throw()
        await session.flush()
        expect(await stored()).to.equal('c(q r(s))')
      })
    })
  }
