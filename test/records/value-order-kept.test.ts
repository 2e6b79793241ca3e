import { expect } from 'chai'
import {
  Bin,
  collection,
  Embeddable,
  Key,
  OneToMany,
  Record,
  type Database,
  type RecordHandle,
  type SkeinError,
} from 'skein'
import { MODES } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Score {
  @Key() player!: string
  @Bin({ type: 'double' }) points?: number
}

@Record({ set: 'rec_order_kept' })
class Doc {
  @Key() id!: string
  @Bin({ type: { set: 'double' } }) set = new Set<number>()
  @Bin({ type: { list: 'double', order: 'sorted' } }) sorted: number[] = []
  @Bin({ type: { list: 'double', unique: true } }) unique: number[] = []
  @Bin({ type: { list: { tuple: ['double', 'string'] }, order: 'sorted' } }) pairs: [number, string][] = []
  @Bin({ type: { map: 'double', order: 'keyValue' } }) ranked = new Map<string, number>()
  @Bin({ type: { list: 'double' } }) plain: number[] = []
  @Bin({ type: { map: 'double' } }) map = new Map<string, number>()
  @Bin({ type: { map: { set: 'string' } } }) sets = new Map<string, Set<string>>()
  @Bin({ type: { list: 'string', unique: true } }) words: string[] = []
  @OneToMany(() => Score, { strategy: 'consolidate', orders: { best: ['points'] } }) scores = collection<Score>()
}

const WITH_NAN: readonly Partial<Doc>[] = [
  { set: new Set([1, NaN, 2]) },
  { sorted: [1, NaN] },
  { unique: [1, NaN] },
  { pairs: [[NaN, 'a']] },
  { ranked: new Map([['a', NaN]]) },
]

const BY_HANDLE: readonly ((handle: RecordHandle<Doc>) => void)[] = [
  (handle) => handle.set('set').add(1, NaN),
  (handle) => handle.set('set').remove(NaN),
  (handle) => handle.list('sorted').append(NaN),
  (handle) => handle.list('unique').append(NaN),
  (handle) => handle.list('unique').insert(0, NaN),
  (handle) => handle.list('pairs').append([NaN, 'a']),
  (handle) => handle.map('ranked').put('a', NaN),
  (handle) => handle.map('ranked').putMany([['a', NaN]]),
]

for (const mode of MODES) {
  describe(`values that the server keeps in order (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Doc], (opened) => ({ db } = opened))

    it('cannot be NaN, in entities and handles, because the server would lose others by it', async () => {
      for (const values of WITH_NAN) {
        const error = (await rejection(() =>
          db.session().save(Object.assign(new Doc(), { id: 'a', ...values })),
        )) as SkeinError
        expect(error.code, Object.keys(values)[0]).to.equal('SKEIN_2201')
        expect(error.message).to.include('NaN')
      }
      for (const change of BY_HANDLE) {
        const session = db.session()
        const error = (await rejection(async () => change(session.at(Doc, 'a', { create: true })))) as SkeinError
        expect(error.code, String(change)).to.equal('SKEIN_2201')
        await session.flush()
      }
      expect(await db.session().find(Doc, 'a')).to.equal(null)
    })

    it('cannot be NaN in a further order of children', async () => {
      const doc = Object.assign(new Doc(), { id: 'a' })
      doc.scores.add(Object.assign(new Score(), { player: 'x', points: 1 }))
      doc.scores.add(Object.assign(new Score(), { player: 'y', points: NaN }))
      expect(((await rejection(() => db.session().save(doc))) as SkeinError).code).to.equal('SKEIN_2201')
      expect(await db.session().find(Doc, 'a')).to.equal(null)
      const right = Object.assign(new Doc(), { id: 'a' })
      right.scores.add(Object.assign(new Score(), { player: 'x', points: 1 }))
      await db.session().save(right)
      const session = db.session()
      const [score] = await (await session.load(Doc, 'a')).scores.load()
      score.points = NaN
      expect(((await rejection(() => session.flush())) as SkeinError).code).to.equal('SKEIN_2201')
    })

    it('can be NaN where the order of values means nothing', async () => {
      await db.session().save(Object.assign(new Doc(), { id: 'a', plain: [1, NaN], map: new Map([['a', NaN]]) }))
      const session = db.session()
      session.at(Doc, 'a').list('plain').append(NaN)
      await session.flush()
      const { plain, map } = await db.session().load(Doc, 'a')
      expect([plain, [...map]]).to.deep.equal([[1, NaN, NaN], [['a', NaN]]])
    })

    it('are stored in order in a set inside a map, whether it is put whole or made by add', async () => {
      await db.session().save(Object.assign(new Doc(), { id: 'saved', sets: new Map([['p', new Set(['z', 'a'])]]) }))
      const session = db.session()
      const put = session.at(Doc, 'put', { create: true }).map('sets')
      put.put('p', new Set(['z', 'a']))
      const added = session.at(Doc, 'added', { create: true }).map('sets')
      added.at('p').add('z', 'a')
      await session.flush()
      for (const id of ['saved', 'put', 'added']) {
        const writer = db.session()
        writer
          .at(Doc, id)
          .map('sets')
          .put('q', new Set(['b']))
        await writer.flush()
        const sets = db.session().at(Doc, id).map('sets')
        expect([await sets.rankOf('p'), await sets.rankOf('q')], id).to.deep.equal([0, 1])
      }
    })

    it('stay unique: set and increment by position are rejected in a unique list', async () => {
      await db.session().save(Object.assign(new Doc(), { id: 'a', words: ['a', 'b'], unique: [1, 2] }))
      const handle = db.session().at(Doc, 'a')
      for (const change of [
        () => handle.list('words').set(0, 'b'),
        () => handle.list('words').set(6, 'z'),
        () => handle.list('unique').increment(0),
      ])
        expect(((await rejection(async () => change())) as SkeinError).code).to.equal('SKEIN_2330')
    })
  })
}
