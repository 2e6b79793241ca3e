import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import {
  Embeddable,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  Sharded,
  VersionConflictError,
  collection,
  ref,
  type Database,
} from 'skein'
import { isNamedServer, MODES, type TestServer } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'
import { GROWING_PART_CLASSES, Match, Writer, match, score, scoredBy } from './growing-part-models.js'

@Embeddable()
class Reply {
  @Key() id!: string
  @ManyToOne(() => Writer) author = ref<Writer>()
  @OneToMany(() => Reply, { strategy: 'consolidate' }) replies = collection<Reply>()
}

/** Children whose children are indexed too. */
@Record({ set: 'gpiforum' })
class Forum {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: 2, when: {} })
  @OneToMany(() => Reply, {
    strategy: 'consolidate',
    inverseIndex: {
      author: { name: 'byAuthor', onTargetDelete: 'delete' },
      'replies.author': { name: 'byReplier', onTargetDelete: 'delete' },
    },
  })
  threads = collection<Reply>()
}

const reply = (id: string, author: number, ...replies: Reply[]): Reply => {
  const made = Object.assign(new Reply(), { id })
  made.author.set(author)
  made.replies.add(...replies)
  return made
}

const PLAYERS = Array.from({ length: 9 }, (_, i) => i)

/** Number of shards at each step; -1 is the record of the owner. */
const STEPS = [-1, 3, 5, 2, -1] as const

