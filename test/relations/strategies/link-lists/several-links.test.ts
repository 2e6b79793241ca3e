import Aerospike from 'aerospike'
import { expect } from 'chai'
import type { Database } from 'skein'
import { expectRoundTrips } from '../../../expect-round-trips.js'
import { MODES, type TestServer } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'
import { settled } from '../../verify/settled.js'
import { Fan, Film, LINKED, Song } from './several-link-models.js'

for (const mode of MODES) {
  describe(`many-to-many links to several classes (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, LINKED, (opened) => ({ db, server, namespace } = opened))

    beforeEach(() =>
      db.withSession((session) => {
        const [song, other] = [session.create(Song, { id: 1, title: 'One' }), session.create(Song, { id: 2 })]
        const film = session.create(Film, { id: '1', title: 'Two' })
        const ann = session.create(Fan, { id: 'ann' })
        ann.liked.link(song, { stars: 5 })
        ann.liked.link(film, { stars: 3, word: 'long' })
        ann.seen.add(song, film)
        ann.loved.link(song, { stars: 4 })
        ann.loved.link(film, { stars: 2 })
        ann.listed.add(film, other)
        ann.rented.link(film, { since: 1 })
        const bob = session.create(Fan, { id: 'bob' })
        bob.loved.link(film, { stars: 1 })
      }),
    )

    const binsOf = async (set: string, key: string | number): Promise<{ [bin: string]: unknown }> =>
      (await db.client.get(new Aerospike.Key(namespace, set, key))).bins
    async function verifyAll(repair = false): Promise<string[]> {
      const found = []
      const terms = { repair, ...(await settled(server)) }
      for await (const { message, state } of db.verify(LINKED, terms)) found.push(`${state}: ${message}`)
      return found.sort()
    }

    it('are stored with the set on this side, and by the plain key on the other', async () => {
      const bins = await binsOf('fan', 'ann')
      expect(bins['liked']).to.deep.equal({ 'film:1': { stars: 3, word: 'long' }, 'song:1': { stars: 5 } })
      expect(bins['seen']).to.deep.equal(['film:1', 'song:1'])
      expect(bins['likes']).to.equal(2)
      expect((await binsOf('song', 1))['lovers']).to.deep.equal({ ann: { stars: 4 } })
      expect((await binsOf('song', 2))['in_lists']).to.deep.equal(['ann'])
      expect(await verifyAll()).to.deep.equal([])
    })

    it('are loaded in one batch across the sets, with their attributes', async () => {
      const session = db.session()
      const loading = await server.commands.during(() =>
        session.load(Fan, 'ann', { with: ['liked', 'seen', 'loved', 'rented'] }),
      )
      expectRoundTrips(loading.commands, 2)
      const ann = await session.load(Fan, 'ann')
      expect(ann.liked.items.map((each) => each.title)).to.have.members(['One', 'Two'])
      expect(ann.liked.items.map((each) => each instanceof Film)).to.have.members([true, false])
      const film = ann.liked.items.find((each) => each instanceof Film)!
      expect(await ann.liked.attributesOf(film)).to.include({ stars: 3, word: 'long' })
      expect(await ann.liked.attributesOf('song:1')).to.include({ stars: 5 })
    })

    it('are asked for by key without a load', async () => {
      const fan = await db.session().load(Fan, 'ann')
      expect(await fan.liked.keys()).to.deep.equal(['film:1', 'song:1'])
      expect(await fan.liked.contains('song:1')).to.equal(true)
      expect(await fan.liked.contains('song:2')).to.equal(false)
      expect(await fan.loved.attributesOf('film:1')).to.include({ stars: 2 })
      expect(await fan.listed.count()).to.equal(2)
      expect((await fan.seen.page({ count: 1 })).map(({ title }) => title)).to.deep.equal(['Two'])
      expect(await fan.liked.contains('1').catch((error: { code: string }) => error.code)).to.equal('SKEIN_2101')
    })

    it('are shown by both sides at once, and changed from either', async () => {
      const session = db.session()
      const ann = await session.load(Fan, 'ann', { with: ['loved', 'listed'] })
      const film = await session.load(Film, '1', { with: ['lovers'] })
      const song = await session.load(Song, 1, { with: ['lovers', 'listedBy'] })
      ann.loved.unlink(film)
      song.listedBy.add(ann)
      ;(await ann.loved.attributesOf(song))!.stars = 9
      expect(film.lovers.items.map(({ id }) => id)).to.deep.equal(['bob'])
      expect(ann.listed.items).to.have.lengthOf(3)
      await session.flush()
      const later = db.session()
      expect(await later.at(Film, '1').collection('lovers').keys()).to.deep.equal(['bob'])
      expect(await later.at(Fan, 'ann').collection('loved').keys()).to.deep.equal(['song:1'])
      expect(await later.at(Fan, 'ann').collection('listed').keys()).to.have.members(['film:1', 'song:1', 'song:2'])
      expect((await binsOf('song', 1))['lovers']).to.deep.equal({ ann: { stars: 9 } })
      expect((await binsOf('fan', 'ann'))['loved']).to.deep.equal({ 'song:1': { stars: 9 } })
      expect(await verifyAll()).to.deep.equal([])
    })

    it('are changed by key alone, from either side', async () => {
      await db.withSession((session) => {
        session.at(Fan, 'bob').collection('loved').add('song:2')
        session.at(Film, '1').collection('lovers').remove('ann')
        session.at(Song, 2).collection('listedBy').add('bob')
        session.at(Fan, 'bob').collection('seen').add('film:1')
        session.at(Fan, 'ann').collection('liked').remove('song:1')
      })
      const session = db.session()
      expect(await session.at(Song, 2).collection('lovers').keys()).to.deep.equal(['bob'])
      expect(await session.at(Fan, 'ann').collection('loved').keys()).to.deep.equal(['song:1'])
      expect(await session.at(Fan, 'bob').collection('listed').keys()).to.deep.equal(['song:2'])
      expect(await session.at(Fan, 'bob').collection('seen').keys()).to.deep.equal(['film:1'])
      expect(await binsOf('fan', 'ann')).to.include({ likes: 1 })
      expect(await verifyAll()).to.deep.equal([])
    })

    it('are found by queries and followed by walks', async () => {
      await db.indexes.sync()
      const film = await db.session().load(Film, '1')
      expect(await db.query(Fan).whereHas('liked', film).keys()).to.deep.equal(['ann'])
      expect(await db.query(Fan).whereHas('liked', 'song:2').keys()).to.deep.equal([])
      expect(await db.query(Fan).whereHas('seen', 'song:1').keys()).to.deep.equal(['ann'])
      const session = db.session()
      const walk = session
        .walk(Fan, 'bob')
        .out('loved')
        .out('lovers')
        .out('liked', { where: { stars: 5 } })
      expect(await walk.keys()).to.deep.equal(['song:1'])
      expect((await walk.entities()).map(({ title }) => title)).to.deep.equal(['One'])
      expect(await session.walk(Film, '1').out('lovers').keys()).to.have.members(['ann', 'bob'])
    })

    it('go with a record that is deleted, on the side of the others', async () => {
      await db.session().delete(Film, '1')
      const bins = await binsOf('fan', 'ann')
      expect(bins['loved']).to.deep.equal({ 'song:1': { stars: 4 } })
      expect(await db.session().at(Fan, 'ann').collection('listed').keys()).to.deep.equal(['song:2'])
      expect(await db.session().at(Fan, 'bob').collection('loved').keys()).to.deep.equal([])
      // One-sided links are not known to the film.
      expect(await verifyAll(true)).to.have.lengthOf(2)
      expect((await binsOf('fan', 'ann'))['liked']).to.deep.equal({ 'song:1': { stars: 5 } })
      await db.session().delete(Fan, 'ann')
      expect((await binsOf('song', 1))['lovers']).to.deep.equal({})
      expect((await binsOf('song', 2))['in_lists']).to.deep.equal([])
      expect(await verifyAll()).to.deep.equal([])
    })

    it('go in steps where there are many', async () => {
      await db.withSession((session) => {
        const fan = session.create(Fan, { id: 'cem' })
        for (let id = 10; id < 30; id++) {
          fan.loved.link(session.create(Song, { id }), { stars: 1 })
          fan.listed.add(session.create(Film, { id: `f${id}` }))
        }
      })
      expect(await db.session().delete(Fan, 'cem', { step: 7 })).to.equal(true)
      expect((await binsOf('song', 12))['lovers']).to.deep.equal({})
      expect((await binsOf('film', 'f12'))['listedBy']).to.deep.equal([])
      expect(await verifyAll()).to.deep.equal([])
    })

    it('stay when they are ended, and come back', async () => {
      await db.withSession(async (session) => {
        const ann = await session.load(Fan, 'ann', { with: ['rented'] })
        ann.rented.unlink('film:1')
      })
      const ann = await db.session().load(Fan, 'ann')
      expect(await ann.rented.keys()).to.deep.equal([])
      expect(await ann.rented.keys({ deleted: 'only' })).to.deep.equal(['film:1'])
      const film = await db.session().load(Film, '1')
      expect(await film.renters.keys({ deleted: 'include' })).to.deep.equal(['ann'])
      expect(await ann.rented.attributesOf('film:1', { deleted: 'include' })).to.include({ since: 1 })
      expect(await verifyAll()).to.deep.equal([])
      await db.withSession(async (session) => {
        const fan = await session.load(Fan, 'ann')
        fan.rented.link('film:1', { since: 2 })
      })
      expect(await film.renters.keys()).to.deep.equal(['ann'])
      expect(await film.renters.keys({ deleted: 'only' })).to.deep.equal([])
      expect(await verifyAll()).to.deep.equal([])
    })

    it('that were ended are purged at all ends, from whichever side', async () => {
      await db.withSession(async (session) => {
        const ann = await session.load(Fan, 'ann')
        ann.rented.link('song:1', { since: 3 })
      })
      await db.withSession(async (session) => {
        const ann = await session.load(Fan, 'ann', { with: ['rented'] })
        ann.rented.unlink('film:1', 'song:1')
      })
      const before = await db.session().load(Fan, 'ann')
      expect(await before.rented.keys({ deleted: 'only' })).to.deep.equal(['film:1', 'song:1'])
      expect(await db.purge(Film, { links: 'renters', olderThan: new Date(Date.now() + 60_000) })).to.equal(2)
      const session = db.session()
      const [film, song] = [await session.load(Film, '1'), await session.load(Song, 1)]
      expect(await film.renters.keys({ deleted: 'only' })).to.deep.equal([])
      expect(await song.renters.keys({ deleted: 'only' })).to.deep.equal([])
      expect(await verifyAll()).to.deep.equal([])
    })

    it('are brought back in line by verify, from the side that owns them', async () => {
      const { lists, maps } = Aerospike
      const change = (set: string, key: string | number, ...operations: object[]) =>
        db.client.operate(new Aerospike.Key(namespace, set, key), operations as never)
      await change('song', 1, maps.removeByKey('lovers', 'ann'), lists.append('in_lists', 'bob'))
      await change('fan', 'ann', maps.removeByKey('loved', 'film:1'), maps.put('liked', 'film:nobody', { stars: 1 }))
      expect(await verifyAll(true)).to.have.lengthOf(4)
      expect((await binsOf('song', 1))['lovers']).to.deep.equal({ ann: { stars: 4 } })
      expect((await binsOf('song', 1))['in_lists']).to.deep.equal([])
      expect(await db.session().at(Film, '1').collection('lovers').keys()).to.deep.equal(['bob'])
      expect(Object.keys((await binsOf('fan', 'ann'))['liked'] as object)).to.deep.equal(['film:1', 'song:1'])
      expect(await verifyAll()).to.deep.equal([])
    })

    it('are sent in as many round trips as links to one class', async () => {
      const linking = async (to: 'lovers' | 'listedBy', id: number) => {
        const session = db.session()
        session.at(Song, id).collection(to).add('bob')
        return (await server.commands.during(() => session.flush())).commands
      }
      const across = async (id: number) => {
        const session = db.session()
        session.at(Fan, 'bob').collection('loved').add(`song:${id}`)
        return (await server.commands.during(() => session.flush())).commands
      }
      expectRoundTrips(await across(2), await linking('lovers', 1))
    })
  })
}
