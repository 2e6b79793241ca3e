import { expect } from 'chai'
import {
  Bin,
  Companion,
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
import { MODES, type TestServer } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'

@Record({ set: 'iwriter' })
class Writer {
  @Key() id!: number
}

@Embeddable()
class Remark {
  @Key() id!: string
  @Bin() at!: Date
  @ManyToOne(() => Writer) author = ref<Writer>()
}

@Record({ set: 'iarticle' })
class Article {
  @Key() id!: number
  @Sharded({ by: 'hash', shards: 3 })
  @OneToMany(() => Remark, {
    strategy: 'consolidate',
    inverseIndex: { author: { name: 'byAuthor', onTargetDelete: 'delete' } },
  })
  remarks = collection<Remark>()
  @Companion({ subkeys: 'keptIn' })
  @OneToMany(() => Remark, { strategy: 'consolidate', sortKey: ['at'], inverseIndex: { author: { name: 'keptBy' } } })
  kept = collection<Remark>()
  @Sharded({ by: 'day', on: 'at', subkeys: 'datedIn' })
  @OneToMany(() => Remark, {
    strategy: 'consolidate',
    inverseIndex: { author: { name: 'datedBy', onTargetDelete: 'delete' } },
  })
  dated = collection<Remark>()
}

@Embeddable()
class Thread {
  @Key() id!: string
  @Bin({ type: 'int' }) rank = 1
  @ManyToOne(() => Writer) author = ref<Writer>()
  @OneToMany(() => Thread, { strategy: 'consolidate' }) replies = collection<Thread>()
}

const INVERSE = {
  author: { name: 'byAuthor', onTargetDelete: 'delete' },
  'replies.author': { name: 'byReplier', onTargetDelete: 'delete' },
} as const

@Record({ set: 'iforum' })
class Forum {
  @Key() id!: number
  @Sharded({ by: 'hash', shards: 3 })
  @OneToMany(() => Thread, { strategy: 'consolidate', sortKey: ['rank'], inverseIndex: INVERSE })
  threads = collection<Thread>()
}

function thread(id: string, author: number, ...replies: Thread[]): Thread {
  const made = Object.assign(new Thread(), { id })
  made.author.set(author)
  made.replies.add(...replies)
  return made
}

const shape = (threads: Iterable<Thread>): string =>
  [...threads]
    .map(({ id, author, replies }) => `${id}:${author.key}` + ([...replies].length === 0 ? '' : `(${shape(replies)})`))
    .join(' ')

const remark = (id: string, author: number, day = 1): Remark => {
  const made = Object.assign(new Remark(), { id, at: new Date(Date.UTC(2024, 4, day)) })
  made.author.set(author)
  return made
}

for (const mode of MODES) {
  describe(`inverse indexes of children in companion records (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, [Writer, Article, Forum], (opened) => ({ db, server, namespace } = opened))

    beforeEach(async () => {
      await db.indexes.sync()
      await db.withSession((session) => {
        for (const id of [1, 2]) session.persist(Object.assign(new Writer(), { id }))
        for (const id of [1, 2, 3]) {
          const article = session.persist(Object.assign(new Article(), { id }))
          if (id === 3) continue
          article.remarks.add(...['a', 'b', 'c', 'd', 'e'].map((each, i) => remark(each, 1 + (i % 2))))
          article.kept.add(remark('k', id))
          article.dated.add(remark('x', 1, 1), remark('y', 2, 2), remark('z', 1, 3))
        }
      })
    })

    const pointing = async (path: string, writer: number): Promise<number[]> => {
      const found: number[] = []
      for await (const { id } of db.session().pointingTo(Article, path, writer)) found.push(id)
      return found.sort()
    }

    it('find each owner once', async () => {
      expect(await pointing('remarks.author', 1)).to.deep.equal([1, 2])
      expect(await pointing('kept.author', 2)).to.deep.equal([2])
      expect(await pointing('dated.author', 2)).to.deep.equal([1, 2])
    })

    it('follow what children point to', async () => {
      const session = db.session()
      const { remarks, kept } = await session.load(Article, 1, { with: ['remarks', 'kept'] })
      for (const each of remarks.items) each.author.set(2)
      kept.items[0].author.set(null)
      await session.flush()
      expect(await pointing('remarks.author', 1)).to.deep.equal([2])
      expect(await pointing('kept.author', 1)).to.deep.equal([])
    })

    it('refuse a change of a child that someone else points elsewhere', async () => {
      const session = db.session()
      const { remarks } = await session.load(Article, 1, { with: ['remarks'] })
      await db.withSession(async (other) => {
        ;(await (await other.load(Article, 1)).remarks.get('a'))!.author.set(null)
      })
      remarks.items.find(({ id }) => id === 'a')!.author.set(2)
      const error: unknown = await session.flush().catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(VersionConflictError)
    })

    it('lead to the children that go with what they point to', async () => {
      await db.session().delete(Writer, 1)
      const article = await db.session().load(Article, 1)
      expect(await article.remarks.keys()).to.deep.equal(['b', 'd'])
      expect(await article.dated.keys()).to.deep.equal(['y'])
      expect(await article.kept.keys()).to.deep.equal(['k'])
      const findings: string[] = []
      for await (const { kind, property } of db.verify([Writer, Article], { settle: 0 }))
        findings.push(`${kind} ${property}`)
      // Kept children point to the record that is gone.
      expect(findings).to.deep.equal(['danglingKey kept'])
    })

    const forums = async (...ids: number[]): Promise<string[]> =>
      (await db.session().loadMany(Forum, ids, { with: ['threads'] })).map(({ threads }) => shape(threads))
    const faults = async (): Promise<string[]> => {
      const found: string[] = []
      for await (const { message } of db.verify(Forum, { settle: 0 })) found.push(message)
      return found
    }

    it('lead to children of children, at every level', async () => {
      await db.withSession((session) => {
        const threads = ['a', 'b', 'c', 'd'].map((id) => thread(id, 1, thread(`${id}x`, 2, thread(`${id}y`, 1))))
        for (const id of [1, 2]) session.create(Forum, { id }).threads.add(...threads.slice(id - 1))
      })
      const session = db.session()
      const [one] = await session.loadMany(Forum, [1, 2], { with: ['threads'] })
      await db.withSession(async (other) => {
        const { threads } = await other.load(Forum, 1, { with: ['threads'] })
        threads.items[0].replies.items[0].replies.add(thread('n', 2, thread('m', 2)))
        threads.items[1].author.set(2)
        threads.add(thread('e', 2))
      })
      await session.refresh(one)
      await session.delete(Writer, 2)
      expect(await forums(1, 2)).to.deep.equal(['a:1 c:1 d:1', 'b:1 c:1 d:1'])
      expect(await faults()).to.deep.equal([])
    })

    it('remove children with two commands for each page of owners', async function () {
      if (mode !== 'ap') return this.skip()
      const ids = Array.from({ length: 12 }, (_, i) => i + 1)
      await db.withSession((session) => {
        for (const id of [3, 4, 5]) session.create(Writer, { id })
        for (const id of ids)
          session
            .create(Forum, { id })
            .threads.add(
              ...[3, 4, 5].map((each) => thread(`${each}`, each)),
              thread('z', 1, thread('a', 3), thread('b', 4), thread('c', 5)),
            )
      })
      const commands = async (writer: number, step?: number): Promise<number> =>
        (await server.commands.during(() => db.session().delete(Writer, writer, { step }))).commands
      // The writer is read and deleted, two other collections have none, two indexes are asked and children read, and all is one write.
      const atOnce = await commands(3)
      const [sixPages, threePages] = [await commands(4, 4), await commands(5, 8)]
      expect([atOnce, sixPages - threePages]).to.deep.equal([2 + 2 + 2 * 2 + 1, 2 * (6 - 3) * 2])
      expect([...new Set(await forums(...ids))]).to.deep.equal(['z:1'])
      expect(await faults()).to.deep.equal([])
    })

    it('let children by the day go with two commands for each page of owners, too', async function () {
      if (mode !== 'ap') return this.skip()
      const ids = Array.from({ length: 12 }, (_, i) => i + 11)
      await db.withSession((session) => {
        for (const id of [3, 4, 5]) session.create(Writer, { id })
        for (const id of ids)
          session
            .create(Article, { id })
            .dated.add(...[1, 2, 3, 3, 4, 5, 4, 5].map((writer, day) => remark(`${day}`, writer, 1 + day)))
      })
      const fresh = await server.open({ namespace, entities: [Writer, Article, Forum] })
      const commands = async (writer: number, step?: number): Promise<number> =>
        (await server.commands.during(() => fresh.session().delete(Writer, writer, { step }))).commands
      // The writer is read and deleted, three other indexes have none, one is asked and children read, and all is one write.
      const atOnce = await commands(3)
      const [sixPages, threePages] = [await commands(4, 4), await commands(5, 8)]
      await fresh.close()
      expect([atOnce, sixPages - threePages]).to.deep.equal([2 + 3 + 2 + 1, 2 * (6 - 3)])
      for (const { dated } of await db.session().loadMany(Article, ids, { with: ['dated'] }))
        expect(dated.items.map(({ id }) => id)).to.deep.equal(['0', '1'])
      const found: string[] = []
      for await (const { message } of db.verify(Article, { settle: 0 })) found.push(message)
      expect(found).to.deep.equal([])
    })
  })
}