for (const mode of MODES) {
  describe(`inverse indexes of children that are sharded on demand (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, [...GROWING_PART_CLASSES, Forum], (opened) => ({ db, server, namespace } = opened))

    beforeEach(async () => {
      await db.indexes.sync()
      await db.withSession((session) => {
        for (const id of [0, 1, 2, 3]) session.create(Writer, { id })
        for (const id of ['m', 'n'])
          session.persist(match(id, ...PLAYERS.map((player) => score(player, 100 - player, 'x', player % 3))))
      })
    })

    const scores = (of = db, id = 'm') => of.session().at(Match, id).collection('scores')
    const move = (shards: number, of = db): Promise<void> =>
      shards < 0 ? scores(of).merge() : scores(of).shard(shards)
    const players = async (id = 'm'): Promise<number[]> =>
      (await scores(db, id).page({ count: 100 })).map(({ player }) => player).sort()
    const faults = async (repair = false): Promise<string[]> => {
      const found: string[] = []
      for await (const { kind, property, partKey, state } of db.verify([Match, Forum], { settle: 0, repair }))
        found.push(`${kind} ${property} ${String(partKey)} ${state}`)
      return found
    }
    const onlyEmbedded = (context: Mocha.Context): void => {
      if (isNamedServer) context.skip()
    }
    /** Leaves a split in the middle: children are copied, and not taken out where they were. */
    const stopMoving = async (from: number, to: number): Promise<void> => {
      const steps = await server.open({
        namespace,
        entities: [...GROWING_PART_CLASSES, Forum],
        transactions: 'off',
        retry: { attempts: 1 },
      })
      const taken = from < 0 ? { set: 'gpmatch', skip: 2 } : { set: 'gpmatch_scores', skip: 0 }
      try {
        await server.embedded!.faults.add({ namespace, ...taken, kind: 'write', answer: 4, times: Infinity })
        await move(to, steps).catch(() => undefined)
      } finally {
        await server.embedded!.faults.clear()
        await steps.close()
      }
      const { bins } = await db.client.get({ ns: namespace, set: 'gpmatch', key: 'm' })
      expect(Object.keys(bins).filter((name) => name.startsWith('_sk.'))).not.to.deep.equal([])
    }

    it('find each owner once, wherever its children are', async () => {
      for (const shards of STEPS) {
        await move(shards)
        for (const writer of [0, 1, 2]) expect(await scoredBy(db, Match, writer), `${shards}`).to.deep.equal(['m', 'n'])
        expect(await scoredBy(db, Match, 3)).to.deep.equal([])
        expect(await faults()).to.deep.equal([])
      }
    })

    it('follow changes, removals and children that go to another owner, wherever they are', async () => {
      for (const shards of STEPS) {
        await move(shards)
        await db.withSession(async (session) => {
          const { scores: own } = await session.load(Match, 'm', { with: ['scores'] })
          for (const each of own.items) if (each.author.key === 2) each.author.set(3)
        })
        expect(await scoredBy(db, Match, 2)).to.deep.equal(['n'])
        expect(await scoredBy(db, Match, 3)).to.deep.equal(['m'])
        await db.withSession((session) => {
          const handle = session.at(Match, 'm').collection('scores')
          handle.remove(2)
          handle.add(score(5, 7, 'replaced', 1))
        })
        await db.withSession(async (session) => {
          const [from, to] = await session.loadMany(Match, ['m', 'n'], { with: ['scores'] })
          const moved = from.scores.items.find(({ player }) => player === 8)!
          to.scores.remove(8)
          await session.flush()
          from.scores.remove(moved)
          to.scores.add(moved)
        })
        expect(await scoredBy(db, Match, 3)).to.deep.equal(['n'])
        expect(await players()).to.deep.equal([0, 1, 3, 4, 5, 6, 7])
        expect(await faults()).to.deep.equal([])
        await db.session().delete(Match, 'm')
        await db.session().delete(Match, 'n')
        await db.withSession((session) => {
          for (const id of ['m', 'n'])
            session.persist(match(id, ...PLAYERS.map((player) => score(player, 100 - player, 'x', player % 3))))
        })
      }
    })

    it('lead to the children that go with what they point to, in one record and in several', async () => {
      await move(3)
      await db.session().delete(Writer, 1)
      for (const id of ['m', 'n']) expect(await players(id)).to.deep.equal([0, 2, 3, 5, 6, 8])
      await move(-1)
      await db.session().delete(Writer, 2, { step: 1 })
      for (const id of ['m', 'n']) expect(await players(id)).to.deep.equal([0, 3, 6])
      const { scoreCount } = await db.session().load(Match, 'm')
      expect(scoreCount).to.equal(3)
      expect(await faults()).to.deep.equal([])
    })

    it('refuse a change of a child that someone else points elsewhere, before and after a split', async () => {
      for (const shards of [-1, 3]) {
        await move(shards)
        const session = db.session()
        const { scores: mine } = await session.load(Match, 'm', { with: ['scores'] })
        await db.withSession(async (other) => {
          ;(await (await other.load(Match, 'm')).scores.get(0))!.author.set(shards < 0 ? 3 : 2)
        })
        mine.items.find(({ player }) => player === 0)!.author.set(1)
        const error: unknown = await session.flush().catch((thrown: unknown) => thrown)
        expect(error).to.be.instanceOf(VersionConflictError)
        expect(await faults()).to.deep.equal([])
      }
    })

    it('are exact in the middle of a split: nothing that was removed or replaced is found where it was', async function () {
      onlyEmbedded(this)
      for (const [from, to] of [
        [-1, 3],
        [2, 5],
        [3, -1],
      ] as const) {
        await db.session().delete(Match, 'm')
        await db.session().save(match('m', ...PLAYERS.map((player) => score(player, 100 - player, 'x', player % 3))))
        await move(from)
        await stopMoving(from, to)
        for (const writer of [0, 1, 2]) expect(await scoredBy(db, Match, writer)).to.deep.equal(['m', 'n'])
        await db.session().delete(Writer, 1)
        expect(await players()).to.deep.equal([0, 2, 3, 5, 6, 8])
        expect(await scoredBy(db, Match, 1)).to.deep.equal([])
        await db.sweep(Match)
        await stopMoving(to, 4)
        await db.withSession((session) => {
          const handle = session.at(Match, 'm').collection('scores')
          handle.remove(0, 3)
          handle.add(score(6, 1, 'again', 3))
        })
        expect(await scoredBy(db, Match, 0)).to.deep.equal(['n'])
        expect(await scoredBy(db, Match, 3)).to.deep.equal(['m'])
        await db.sweep(Match)
        expect((await db.session().load(Match, 'm')).scoreCount).to.equal(4)
        expect(await faults()).to.deep.equal([])
        await db.session().save(Object.assign(new Writer(), { id: 1 }))
        await db.withSession((session) => {
          for (const player of [1, 4, 7])
            session
              .at(Match, 'n')
              .collection('scores')
              .add(score(player, 100, 'x', 1))
        })
      }
    })

    it('lead to children of children, in one record, in several and on the way', async function () {
      for (const shards of [-1, 2, 3, -1]) {
        await db.session().upsert(Object.assign(new Writer(), { id: 2 }))
        await db.withSession((session) => {
          session
            .create(Forum, { id: 'f' })
            .threads.add(...['a', 'b', 'c', 'd'].map((id) => reply(id, 1, reply(`${id}x`, 2, reply(`${id}y`, 1)))))
        })
        const threads = db.session().at(Forum, 'f').collection('threads')
        if (shards > 0) await threads.shard(shards)
        await db.session().delete(Writer, 2)
        const { threads: left } = await db.session().load(Forum, 'f', { with: ['threads'] })
        expect(left.items.map(({ id, replies }) => `${id} ${replies.items.length}`)).to.deep.equal(
          ['a', 'b', 'c', 'd'].map((id) => `${id} 0`),
        )
        expect(await faults()).to.deep.equal([])
        await db.session().delete(Forum, 'f')
      }
    })

    it('are put right by verify, in the record of the owner and in companions', async () => {
      for (const shards of [-1, 3]) {
        await move(shards)
        const inOwner = [{ ns: namespace, set: 'gpmatch', key: 'm' }]
        const inShards = [0, 1, 2].map((shard) => ({ ns: namespace, set: 'gpmatch_scores', key: `m:${shard}` }))
        for (const key of shards < 0 ? inOwner : inShards) await db.client.put(key, { scoredBy: {} })
        expect(await scoredBy(db, Match, 0)).to.deep.equal(['n'])
        expect(new Set(await faults(true))).to.deep.equal(
          new Set(PLAYERS.map((player) => `wrongIndex scores ${player} repaired`)),
        )
        expect(await scoredBy(db, Match, 0)).to.deep.equal(['m', 'n'])
        expect(await faults()).to.deep.equal([])
      }
    })

    it('find an owner whose children move all the while', async function () {
      this.timeout(60_000)
      let isOver = false
      const moves = (async () => {
        for (let i = 0; i < 8; i++) await move([3, 5, 2, -1][i % 4])
      })().finally(() => (isOver = true))
      const asks = (async () => {
        while (!isOver) {
          for (const writer of [0, 1, 2]) expect(await scoredBy(db, Match, writer)).to.deep.equal(['m', 'n'])
          await pause(1)
        }
      })()
      await Promise.all([moves, asks])
    })
  })
}
