import { expect } from 'chai'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Database, EntityClass, Finding, SplitEvent } from 'skein'
import { companionKey, hashShard } from '#src/keys/index.js'
import { MODES, type TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { storedBins } from '../../stored-bins.js'
import { useDatabase } from '../../use-database.js'
import { Busy, Club, Comment, Fan, GROWING_CLASSES, Person, Post, Reader, SHARDS, make } from './growing-models.js'

const findings = async (db: Database, entityClass: EntityClass, repair = false): Promise<string[]> => {
  const found: Finding[] = []
  for await (const finding of db.verify(entityClass, { settle: 0, repair })) found.push(finding)
  return found.map(({ kind, state, key }) => `${kind} ${String(key)} ${state}`)
}

const names = (count: number, from = 0): string[] => Array.from({ length: count }, (_, i) => `r${i + from}`)

for (const mode of MODES) {
  describe(`a collection that is sharded on demand (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, GROWING_CLASSES, (opened) => ({ db, server, namespace } = opened))

    const stored = (set: string, key: string) => storedBins(db, namespace, set, key)
    const companions = (
      set: string,
      key: string,
      shards = SHARDS,
    ): Promise<({ [bin: string]: unknown } | undefined)[]> =>
      Promise.all(Array.from({ length: shards }, (_, shard) => stored(set, companionKey(key, shard) as string)))
    const readers = (): ReturnType<typeof collectionOf> => collectionOf()
    const collectionOf = () => db.session().at(Post, 'p').collection('readers')

    const read = (ids: readonly string[], change: 'add' | 'remove' = 'add'): Promise<unknown> =>
      db.withSession((session) => {
        const collection = session.at(Post, 'p').collection('readers')
        for (const id of ids) collection[change](id)
      })

    it('lives in its owner record, and an add is one command', async () => {
      await db.session().save(make(Post, { id: 'p' }))
      await read(['r1'])
      for (const change of ['add', 'remove', 'add'] as const) {
        const session = db.session()
        session.at(Post, 'p').collection('readers')[change]('r2')
        const { rows } = await server.commands.during(() => session.flush())
        expect(rows).to.equal(1)
      }
      expect(await stored('gpost', 'p')).to.deep.include({ readers: ['r1', 'r2'] })
      expect(await stored('gpost', 'p')).not.to.have.property('readersIn')
      expect(await readers().keys()).to.deep.equal(['r1', 'r2'])
      expect(await readers().count()).to.equal(2)
      expect(await readers().contains('r2')).to.equal(true)
    })

    it('is split by a call, and goes on as before', async () => {
      await db.session().save(make(Post, { id: 'p' }))
      await read(names(30))
      const post = await db.session().load(Post, 'p')
      await post.readers.shard(SHARDS)
      const root = await stored('gpost', 'p')
      expect(root).to.deep.include({ readersIn: ['hash-shards', SHARDS], readers: [] })
      expect(Object.keys(root!).filter((name) => name.startsWith('_sk.'))).to.deep.equal([])
      const shards = await companions('gpost_readers', 'p')
      shards.forEach((bins, shard) => {
        const here = names(30).filter((id) => hashShard(id, SHARDS) === shard)
        expect(bins!.readers).to.deep.equal(here.sort())
        expect(bins).to.deep.include({ '_sk.root': 'p', '_sk.shard': shard, '_sk.shards': SHARDS })
        expect(Object.keys(bins!)).to.have.members(['_sk.joined', '_sk.root', '_sk.shard', '_sk.shards', 'readers'])
      })
      expect(await readers().keys()).to.deep.equal(names(30).sort())
      await read(['new'])
      await read(['r3', 'nobody'], 'remove')
      expect(await readers().count()).to.equal(30)
      expect(await readers().contains('r3')).to.equal(false)
      expect(await readers().contains('new')).to.equal(true)
      const session = db.session()
      session.at(Post, 'p').collection('readers').add('one')
      const { rows } = await server.commands.during(() => session.flush())
      expect(rows).to.equal(1)
    })

    it('is split when it passes the number of members', async () => {
      const post = make(Post, { id: 'p' })
      await db.session().save(post)
      for (let i = 0; i < 30; i++)
        await db.withSession((session) => {
          const comment = session.persist(make(Comment, { id: i, text: 'hello' }))
          comment.post.set('p')
        })
      expect(await stored('gpost', 'p')).to.deep.include({ subkeys: ['hash-shards', SHARDS], comments: [] })
      const { comments } = await db.session().load(Post, 'p', { with: ['comments'] })
      expect(comments.items.map(({ id }) => id)).to.deep.equal(Array.from({ length: 30 }, (_, i) => i))
    })

    it('is split when its record passes a size', async () => {
      await db.session().save(make(Post, { id: 'p' }))
      for (let i = 0; i < 12; i++) await read(names(40, i * 40))
      expect(await stored('gpost', 'p')).to.deep.include({ readersIn: ['hash-shards', SHARDS], readers: [] })
      expect(await readers().count()).to.equal(480)
    })

    it('is written by a process that does not know of the split', async () => {
      await db.session().save(make(Post, { id: 'p' }))
      await read(names(12))
      const other = await server.open({ namespace, entities: GROWING_CLASSES })
      try {
        await other.session().at(Post, 'p').collection('readers').shard(3)
        await read(['late'])
        await read(['r5'], 'remove')
        expect(await readers().keys()).to.deep.equal([...names(12), 'late'].filter((id) => id !== 'r5').sort())
        await other.session().at(Post, 'p').collection('readers').merge()
        await read(['later'])
        await read(['r6'], 'remove')
      } finally {
        await other.close()
      }
      const left = [...names(12), 'late', 'later'].filter((id) => id !== 'r5' && id !== 'r6').sort()
      expect(await readers().keys()).to.deep.equal(left)
      expect(await stored('gpost', 'p')).to.deep.include({ readers: left })
      expect(await companions('gpost_readers', 'p')).to.deep.equal(Array(SHARDS).fill(undefined))
    })

    it('is split again into more shards, and into fewer', async () => {
      await db.session().save(make(Post, { id: 'p' }))
      await read(names(50))
      for (const shards of [2, 8, 3, 1]) {
        await readers().shard(shards)
        expect(await stored('gpost', 'p')).to.deep.include({ readersIn: ['hash-shards', shards] })
        const all = await companions('gpost_readers', 'p', 9)
        all.forEach((bins, shard) => {
          const here = names(50).filter((id) => hashShard(id, shards) === shard)
          expect(bins?.readers).to.deep.equal(shard < shards ? here.sort() : undefined)
        })
        expect(await readers().keys()).to.deep.equal(names(50).sort())
      }
    })

    it('keeps both sides in step, split or not', async () => {
      await db.withSession((session) => {
        for (const id of ['ada', ...names(12)]) session.persist(make(Fan, { id }))
      })
      const follow = (id: string, change: 'add' | 'remove' = 'add'): Promise<unknown> =>
        db.withSession((session) => void session.at(Fan, id).collection('follows')[change]('ada'))
      for (const id of names(6)) await follow(id)
      await db.session().at(Fan, 'ada').collection('followers').shard(3)
      await db.session().at(Fan, 'r7').collection('follows').shard(2)
      for (const id of names(6, 6)) await follow(id)
      await follow('r2', 'remove')
      await follow('r9', 'remove')
      await db.withSession((session) => void session.at(Fan, 'ada').collection('followers').remove('r7'))
      const left = names(12).filter((id) => !['r2', 'r9', 'r7'].includes(id))
      expect(await db.session().at(Fan, 'ada').collection('followers').keys()).to.deep.equal(left.sort())
      for (const id of names(12))
        expect(await db.session().at(Fan, id).collection('follows').keys()).to.deep.equal(
          left.includes(id) ? ['ada'] : [],
        )
      await db.session().delete(Fan, 'ada')
      for (const id of names(12)) expect(await db.session().at(Fan, id).collection('follows').count()).to.equal(0)
      expect(await companions('gfan_followers', 'ada', 3)).to.deep.equal([undefined, undefined, undefined])
    })

    it('carries the attributes of links along', async () => {
      await db.withSession((session) => {
        const club = session.persist(make(Club, { id: 'c' }))
        for (let i = 0; i < 25; i++) {
          const person = session.persist(make(Person, { id: i }))
          person.clubs.link(club, { role: `role ${i}`, share: i % 3 })
        }
      })
      await db.withSession((session) => {
        session.at(Person, 24).collection('clubs').link('c', { role: 'chair', share: 4 })
      })
      expect(await stored('gclub', 'c')).to.deep.include({ subkeys: ['hash-shards', SHARDS], people: {} })
      const people = db.session().at(Club, 'c').collection('people')
      expect(await people.count()).to.equal(25)
      expect(await people.attributesOf(24)).to.deep.include({ role: 'chair', share: 4 })
      const session = db.session()
      const { people: loaded } = await session.load(Club, 'c', { with: ['people'] })
      const seat = (await loaded.attributesOf(7))!
      expect(seat).to.deep.include({ role: 'role 7', share: 1 })
      seat.role = 'treasurer'
      await session.flush()
      expect(await db.session().at(Person, 7).collection('clubs').attributesOf('c')).to.deep.include({
        role: 'treasurer',
      })
      expect(await findings(db, Club)).to.deep.equal([])
    })

    it('tells of a split, and why', async () => {
      const events: SplitEvent[] = []
      const listener = (event: unknown): void => void events.push(event as SplitEvent)
      subscribe('skein:split', listener)
      try {
        await db.session().save(make(Post, { id: 'p' }))
        await db.withSession((session) => {
          for (let i = 0; i < 21; i++) session.persist(make(Comment, { id: i })).post.set('p')
        })
        await db.session().at(Post, 'p').collection('comments').merge()
      } finally {
        unsubscribe('skein:split', listener)
      }
      const how = mode === 'sc' ? 'transaction' : 'steps'
      const about = { class: 'Post', property: 'comments', namespace, set: 'gpost', members: 21, how }
      expect(events.map(({ ms, ...rest }) => (expect(ms).to.be.above(0), rest))).to.deep.equal([
        { ...about, from: 0, to: SHARDS, reason: 'members' },
        { ...about, from: SHARDS, to: 0, reason: 'call' },
      ])
    })

    it('is split when its record is busy', async function () {
      if (server.embedded === undefined) this.skip()
      await db.session().save(make(Busy, { id: 'b' }))
      const busy = { namespace, set: 'gbusy', kind: 'write' as const, answer: 14 }
      const add = (id: string): Promise<unknown> =>
        db.withSession((session) => void session.at(Busy, 'b').collection('readers').add(id))
      await server.embedded.faults.add({ ...busy, times: 2 })
      await add('r0')
      expect(await stored('gbusy', 'b')).not.to.have.property('subkeys')
      await server.embedded.faults.add({ ...busy, times: 4 })
      await add('r1')
      expect(await stored('gbusy', 'b')).to.deep.include({ subkeys: ['hash-shards', 2], readers: [] })
    })

    it('is split when its record would be too large, and the add is sent again', async () => {
      await db.session().save(make(Busy, { id: 'b' }))
      const ids = (from: number): string[] => names(400, from).map((id) => id.padEnd(1_000, '-'))
      for (const from of [0, 400, 800])
        await db.withSession((session) => {
          session
            .at(Busy, 'b')
            .collection('kept')
            .add(...ids(from))
        })
      expect(await stored('gbusy', 'b')).to.deep.include({ keptIn: ['hash-shards', 2], kept: [] })
      expect(await db.session().at(Busy, 'b').collection('kept').count()).to.equal(1_200)
    })

    it('is not moved into records that it does not fit in', async () => {
      await db.session().save(make(Busy, { id: 'b' }))
      const kept = db.session().at(Busy, 'b').collection('kept')
      await kept.shard(2)
      for (const from of [0, 700])
        await db.withSession((session) => {
          session
            .at(Busy, 'b')
            .collection('kept')
            .add(...names(700, from).map((id) => id.padEnd(1_000, '-')))
        })
      const error = await rejection(() => kept.merge())
      expect((error as { code?: string; message?: string }).code).to.equal('SKEIN_2432')
      expect((error as Error).message).to.match(/do not fit into so few records/)
      expect(await kept.count()).to.equal(1_400)
      await kept.shard(2)
      expect(await stored('gbusy', 'b')).to.deep.include({ keptIn: ['hash-shards', 2], kept: [] })
      expect(await kept.count()).to.equal(1_400)
    })

    it('goes with its owner', async () => {
      const post = make(Post, { id: 'p' })
      await db.session().save(post)
      await db.withSession((session) => {
        for (let i = 0; i < 15; i++) session.persist(make(Comment, { id: i })).post.set('p')
      })
      await db.session().at(Post, 'p').collection('comments').shard(2)
      await read(names(5))
      await db.session().delete(Post, 'p')
      expect(await stored('gpost', 'p')).to.equal(undefined)
      expect(await companions('gpost_comments', 'p')).to.deep.equal(Array(SHARDS).fill(undefined))
      expect((await db.client.query(namespace, 'gcomment').results()).length).to.equal(0)
    })

    it('refuses what cannot be done', async () => {
      await db.session().save(make(Post, { id: 'p' }))
      const codes = async (call: () => Promise<unknown>): Promise<unknown> =>
        ((await rejection(call)) as { code?: string }).code
      expect(await codes(() => readers().shard(0))).to.equal('SKEIN_2431')
      expect(await codes(() => readers().shard(4097))).to.equal('SKEIN_2431')
      expect(await codes(() => readers().shard(1.5))).to.equal('SKEIN_2431')
      expect(await codes(() => db.session().at(Post, 'none').collection('readers').shard(2))).to.equal('SKEIN_3003')
      expect(await codes(() => db.session().at(Person, 1).collection('clubs').merge())).to.equal('SKEIN_2432')
      const fresh = db.session().persist(make(Post, { id: 'fresh' }))
      expect(await codes(() => fresh.readers.shard(2))).to.equal('SKEIN_2432')
      void Reader
    })
  })
}
