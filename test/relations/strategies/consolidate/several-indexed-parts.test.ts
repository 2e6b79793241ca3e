import { expect } from 'chai'
import {
  Bin,
  collection,
  Embeddable,
  Embedded,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  SkeinError,
  type Database,
} from 'skein'
import { expectRoundTrips } from '../../../expect-round-trips.js'
import { MODES, type TestServer } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { useDatabase } from '../../../use-database.js'
import { settled } from '../../verify/settled.js'
import { Author, Note, Page, Photo, Post } from '../key-bin/several-models.js'
import { answer, Board, Hall, mention, MENTIONED } from './several-part-models.js'

type Holder = Board | Hall

@Record({ set: 'pointed-bill', tenant: true })
class Bill {
  @Key() id!: number
}

@Record({ set: 'pointed-memo' })
class Memo {
  @Key({ type: 'bigint' }) id!: bigint
}

@Record({ set: 'pointed-icon' })
class Icon {
  @Key({ type: 'bytes' }) id!: Buffer
}

@Record({ set: 'pointed-sheet', key: '{book}:{no}' })
class Sheet {
  @Bin() book!: string
  @Bin() no!: number
}

@Embeddable()
class Line {
  @Key() id!: number
  @ManyToOne(() => [Bill, Memo, Icon, Sheet]) of = ref<Bill | Memo | Icon | Sheet>()
}

@Embeddable()
class Cover {
  @ManyToOne(() => [Bill, Memo, Icon, Sheet]) of = ref<Bill | Memo | Icon | Sheet>()
  @ManyToOne(() => Sheet) sheet = ref<Sheet>()
}

@Record({ set: 'pointed-ledger', tenant: true })
class Ledger {
  @Key() id!: number
  @OneToMany(() => Line, { strategy: 'consolidate', inverseIndex: { of: { onTargetDelete: 'delete' } } })
  lines = collection<Line>()
  @Embedded(() => Cover) cover?: Cover
}

const KINDS = [Bill, Memo, Icon, Sheet, Ledger]

