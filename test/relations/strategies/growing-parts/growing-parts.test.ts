import { expect } from 'chai'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Database, Finding, SplitEvent } from 'skein'
import { companionKey, hashShard } from '#src/keys/index.js'
import { MODES, type TestServer } from '../../../server.js'
import { storedBins } from '../../../stored-bins.js'
import { useDatabase } from '../../../use-database.js'
import { GROWING_PART_CLASSES, Remark, SHARDS, Thread, Writer, remark, score, thread } from './growing-part-models.js'

const ids = (count: number, from = 0): string[] => Array.from({ length: count }, (_, i) => `r${100 + i + from}`)
const remarks = (count: number, from = 0): Remark[] =>
  ids(count, from).map((id, i) => remark(id, `text ${id}`, 1000 - i))

for (const mode of MODES) {
  describe(`consolidated children that are sharded on demand (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, GROWING_PART_CLASSES, (opened) => ({ db, server, namespace } = opened))

    const stored = (set: string, key: string) => storedBins(db, namespace, set, key)
    const root = (): Promise<{ [bin: string]: unknown } | undefined> => stored('gpthread', 't')
    const shard = (at: number, of = 'remarks'): Promise<{ [bin: string]: unknown } | undefined> =>
      stored(`gpthread_${of}`, companionKey('t', at) as string)
    const asked = (of = db) => of.session().at(Thread, 't').collection('remarks')
    const add = (...added: Remark[]): Promise<unknown> =>
      db.withSession(
        (session) =>
          void session
            .at(Thread, 't')
            .collection('remarks')
            .add(...added),
      )
    const findings = async (repair = false): Promise<string[]> => {
      const found: Finding[] = []
      for await (const finding of db.verify(Thread, { settle: 0, repair })) found.push(finding)
      return found.map(({ kind, partKey, state }) => `${kind} ${String(partKey)} ${state}`)
    }
    /** Another process, which does not know what this one has learnt. */
    const withOther = async (work: (other: Database) => Promise<unknown>): Promise<void> => {
      const other = await server.open({ namespace, entities: GROWING_PART_CLASSES })
      try {
        await work(other)
      } finally {
        await other.close()
      }
    }

    it('live in the record of their owner, and an add, a change and a removal are one command each', async () => {
      await db.session().save(thread('t', ...remarks(3)))
      expect(Object.keys((await root())!.remarks as object)).to.deep.equal(ids(3))
      expect(await root()).not.to.have.property('subkeys')
      const changes = [(post: Thread) => post.remarks.add(remark('x')), (post: Thread) => post.remarks.remove('r100')]
      for (const change of changes) {
        const session = db.session()
        const loaded = await session.load(Thread, 't')
        change(loaded)
        expect((await server.commands.during(() => session.flush())).rows).to.equal(1)
      }
      const session = db.session()
      const { remarks: all } = await session.load(Thread, 't', { with: ['remarks'] })
      expect(all.items.map(({ id }) => id)).to.deep.equal(['r101', 'r102', 'x'])
      all.items[0].text = 'other'
      all.items[0].likes += 2
      expect((await server.commands.during(() => session.flush())).rows).to.equal(1)
      expect(await asked().get('r101')).to.deep.include({ text: 'other', likes: 2 })
    })

    it('are split by a call into companions with all that is kept beside them, and brought back', async () => {
      await db.session().save(thread('t', ...remarks(15)))
      await asked().shard(SHARDS)
      expect(await root()).to.deep.include({ subkeys: ['hash-shards', SHARDS], remarks: {} })
      expect(Object.keys((await root())!).filter((name) => name.startsWith('_sk.'))).to.deep.equal([])
      for (let at = 0; at < SHARDS; at++) {
        const here = ids(15).filter((id) => hashShard(id, SHARDS) === at)
        const bins = (await shard(at))!
        expect(Object.keys(bins.remarks as object)).to.deep.equal(here)
        expect(bins).to.deep.include({ '_sk.root': 't', '_sk.shard': at, '_sk.shards': SHARDS })
      }
      expect(await asked().keys()).to.deep.equal(ids(15))
      expect((await asked().by('recent').last(2)).map(({ id }) => id)).to.deep.equal(['r101', 'r100'])
      expect(await findings()).to.deep.equal([])
      await asked().shard(7)
      expect(await asked().keys()).to.deep.equal(ids(15))
      expect(await findings()).to.deep.equal([])
      await asked().merge()
      expect(Object.keys((await root())!.remarks as object)).to.deep.equal(ids(15))
      expect(await root()).not.to.have.property('subkeys')
      expect(await shard(0)).to.equal(undefined)
      expect((await asked().by('recent').first(2)).map(({ id }) => id)).to.deep.equal(['r114', 'r113'])
      expect(await findings()).to.deep.equal([])
      expect((await asked().get('r104'))!.weight).to.equal(2)
    })

    it('are split by the flush that passes the number of children or the size of the record', async () => {
      const events: SplitEvent[] = []
      const note = (event: unknown): void => void events.push(event as SplitEvent)
      subscribe('skein:split', note)
      try {
        await db.session().save(thread('t'))
        for (let i = 0; i < 6; i++) await add(...remarks(5, i * 5))
        expect(await root()).to.deep.include({ subkeys: ['hash-shards', SHARDS], remarks: {} })
        expect(await asked().count()).to.equal(30)
        for (let i = 0; i < 30; i++)
          await db.withSession((session) => {
            for (let j = 0; j < 10; j++)
              session
                .at(Thread, 't')
                .collection('scores')
                .add(score(i * 10 + j, 1000 - i, 'somebody'))
          })
        expect(await root()).to.deep.include({ scoresIn: ['hash-shards', SHARDS], scores: {} })
        const scores = db.session().at(Thread, 't').collection('scores')
        expect(await scores.count()).to.equal(300)
        expect((await scores.last(1)).map(({ player }) => player)).to.deep.equal([9])
        expect((await scores.first(2)).map(({ player }) => player)).to.deep.equal([290, 291])
        const of = events.map(({ property, from, to, reason }) => `${property} ${from} ${to} ${reason}`)
        expect(of).to.deep.equal([`remarks 0 ${SHARDS} members`, `scores 0 ${SHARDS} bytes`])
        expect(await findings()).to.deep.equal([])
      } finally {
        unsubscribe('skein:split', note)
      }
    })

    it('come with a new owner, also where they are more than one record may hold', async () => {
      const big = 'x'.repeat(30_000)
      const made = thread('t', ...ids(18).map((id) => remark(id, big)))
      await db.session().save(made)
      expect(await asked().count()).to.equal(18)
      await add(...ids(30, 18).map((id) => remark(id, big)))
      expect(await asked().count()).to.equal(48)
      expect(await root()).to.deep.include({ subkeys: ['hash-shards', SHARDS] })
    })

    it('are read, added, changed and removed by a process that does not know of the split', async () => {
      await db.session().save(thread('t', ...remarks(12)))
      await withOther(async (other) => {
        expect(await asked(other).count()).to.equal(12)
        const session = other.session()
        const loaded = await session.load(Thread, 't', { with: ['remarks'] })
        await asked().shard(3)
        loaded.remarks.items[0].text = 'changed'
        loaded.remarks.items[1].likes += 5
        loaded.remarks.items[2].at = new Date(5000)
        loaded.remarks.remove('r103')
        loaded.remarks.add(remark('new'))
        await session.flush()
        expect(await asked(other).keys()).to.deep.equal([...ids(12).filter((id) => id !== 'r103'), 'new'].sort())
        expect(await asked().get('r100')).to.deep.include({ text: 'changed' })
        expect(await asked().get('r101')).to.deep.include({ likes: 5 })
        expect((await asked().by('recent').last(1)).map(({ id }) => id)).to.deep.equal(['r102'])
        await asked().merge()
        await other.withSession((again) => {
          again.at(Thread, 't').collection('remarks').remove('r105')
          again.at(Thread, 't').child('remarks', 'r106').increment('likes', 3)
        })
        expect(await asked().count()).to.equal(11)
        expect(await asked().get('r106')).to.deep.include({ likes: 3 })
        expect(await findings()).to.deep.equal([])
      })
    })

    it('are asked in every way, in one record and in several alike', async () => {
      const made = thread('t', ...remarks(12))
      for (let i = 0; i < 12; i++) made.scores.add(score(i, (i * 7) % 5))
      await db.session().save(made)
      const answers = async (): Promise<unknown> => {
        const session = db.session()
        const all = session.at(Thread, 't').collection('remarks')
        const scores = session.at(Thread, 't').collection('scores')
        const page = await all.page({ count: 5 })
        return {
          count: await all.count(),
          contains: [await all.contains('r103'), await all.contains('nobody')],
          get: (await all.get('r103'))?.text,
          keys: await all.keys(),
          page: page.map(({ id }) => id),
          next: (await all.page({ count: 5, after: page.next! })).map(({ id }) => id),
          offset: (await all.page({ offset: 3, count: 2 })).map(({ id }) => id),
          first: (await all.first(2)).map(({ id }) => id),
          last: (await all.last(2)).map(({ id }) => id),
          recent: (await all.by('recent').last(3)).map(({ id }) => id),
          between: (await all.by('recent').range({ from: new Date(992), to: new Date(995) })).map(({ id }) => id),
          range: (await scores.range({ from: 2, to: 4 })).map(({ player }) => player),
          indexOf: await scores.indexOf(3),
          likes: await session.at(Thread, 't').child('remarks', 'r103').get('likes'),
        }
      }
      const inOne = await answers()
      expect(inOne).to.deep.include({ count: 12, contains: [true, false], get: 'text r103' })
      await asked().shard(3)
      await db.session().at(Thread, 't').collection('scores').shard(2)
      expect(await answers()).to.deep.equal(inOne)
      const streamed: string[] = []
      for await (const { id } of asked().stream()) streamed.push(id)
      expect(streamed).to.deep.equal(ids(12))
    })

    it('are loaded with their owners, many at once, in one batch more', async () => {
      await db.withSession((session) => {
        for (let i = 0; i < 5; i++) session.persist(thread(`t${i}`, ...remarks(3)))
      })
      await db.session().at(Thread, 't2').collection('remarks').shard(2)
      const keys = Array.from({ length: 5 }, (_, i) => `t${i}`)
      const loaded = await db.session().loadMany(Thread, keys, { with: ['remarks'] })
      expect(loaded.map((each) => each.remarks.items.length)).to.deep.equal([3, 3, 3, 3, 3])
    })

    it('go with their owner, and move to another one', async () => {
      await db.session().save(thread('t', ...remarks(6)))
      await db.session().save(thread('u', ...remarks(2, 50)))
      await asked().shard(3)
      const session = db.session()
      const from = await session.load(Thread, 't', { with: ['remarks'] })
      const to = await session.load(Thread, 'u')
      const moved = from.remarks.items[1]
      from.remarks.remove(moved)
      to.remarks.add(moved)
      await session.flush()
      expect(await asked().keys()).to.deep.equal(ids(6).filter((id) => id !== 'r101'))
      expect(await db.session().at(Thread, 'u').collection('remarks').keys()).to.deep.equal(['r101', 'r150', 'r151'])
      await db.session().delete(Thread, 't')
      for (let at = 0; at < 3; at++) expect(await shard(at)).to.equal(undefined)
      expect(await db.session().find(Thread, 't')).to.equal(null)
    })

    it('are upserted with an owner that is split, and made through a handle', async () => {
      await db.session().save(thread('t', ...remarks(6)))
      await asked().shard(3)
      await withOther(async (other) => {
        await other.session().upsert(thread('t', remark('up')))
        expect(await asked(other).keys()).to.deep.equal([...ids(6), 'up'])
      })
      await db.withSession((session) => {
        const made = session.at(Thread, 'new', { create: true })
        made.collection('remarks').add(remark('first'))
        made.collection('scores').add(score(1, 2))
      })
      expect(await db.session().at(Thread, 'new').collection('remarks').keys()).to.deep.equal(['first'])
      expect(await db.session().at(Thread, 'new').collection('scores').count()).to.equal(1)
    })

    it('point to entities, which are saved first', async () => {
      await db.session().save(thread('t', ...remarks(2)))
      await db.withSession(async (session) => {
        const { remarks: all } = await session.load(Thread, 't')
        const made = remark('pointing')
        made.author.set(Object.assign(new Writer(), { id: 7 }))
        all.add(made)
      })
      expect(await db.session().find(Writer, 7)).not.to.equal(null)
      await asked().shard(2)
      expect((await asked().get('pointing'))!.author.key).to.equal(7)
    })
  })
}
