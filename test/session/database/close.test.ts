import 'reflect-metadata'
import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  AfterLoad,
  Bin,
  collection,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  type Collection,
  type Database,
  type Ref,
  type Session,
} from 'skein'
import { inEachMode } from '../modes.js'
import { rejection } from '../rejection.js'

@Record({ set: 'close-writer' })
class Writer {
  @Key() id!: number
  @Bin() name?: string
  @OneToMany(() => Novel, 'writer', { strategy: 'keyList' }) novels: Collection<Novel> = collection()
}

@Record({ set: 'close-novel' })
class Novel {
  @Key() id!: number
  @Bin() title?: string
  @ManyToOne(() => Writer, 'novels') writer: Ref<Writer> = ref()
}

let loadMore: (() => Promise<unknown>) | undefined

@Record({ set: 'close-letter' })
class Letter {
  @Key() id!: number
  @Bin() text?: string

  @AfterLoad() async more(): Promise<void> {
    // Longer than it takes a database that has nothing to do to close.
    await new Promise((resolve) => setTimeout(resolve, 20))
    await loadMore?.()
  }
}

inEachMode(
  'a database that closes waits for what was asked for before:',
  (bed) => {
    let db: Database
    let session: Session
    let [writer, novel] = [0, 0]

    before(async () => {
      ;[writer, novel] = [bed().freshNumber(), bed().freshNumber()]
      await bed().db.withSession(async (first) => {
        const stored = first.create(Writer, { id: writer, name: 'Ada' })
        stored.novels.add(first.create(Novel, { id: novel, title: 'One' }))
      })
    })

    beforeEach(async () => {
      db = await bed().open()
      session = db.session()
    })

    const manyNovels = async (): Promise<{ count: number; stream: () => AsyncIterable<Novel> }> => {
      const [owner, count] = [bed().freshNumber(), 1200]
      await bed().db.withSession((first) => {
        const stored = first.create(Writer, { id: owner })
        for (let i = 0; i < count; i++) stored.novels.add(first.create(Novel, { id: bed().freshNumber() }))
      })
      const loaded = await session.load(Writer, owner)
      return { count, stream: () => loaded.novels.stream() }
    }

    const calls: { [what: string]: () => Promise<unknown> } = {
      'a load': () => session.load(Writer, writer),
      'a find': () => session.find(Writer, writer),
      'a find of some properties': () => session.find(Writer, writer, { only: ['name'] }),
      'a find of several': () => session.findMany(Writer, [writer, writer + 1_000_000]),
      'a load of several': () => session.loadMany(Novel, [novel]),
      'a load with what it leads to, level by level': () => session.load(Writer, writer, { with: ['novels.writer'] }),
      'a read': () => db.read(Writer, [writer]),
      'an explanation': () => session.explain(),
    }
    for (const [what, call] of Object.entries(calls)) {
      it(what, async () => {
        const called = call()
        const closing = db.close()
        await called
        await closing
      })
    }

    it('a load of a reference and of a collection, and a question to a collection', async () => {
      const loaded = await session.load(Novel, novel)
      const handle = session.at(Writer, writer).collection('novels')
      const called = [loaded.writer.load(), handle.contains(novel), handle.load()]
      const closing = db.close()
      const [, isThere, members] = await Promise.all(called)
      expect(isThere).to.equal(true)
      expect(members).to.have.length(1)
      await closing
    })

    it('a load whose hook loads more', async () => {
      const letter = bed().freshNumber()
      await bed()
        .db.session()
        .save(Object.assign(new Letter(), { id: letter }))
      loadMore = () => session.load(Writer, writer)
      const called = session.load(Letter, letter)
      const closing = db.close()
      await called
      await closing
      loadMore = undefined
    })

    it('but not for a hook that closes it, which would wait for itself: that is refused, and the database stays open', async () => {
      const letter = bed().freshNumber()
      await bed()
        .db.session()
        .save(Object.assign(new Letter(), { id: letter }))
      loadMore = () => db.close()
      try {
        const error = await rejection(() => session.load(Letter, letter))
        expect(error).to.have.property('code', 'SKEIN_2308')
        expect((error as Error).message).to.include('db.close()')
      } finally {
        loadMore = undefined
      }
      expect(await db.session().find(Writer, writer)).to.include({ name: 'Ada' })
      await db.close()
    })

    it('but not for a function that closes it, which would wait for itself: that is refused, and the database stays open', async () => {
      const close = async (): Promise<void> => {
        await db.close()
      }
      const works: ((inside: Session) => Promise<unknown>)[] = [
        () => db.close(),
        (inside) => inside.load(Writer, writer).then(() => db.close()),
        async (inside) => {
          await Promise.all([inside.load(Writer, writer), inside.load(Novel, novel)])
          await close()
        },
        async (inside) => {
          for await (const each of inside.at(Writer, writer).collection('novels').stream())
            if (each.id > 0) await close()
        },
        async (inside) => Promise.all([inside.find(Writer, writer), inside.find(Novel, novel).then(close)]),
      ]
      const calls = works.map((work) => () => db.withSession(work))
      if (db.capabilities.namespaces[bed().namespace].transactions) {
        calls.push(...works.map((work) => () => db.transaction(work)))
        calls.push(() => db.session().transaction(works[2]))
        calls.push(() => db.withSession(() => db.transaction(works[2])))
      }
      for (const call of calls) {
        const error = await rejection(call)
        expect(error, String(call)).to.have.property('code', 'SKEIN_2308')
        expect((error as Error).message).to.include('db.close()')
      }
      expect(await db.session().find(Writer, writer)).to.include({ name: 'Ada' })
      await db.close()
    })

    it('but lets such a function close another database, and one that it does not await', async () => {
      const other = await bed().open()
      await db.withSession(async (inside) => {
        await inside.load(Writer, writer)
        await other.close()
      })
      let closing: Promise<void> | undefined
      await db.withSession(async (inside) => {
        await inside.load(Writer, writer)
        closing = new Promise((resolve, reject) => setTimeout(() => void db.close().then(resolve, reject), 0))
      })
      await closing
    })

    it('but not for a verify between two findings, whose next step is refused', async () => {
      for (const id of [bed().freshNumber(), bed().freshNumber()])
        await bed().db.client.put(new Aerospike.Key(bed().namespace, 'close-writer', id), { id, novels: [1] })
      const error = await rejection(async () => {
        for await (const finding of db.verify([Writer, Novel], { settle: 0 })) {
          expect(finding.message).to.be.a('string')
          await db.close()
        }
      })
      expect(error).to.have.property('code', 'SKEIN_4104')
    })

    it('but not for a query between two records, whose next step is refused or ends', async () => {
      await manyNovels()
      for (const ask of [(on: Database) => on.scan(Novel), (on: Database) => on.session().query(Novel).scan()]) {
        const other = await bed().open({ limits: { queryRecords: 100 } })
        const error = await rejection(async () => {
          for await (const each of ask(other)) expect(each.id, String(await other.close())).to.be.a('number')
        })
        expect(error).to.have.property('code', 'SKEIN_4104')
      }
    })

    it('but lets a hook close another database', async () => {
      const letter = bed().freshNumber()
      await bed()
        .db.session()
        .save(Object.assign(new Letter(), { id: letter }))
      const other = await bed().open()
      loadMore = () => other.close()
      await session.load(Letter, letter)
      loadMore = undefined
      await db.close()
    })

    it('but not for a stream between two pages, whose next step is refused', async () => {
      const { count, stream } = await manyNovels()
      const seen: Novel[] = []
      const error = await rejection(async () => {
        for await (const each of stream()) {
          seen.push(each)
          if (seen.length === 1) await db.close()
        }
      })
      expect(error).to.have.property('code', 'SKEIN_4104')
      expect(seen.length).to.be.below(count)
    })

    it('but not for what is asked for later, which is refused', async () => {
      const called = session.load(Writer, writer)
      const closing = db.close()
      for (const late of [
        () => session.load(Novel, novel),
        () => session.find(Novel, novel),
        () => session.findMany(Novel, [novel]),
        () => session.load(Novel, novel, { with: ['writer'] }),
      ]) {
        expect(await rejection(late)).to.have.property('code', 'SKEIN_4104')
      }
      await called
      await closing
    })

    it('but not for loops that load for ever', async () => {
      const loop = async (id: number): Promise<void> => {
        for (;;) await session.find(Novel, id++)
      }
      const loops = Array.from({ length: 20 }, (_, i) => rejection(() => loop(novel + 1_000_000 * (i + 1))))
      await session.load(Writer, writer)
      await db.close()
      for (const error of await Promise.all(loops)) expect(error).to.have.property('code', 'SKEIN_4104')
    })
  },
  { entities: [Writer, Novel, Letter] },
)