for (const mode of MODES) {
  describe(`an inverse index of references of parts to several classes (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, MENTIONED, (opened) => ({ db, server } = opened))

    beforeEach(() =>
      db.withSession((session) => {
        const post = session.create(Post, { id: 1, title: 'One' })
        const photo = session.create(Photo, { id: 1, file: 'one.jpg' })
        session.create(Note, { id: '1', text: 'Note' })
        for (const Class of [Board, Hall]) {
          const first = session.create<Holder>(Class, { id: 1 })
          first.mentions.add(mention('a', post, answer('x', photo), answer('y', post)), mention('b', photo))
          session.create<Holder>(Class, { id: 2 }).mentions.add(mention('c', 'page:1', answer('z', photo)))
        }
      }),
    )

    /** Mentions and their answers, with what they lead to. */
    async function seen(Class: typeof Board): Promise<string[]> {
      const boards = await db.session().query(Class).scan().with('mentions').toArray()
      const lines = boards.flatMap(({ id, mentions }) =>
        [...mentions].flatMap((each) => [
          `${id} ${each.id} ${each.subject.key}`,
          ...[...each.answers].map(({ id: inner, about }) => `${id} ${each.id}.${inner} ${about.key}`),
        ]),
      )
      return lines.sort()
    }

    async function pointing(Class: typeof Board, path: 'subject' | 'answers.about', to: unknown): Promise<unknown[]> {
      const found = []
      for await (const { id } of db.session().pointingTo(Class, `mentions.${path}` as never, to as never))
        found.push(id)
      return found.sort()
    }

    for (const Class of [Board, Hall]) {
      it(`finds a ${Class.name} by what its mentions lead to, of any class`, async () => {
        const session = db.session()
        const [post, photo] = [await session.load(Post, 1), await session.load(Photo, 1)]
        expect(await pointing(Class, 'subject', post)).to.deep.equal([1])
        expect(await pointing(Class, 'subject', 'page:1')).to.deep.equal([2])
        expect(await pointing(Class, 'answers.about', photo)).to.deep.equal([1, 2])
        expect(await pointing(Class, 'answers.about', 'post:1')).to.deep.equal([1])
        expect(await rejection(() => pointing(Class, 'subject', 1))).to.have.property('code', 'SKEIN_2101')
        const ada = Object.assign(new Author(), { id: 'ada' })
        expect(await rejection(() => pointing(Class, 'subject', ada))).to.have.property('code', 'SKEIN_2408')
      })

      it(`removes the mentions of a ${Class.name} that lead to a deleted photo, and none that lead to the post 1`, async () => {
        await db.session().delete(Photo, 1)
        expect(await seen(Class)).to.deep.equal(['1 a post:1', '1 a.y post:1', '2 c page:1'])
        expect(await pointing(Class, 'answers.about', 'photo:1')).to.deep.equal([])
        await db.session().delete(Post, 1)
        expect(await seen(Class)).to.deep.equal(['2 c page:1'])
      })

      it(`takes new mentions of a ${Class.name} along that lead to what the same flush deletes`, async () => {
        const session = db.session()
        const [board, photo] = [await session.load(Class, 2, { with: ['mentions'] }), await session.load(Photo, 1)]
        board.mentions.add(mention('d', photo), mention('e', 'post:1', answer('w', photo)))
        session.remove(photo)
        await session.flush()
        expect((await seen(Class)).filter((line) => line.startsWith('2'))).to.deep.equal(['2 c page:1', '2 e post:1'])
      })

      it(`follows mentions of a ${Class.name} that are pointed elsewhere, also to the same key of another class`, async () => {
        const session = db.session()
        const board = await session.load(Class, 1, { with: ['mentions'] })
        const b = (await board.mentions.get('b'))!
        b.subject.set(await session.load(Post, 1))
        await session.flush()
        expect(await pointing(Class, 'subject', 'photo:1')).to.deep.equal([])
        await db.session().delete(Photo, 1)
        expect((await seen(Class)).filter((line) => line.startsWith('1'))).to.deep.equal([
          '1 a post:1',
          '1 a.y post:1',
          '1 b post:1',
        ])
      })

      it(`is verified and repaired in a ${Class.name}`, async () => {
        const terms = { repair: true, ...(await settled(server)) }
        const found = []
        for await (const each of db.verify(Class, terms)) found.push(each.message)
        expect(found).to.deep.equal([])
      })
    }

    it('keeps mentions of what is deleted softly until that is purged', async () => {
      await db.session().delete(Note, '1')
      expect(await seen(Board)).to.include('2 c page:1')
      await db.purge(Page, { olderThan: new Date(Date.now() + 60_000) })
      expect((await seen(Board)).filter((each) => each.startsWith('2'))).to.deep.equal([])
    })

    it('costs as many commands as for one class', async () => {
      const session = db.session()
      const [board, photo] = [await session.load(Board, 2), await session.load(Photo, 1)]
      const [c] = board.mentions
      c.subject.set(photo)
      const { commands } = await server.commands.during(() => session.flush())
      expectRoundTrips(commands, 1)
    })
  })
  describe(`references of parts to keys of every kind (${mode})`, () => {
    let db: Database
    useDatabase(mode, KINDS, (opened) => ({ db } = opened))

    const line = (id: number, of: Bill | Memo | Icon | Sheet | string): Line => {
      const made = Object.assign(new Line(), { id })
      made.of.set(of)
      return made
    }

    beforeEach(async () => {
      for (const tenant of ['a', 'b'])
        await db.withSession(
          (session) => {
            const bill = session.create(Bill, { id: 1 })
            const [memo, icon, sheet] =
              tenant === 'b'
                ? ['pointed-memo:9007199254740993', 'pointed-icon:00ff', 'pointed-sheet:x:1']
                : [
                    session.create(Memo, { id: 9007199254740993n }),
                    session.create(Icon, { id: Buffer.from([0, 255]) }),
                    session.create(Sheet, { book: 'x', no: 1 }),
                  ]
            const ledger = session.create(Ledger, { id: 1, cover: new Cover() })
            ledger.lines.add(line(1, bill), line(2, memo), line(3, icon), line(4, sheet))
            ledger.cover!.of.set(sheet)
            ledger.cover!.sheet.set(typeof sheet === 'string' ? 'x:1' : sheet)
          },
          { tenant },
        )
    })

    const HELD = ['pointed-bill:1', 'pointed-memo:9007199254740993', 'pointed-icon:00ff', 'pointed-sheet:x:1']

    it('hold them with their sets, and lead to the records of the own tenant', async () => {
      for (const tenant of ['a', 'b']) {
        const ledger = await db.session({ tenant }).load(Ledger, 1, { with: ['lines.of'] })
        expect(ledger.lines.items.map(({ of }) => of.key)).to.deep.equal(HELD)
        const classes = ledger.lines.items.map(({ of }) => of.value?.constructor)
        expect(classes).to.deep.equal([Bill, Memo, Icon, Sheet])
        expect([ledger.cover?.of.key, ledger.cover?.sheet.key]).to.deep.equal(['pointed-sheet:x:1', 'x:1'])
      }
    })

    it('show the key of a template once a session has stored the part', async () => {
      const session = db.session({ tenant: 'a' })
      const sheet = session.create(Sheet, { book: 'y', no: 2 })
      const cover = new Cover()
      cover.of.set(sheet)
      cover.sheet.set(sheet)
      session.create(Ledger, { id: 2, cover })
      await session.flush()
      expect([cover.of.key, cover.sheet.key]).to.deep.equal(['pointed-sheet:y:2', 'y:2'])
      const { cover: stored } = await db.session({ tenant: 'a' }).load(Ledger, 2)
      expect([stored?.of.key, stored?.sheet.key]).to.deep.equal(['pointed-sheet:y:2', 'y:2'])
    })

    it('go when one of the own tenant is deleted, and not those of others', async () => {
      await db.session({ tenant: 'a' }).delete(Bill, 1)
      const lines = async (tenant: string): Promise<number[]> =>
        [...(await db.session({ tenant }).load(Ledger, 1)).lines].map(({ id }) => id)
      expect([await lines('a'), await lines('b')]).to.deep.equal([
        [2, 3, 4],
        [1, 2, 3, 4],
      ])
      await db.session({ tenant: 'a' }).delete(Icon, Buffer.from([0, 255]))
      expect(await lines('a')).to.deep.equal([2, 4])
    })

    it('refuse a text that is not written as the key is', async () => {
      const session = db.session({ tenant: 'a' })
      const ledger = await session.load(Ledger, 1)
      for (const key of ['pointed-bill:01', 'pointed-memo:x', 'pointed-icon:f', 'pointed-sheet:'])
        expect(() => [...ledger.lines][0].of.set(key)).to.throw(SkeinError, /is not a key of/)
    })
  })
}
