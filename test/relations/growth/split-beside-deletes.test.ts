import { expect } from 'chai'
import { EntityGoneError, type Collection, type Database } from 'skein'
import type { EmbeddedServer, FaultOptions } from 'skein/embedded'
import { isNamedServer, MODES, type TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { useDatabase } from '../../use-database.js'
import { Album, Comment, Fan, GROWING_CLASSES, Post, make } from './growing-models.js'

/** Commands of a split that is held up at each of them. */
const COMMANDS = 10
const FOLLOWERS = 9

const ALL_SLOW: FaultOptions = { times: 10, delay: 10 }

const names = (id: string): string[] => Array.from({ length: FOLLOWERS }, (_, i) => `${id}-${i}`)

for (const mode of MODES) {
  const title = `a delete of the owner during a split (${mode})`
  describe(isNamedServer ? `${title} (skipped: only the embedded server has faults)` : title, function () {
    this.timeout(30_000)
    let db: Database
    let other: Database
    let server: TestServer
    let embedded: EmbeddedServer
    let namespace: string
    useDatabase(mode, GROWING_CLASSES, (opened) => ({ db, server, namespace } = opened))
    before(async function () {
      if (server.embedded === undefined) this.skip()
      embedded = server.embedded
      other = await server.open({ namespace, entities: GROWING_CLASSES })
    })
    afterEach(() => embedded?.faults.clear())
    after(() => other?.close())

    const followers = (of: Database, id: string) => of.session().at(Fan, id).collection('followers')

    const prepare = async (id: string): Promise<void> => {
      await db.withSession((session) => {
        const fan = session.persist(make(Fan, { id }))
        for (const name of names(id)) fan.followers.add(session.persist(make(Fan, { id: name })))
      })
    }

    /** Holds a split up at a command, and does the work meanwhile, whose commands are slow in turn: so each sees what the other has half done. */
    const duringSplit = async (
      collection: Pick<Collection<object>, 'shard'>,
      command: FaultOptions,
      slow: FaultOptions,
      work: () => Promise<unknown>,
    ): Promise<void> => {
      const hold = await embedded.faults.add({ namespace, ...command, delay: 40 })
      let isOver = false
      const split = collection
        .shard(3)
        .catch(() => undefined)
        .finally(() => (isOver = true))
      while (!isOver && (await hold.hits()) === 0) await new Promise(setImmediate)
      await embedded.faults.add({ namespace, ...slow })
      await work()
      await split
      await embedded.faults.clear()
    }

    const left = async (id: string): Promise<unknown[]> => {
      const sets = ['gfan', 'gfan_followers', 'gfan_follows']
      const found = await Promise.all(sets.map((set) => db.client.query(namespace, set).results()))
      return found
        .flat()
        .map(({ bins }) => bins)
        .filter((bins) => (bins['_sk.root'] ?? bins.id) === id)
    }

    it('ends, and leaves nothing', async () => {
      for (let command = 0; command < COMMANDS; command++) {
        const id = `f${command}`
        await prepare(id)
        await duringSplit(followers(other, id), { skip: command }, ALL_SLOW, () => db.session().delete(Fan, id))
        expect(await left(id), `command ${command}`).to.deep.equal([])
        for (const name of names(id))
          expect(await db.session().at(Fan, name).collection('follows').count(), name).to.equal(0)
      }
    })

    it('ends where the split finds the owner marked, at whichever look, before the delete has read the members', async () => {
      for (let look = 0; look < 5; look++) {
        const id = `p${look}`
        await db.session().save(make(Post, { id }))
        await db.withSession((session) => {
          for (let i = 0; i < FOLLOWERS; i++) session.persist(make(Comment, { id: look * 100 + i })).post.set(id)
        })
        const split = other.session().at(Post, id).collection('comments')
        const marks: FaultOptions = { set: 'gpost_comments', kind: 'write', times: 3, delay: 150 }
        await duringSplit(split, { set: 'gpost', key: id, kind: 'read', skip: look }, marks, () =>
          db.session().delete(Post, id),
        )
        for (const set of ['gpost', 'gpost_comments', 'gcomment'])
          expect(await db.client.query(namespace, set).results(), `look ${look}`).to.deep.equal([])
      }
    })

    it('that is soft leaves the split to whoever goes on with it, and a restore finds every member', async () => {
      const readers = (of: Database, id: string) => of.session().at(Album, id).collection('readers')
      for (let command = 0; command < COMMANDS; command++) {
        const id = `a${command}`
        await db.session().save(make(Album, { id }))
        await db.withSession((session) => {
          session
            .at(Album, id)
            .collection('readers')
            .add(...names(id))
        })
        await duringSplit(readers(other, id), { skip: command }, ALL_SLOW, () => db.session().delete(Album, id))
        const where = `command ${command}`
        if (command % 2 === 0) await db.sweep(Album)
        await db.withSession(async (session) => {
          await session.restore(Album, id)
          session.at(Album, id).collection('readers').remove(`${id}-0`)
        })
        expect(await readers(db, id).keys(), where).to.deep.equal(names(id).slice(1))
        const { bins } = await db.client.get({ ns: namespace, set: 'galbum', key: id })
        expect(Object.keys(bins).filter((name) => name.startsWith('_sk.'))).to.deep.equal([])
      }
    })

    it('that is soft does not keep a member that somebody takes out, who does not know of the split', async () => {
      await db.session().save(make(Album, { id: 'a' }))
      const readers = (of: Database) => of.session().at(Album, 'a').collection('readers')
      await db.withSession((session) => void session.at(Album, 'a').collection('readers').add('x', 'y'))
      await readers(other).shard(3)
      await other.session().delete(Album, 'a')
      await db.withSession((session) => void session.at(Album, 'a').collection('readers').remove('x'))
      expect(await rejection(() => readers(db).shard(2))).to.be.instanceOf(EntityGoneError)
      await db.session().restore(Album, 'a')
      expect(await readers(db).keys()).to.deep.equal(['y'])
    })

    it('leaves one that was made anew under the same key as it is', async () => {
      for (let command = 0; command < COMMANDS; command++) {
        const id = `f${command}`
        await prepare(id)
        await duringSplit(followers(other, id), { skip: command }, ALL_SLOW, async () => {
          await db.session().delete(Fan, id)
          await db.session().save(make(Fan, { id }))
          await db.withSession((session) => {
            for (const name of names(id).slice(2)) session.at(Fan, name).collection('follows').add(id)
          })
        })
        const where = `command ${command}`
        expect(await followers(db, id).keys(), where).to.deep.equal(names(id).slice(2))
        expect(await followers(other, id).count(), where).to.equal(FOLLOWERS - 2)
        await followers(other, id).shard(2)
        expect(await followers(db, id).keys(), where).to.deep.equal(names(id).slice(2))
      }
    })
  })
}
