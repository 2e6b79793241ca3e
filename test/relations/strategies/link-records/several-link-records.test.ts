import Aerospike from 'aerospike'
import { expect } from 'chai'
import { fromPlain, keysOf, SkeinError, toPlain, type Database, type Session } from 'skein'
import { expectRoundTrips } from '../../../expect-round-trips.js'
import { MODES, type TestServer } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { useDatabase } from '../../../use-database.js'
import { settled } from '../../verify/settled.js'
import { Bot, Caption, Fan, Keeping, Photo, Post, Reaction, REACTIONS } from './several-link-models.js'

for (const mode of MODES) {
  describe(`link records with one of several classes at an end (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, REACTIONS, (opened) => ({ db, server, namespace } = opened))

    beforeEach(() =>
      db.withSession((session) => {
        const [ann, bob] = ['ann', 'bob'].map((id) => session.create(Fan, { id }))
        const bot = session.create(Bot, { id: 7 })
        const [post, photo] = [
          session.create(Post, { id: 1, title: 'One' }),
          session.create(Photo, { id: 1, file: '1.jpg' }),
        ]
        ann.reacted.link(post, { emoji: 'up' })
        ann.reacted.link(photo, { emoji: 'heart' })
        photo.reactors.link(bob, { emoji: 'laugh' })
        photo.keepers.link(ann, { note: 'mine' })
        photo.keepers.link(bot, { note: 'indexed' })
        bot.kept.add(post)
      }),
    )

    const reactions = async (): Promise<string[]> =>
      (await db.scan(Reaction).toArray())
        .map((each) => `${String(keysOf(Reaction).of(partsOf(each)))} ${each.emoji}`)
        .sort()
    const partsOf = ({ fan, subject }: Reaction): object => ({ fan: fan.key, subject: subject.key })
    const lists = async (session: Session = db.session()): Promise<unknown> => ({
      ann: await (await session.load(Fan, 'ann')).reacted.keys(),
      post: await (await session.load(Post, 1)).reactors.keys(),
      photo: await (await session.load(Photo, 1)).reactors.keys(),
    })

    it('are stored under keys that contain the set of the end, so that post 1 and photo 1 have links of their own', async () => {
      expect(await reactions()).to.deep.equal(['ann:rphoto%3A1 heart', 'ann:rpost%3A1 up', 'bob:rphoto%3A1 laugh'])
      expect((await db.scan(Keeping).keys()).sort()).to.deep.equal([
        'rphoto:1:rbot%3A7',
        'rphoto:1:rfan%3Aann',
        'rpost:1:rbot%3A7',
      ])
      const stored = await db.session().load(Reaction, 'ann:rphoto%3A1')
      expect([stored.fan.key, stored.subject.key, stored.version]).to.deep.equal(['ann', 'rphoto:1', 1])
    })

    it('are found by their ends with one get', async () => {
      const session = db.session()
      const found = await server.commands.during(() => session.linkOf(Reaction, 'ann', 'rphoto:1'))
      expect(found.commands).to.equal(1)
      expect((await session.linkOf(Reaction, 'ann', 'rphoto:1'))?.emoji).to.equal('heart')
      const [ann, post] = [await session.load(Fan, 'ann'), await session.load(Post, 1)]
      expect((await session.linkOf(Reaction, ann, post))?.emoji).to.equal('up')
      expect((await ann.reacted.linkOf(post))?.emoji).to.equal('up')
      expect((await ann.reacted.linkOf('rphoto:1'))?.emoji).to.equal('heart')
      expect(await ann.reacted.contains('rphoto:1')).to.equal(true)
      expect(await ann.reacted.contains('rphoto:2')).to.equal(false)
      expect(await post.reactors.contains('bob')).to.equal(false)
      expect((await session.linkOf(Keeping, 'rphoto:1', 'rbot:7'))?.note).to.equal('indexed')
    })

    it('refuse keys without a set, and of other sets, before anything is sent', async () => {
      const session = db.session()
      const ann = await session.load(Fan, 'ann')
      const { commands } = await server.commands.during(async () => {
        for (const key of [1, 'rfan:bob', 'rpost:one', 'rpost:']) {
          expect(() => ann.reacted.add(key), String(key)).to.throw(SkeinError, /is not a key of Post \| Photo/)
          for (const ask of [
            () => ann.reacted.contains(key),
            () => ann.reacted.linkOf(key),
            () => session.linkOf(Reaction, 'ann', key),
            () => session.load(Reaction, { fan: 'ann', subject: key }),
            () => session.load(Reaction, `ann:${String(key).replace(':', '%3A')}`),
          ])
            expect(await rejection(ask), `${String(key)} ${String(ask)}`).to.be.instanceOf(SkeinError)
        }
        expect(() => ann.reacted.add(Object.assign(new Bot(), { id: 1 }) as never)).to.throw(SkeinError, /given a Bot/)
      })
      expect(commands).to.equal(0)
    })

    it('lead from both ends to what is there, in as many round trips as with one class', async () => {
      let fans: Fan[] = []
      const { commands } = await server.commands.during(async () => {
        fans = await db.session().loadMany(Fan, ['ann', 'bob'], { with: ['reacted'] })
      })
      expectRoundTrips(commands, 2)
      expect(fans[0].reacted.items.map((each) => [each.constructor, each.id])).to.deep.equal([
        [Photo, 1],
        [Post, 1],
      ])
      expect(fans[1].reacted.items).to.deep.equal([fans[0].reacted.items[0]])
      const photo = await db.session().load(Photo, 1, { with: ['reactors.reacted'] })
      expect(photo.reactors.items.map(({ id }) => id)).to.deep.equal(['ann', 'bob'])
      expect(photo.reactors.items[0].reacted.items).to.have.length(2)
      expect(await lists()).to.deep.equal({ ann: ['rphoto:1', 'rpost:1'], post: ['ann'], photo: ['ann', 'bob'] })
    })

    it('show members and counts of an end that finds its links by an index', async () => {
      const session = db.session()
      const [ann, bot] = [await session.load(Fan, 'ann'), await session.load(Bot, 7)]
      expect([await ann.kept.keys(), [...(await bot.kept.keys())].sort()]).to.deep.equal([
        ['rphoto:1'],
        ['rphoto:1', 'rpost:1'],
      ])
      expect(await bot.kept.count()).to.equal(2)
      expect((await bot.kept.load()).map((each) => each.constructor).sort()).to.have.members([Photo, Post])
      const photo = await session.load(Photo, 1)
      expect(await photo.keepers.keys()).to.deep.equal(['rbot:7', 'rfan:ann'])
      expect((await photo.keepers.load()).map((each) => each.constructor)).to.deep.equal([Bot, Fan])
    })

    it('are made, changed, ended and made again from either end', async () => {
      const session = db.session()
      const [bob, post, photo] = [
        await session.load(Fan, 'bob'),
        await session.load(Post, 1),
        await session.load(Photo, 1),
      ]
      post.reactors.link(bob, { emoji: 'new' })
      bob.reacted.link('rphoto:1', { emoji: 'changed' })
      expect(await bob.reacted.keys()).to.deep.equal(['rphoto:1', 'rpost:1'])
      expect(await post.reactors.keys()).to.deep.equal(['ann', 'bob'])
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      expect(await reactions()).to.include.members(['bob:rpost%3A1 new', 'bob:rphoto%3A1 changed'])
      photo.reactors.unlink('ann')
      bob.reacted.unlink(post)
      await session.flush()
      expect(await reactions()).to.deep.equal(['ann:rpost%3A1 up', 'bob:rphoto%3A1 changed'])
      expect(await lists()).to.deep.equal({ ann: ['rpost:1'], post: ['ann'], photo: ['bob'] })
      bob.reacted.add(post)
      await session.flush()
      expect(await post.reactors.contains(bob)).to.equal(true)
    })

    it('are made together with their ends, which were unknown to any session', async () => {
      const cem = Object.assign(new Fan(), { id: 'cem' })
      cem.reacted.link(Object.assign(new Photo(), { id: 2, file: '2.jpg' }), { emoji: 'wow' })
      cem.reacted.link('rpost:1', { emoji: 'up' })
      const session = db.session()
      await session.save(cem)
      expect(await reactions()).to.include.members(['cem:rphoto%3A2 wow', 'cem:rpost%3A1 up'])
      expect(await (await db.session().load(Photo, 2)).reactors.keys()).to.deep.equal(['cem'])
      expect(await (await db.session().load(Post, 1)).reactors.keys()).to.deep.equal(['ann', 'cem'])
    })

    it('are made by themselves, of entities or keys', async () => {
      const session = db.session()
      const [bob, post] = [await session.load(Fan, 'bob'), await session.load(Post, 1)]
      const link = new Reaction()
      link.fan.set(bob)
      link.subject.set(post)
      await session.save(link)
      expect(await session.at(Post, 1).collection('reactors').keys()).to.deep.equal(['ann', 'bob'])
      session.create(Keeping, { subject: 'rphoto:1', by: bob })
      await session.flush()
      expect(await db.session().at(Photo, 1).collection('keepers').keys()).to.include('rfan:bob')
      const without = Object.assign(new Reaction(), { emoji: 'x' })
      without.fan.set(bob)
      expect(await rejection(() => db.session().save(without))).to.have.property('code', 'SKEIN_2102')
    })

    it('are not stored where an end is missing', async () => {
      const session = db.session()
      const ann = await session.load(Fan, 'ann')
      ann.reacted.link('rphoto:9', { emoji: 'x' })
      expect(await rejection(() => session.flush())).to.be.instanceOf(Error)
      expect(await reactions()).to.have.length(3)
      expect(await lists()).to.deep.equal({ ann: ['rphoto:1', 'rpost:1'], post: ['ann'], photo: ['ann', 'bob'] })
      const bot = await db.session().load(Bot, 7)
      const other = db.session()
      const mine = await other.load(Bot, 7)
      mine.kept.add('rpost:9')
      expect(await rejection(() => other.flush())).to.be.instanceOf(Error)
      expect(await bot.kept.count()).to.equal(2)
    })

    it('go with the end that is deleted, and leave those of an equal key of the other class', async () => {
      const session = db.session()
      const [ann, photo] = [await session.load(Fan, 'ann', { with: ['reacted'] }), await session.load(Photo, 1)]
      await session.delete(photo)
      expect(ann.reacted.items.map((each) => each.constructor)).to.deep.equal([Post])
      expect(await reactions()).to.deep.equal(['ann:rpost%3A1 up'])
      expect(await db.scan(Keeping).keys()).to.deep.equal(['rpost:1:rbot%3A7'])
      expect(await (await db.session().load(Fan, 'ann')).reacted.keys()).to.deep.equal(['rpost:1'])
      expect(await (await db.session().load(Fan, 'bob')).reacted.keys()).to.deep.equal([])
      await db.session().delete(Fan, 'ann')
      expect(await reactions()).to.deep.equal([])
      expect(await (await db.session().load(Post, 1)).reactors.keys()).to.deep.equal([])
    })

    it('are walked over, with conditions on the links', async () => {
      const session = db.session()
      expect(await session.walk(Fan, 'ann').out('reacted').keys()).to.deep.equal(['rphoto:1', 'rpost:1'])
      const hearts = session.walk(Fan, 'ann').out('reacted', { where: { emoji: 'heart' } })
      expect((await hearts.entities()).map((each) => each.constructor)).to.deep.equal([Photo])
      expect((await session.walk(Fan, 'ann').out('reacted').out('reactors').keys()).sort()).to.deep.equal(['bob'])
      expect(await session.walk(Bot, 7).out('kept').out('keepers').keys()).to.deep.equal(['rfan:ann'])
    })

    it('are queried by an end of any class', async () => {
      const photo = await db.session().load(Photo, 1)
      expect(await db.scan(Reaction).where({ subject: photo }).count()).to.equal(2)
      expect(await db.scan(Reaction).where({ subject: 'rpost:1' }).keys()).to.deep.equal(['ann:rpost%3A1'])
    })

    it('are keys with their sets as plain data', async () => {
      const ann = await db.session().load(Fan, 'ann', { with: ['reacted'] })
      expect(toPlain(ann)).to.deep.include({ id: 'ann', reacted: ['rphoto:1', 'rpost:1'] })
      const dora = fromPlain(Fan, { id: 'dora', reacted: ['rpost:1'] }, { relations: 'keys' })
      await db.session().save(dora)
      expect(await (await db.session().load(Post, 1)).reactors.keys()).to.deep.equal(['ann', 'dora'])
      const link = fromPlain(Reaction, { fan: 'bob', subject: 'rpost:1', emoji: 'new' }, { relations: 'keys' })
      await db.session().save(link)
      expect(await (await db.session().load(Fan, 'bob')).reacted.keys()).to.deep.equal(['rphoto:1', 'rpost:1'])
      expect(toPlain(await db.session().load(Reaction, 'bob:rpost%3A1'))).to.deep.include({ subject: 'rpost:1' })
      const wrong = { id: 'eve', reacted: ['rfan:ann'] }
      expect(() => fromPlain(Fan, wrong, { relations: 'keys' })).to.throw(SkeinError, /a key of Post \| Photo/)
    })

    it('keep their ends: a link cannot be given another one', async () => {
      const session = db.session()
      const link = await session.load(Reaction, 'ann:rphoto%3A1')
      link.subject.set('rpost:1')
      expect(await rejection(() => session.flush())).to.have.property('code', 'SKEIN_2203')
    })

    it('come back with what was ended softly, one by one', async () => {
      const session = db.session()
      const photo = await session.load(Photo, 1)
      photo.keepers.unlink('rbot:7')
      await session.flush()
      expect(await photo.keepers.keys()).to.deep.equal(['rfan:ann'])
      expect(await (await db.session().load(Bot, 7)).kept.keys()).to.deep.equal(['rpost:1'])
      expect(await photo.keepers.keys({ deleted: 'only' })).to.deep.equal(['rbot:7'])
      await db.session().restore(Keeping, 'rphoto:1:rbot%3A7')
      expect([...(await (await db.session().load(Bot, 7)).kept.keys())].sort()).to.deep.equal(['rphoto:1', 'rpost:1'])
    })

    it('are listed again by verify at an end of any class, and deleted where one is missing', async () => {
      const at = (set: string): Aerospike.Key => new Aerospike.Key(namespace, set, 1)
      await db.client.remove(at('rphoto'), new Aerospike.RemovePolicy({ durableDelete: mode === 'sc' }))
      await db.client.put(at('rpost'), { reactors: null } as never)
      const found = []
      const terms = { repair: true, ...(await settled(server)) }
      for await (const { state, message } of db.verify(Reaction, terms)) found.push(`${state}: ${message}`)
      expect(found.sort()).to.deep.equal([
        'repaired: Post 1 lacks Reaction "ann:rpost%3A1" in reactors, which names it in subject.',
        'repaired: Reaction "ann:rphoto%3A1" holds Photo 1 in subject, which has no record.',
        'repaired: Reaction "bob:rphoto%3A1" holds Photo 1 in subject, which has no record.',
      ])
      expect(await reactions()).to.deep.equal(['ann:rpost%3A1 up'])
      expect(await (await db.session().load(Post, 1)).reactors.keys()).to.deep.equal(['ann'])
      expect(await (await db.session().load(Fan, 'ann')).reacted.keys()).to.deep.equal(['rpost:1'])
    })

    it('have children whose keys contain that of a parent of either class', async () => {
      await db.withSession(async (session) => {
        const [post, photo] = [await session.load(Post, 1), await session.load(Photo, 1)]
        session.create(Caption, { of: post, no: 1, text: 'of the post' })
        photo.captions.add(Object.assign(new Caption(), { no: 1, text: 'of the photo' }))
        session.create(Caption, { of: 'rphoto:1', no: 2 })
        session.create(Caption, { of: session.create(Photo, { id: 3, file: '3.jpg' }), no: 1 })
      })
      expect((await db.scan(Caption).keys()).sort()).to.deep.equal([
        'rphoto:1:1',
        'rphoto:1:2',
        'rphoto:3:1',
        'rpost:1:1',
      ])
      const photo = await db.session().load(Photo, 1, { with: ['captions'] })
      expect(photo.captions.items.map(({ no, of }) => [no, of.key])).to.deep.equal([
        [1, 'rphoto:1'],
        [2, 'rphoto:1'],
      ])
      expect((await db.session().load(Caption, { of: 'rpost:1', no: 1 })).text).to.equal('of the post')
      await db.session().delete(Photo, 1)
      expect((await db.scan(Caption).keys()).sort()).to.deep.equal(['rphoto:3:1', 'rpost:1:1'])
    })
  })
}
