import { expect } from 'chai'
import { SkeinError, type Database } from 'skein'
import type { EmbeddedServer } from 'skein/embedded'
import { emptySets } from '../../../empty-sets.js'
import { MODES, need, needMode } from '../../../server.js'
import { sharedServer } from '../../../shared-server.js'
import { rejection } from '../../../session/rejection.js'
import { Article, Board, CLASSES, line, order, Order, remark, score } from './consolidate-models.js'

/** Faults of a command: refused, lost on the way there, or done with its answer lost. */
const FAULTS = [
  { name: 'is refused', fault: { answer: 22 } },
  { name: 'is lost', fault: { drop: true } },
  { name: 'is done and its answer lost', fault: { drop: true, after: true } },
] as const

for (const mode of MODES) {
  for (const { name, fault } of FAULTS) {
    describe(`consolidated children when the write ${name} (${mode})`, () => {
      let server: EmbeddedServer
      let namespace: string
      let db: Database
      before(async function () {
        const shared = await sharedServer()
        server = need(this, shared.embedded, 'only the embedded server fails on demand')
        namespace = needMode(this, shared, mode)
        db = await shared.open({ namespace, entities: CLASSES, retry: { attempts: 1 } })
      })
      after(() => db?.close())
      beforeEach(() => emptySets(db, [Order, Board, Article]))
      afterEach(() => server.faults.clear())

      /** The flush fails or not, the next one completes it, and nothing is done twice. */
      const complete = async (flush: () => Promise<void>): Promise<void> => {
        const met = await server.faults.add({ kind: 'write', times: 1, ...fault })
        await flush().catch((error: unknown) => expect(error).to.be.instanceOf(SkeinError))
        expect(await met.hits()).to.equal(1)
        await server.faults.clear()
        await flush()
      }

      it('creates a parent with its children once', async () => {
        const session = db.session()
        session.persist(order(1, line('a'), line('b', 2)))
        await complete(() => session.flush())
        expect(session.isDirty()).to.equal(false)
        expect((await db.session().load(Order, 1)).lines.items).to.deep.equal([line('a'), line('b', 2)])
      })

      it('adds, changes and removes once', async () => {
        await db.session().save(order(1, line('a'), line('b')))
        const session = db.session()
        const found = await session.load(Order, 1)
        found.lines.add(line('c'))
        found.lines.items[0].quantity = 7
        found.lines.remove('b')
        await complete(() => session.flush())
        expect(session.isDirty()).to.equal(false)
        expect((await db.session().load(Order, 1)).lines.items).to.deep.equal([line('a', 7), line('c')])
      })

      it('moves once', async () => {
        const first = db.session()
        first.create(Board, { id: 'b' }).scores.add(score('al', 1), score('bo', 2))
        await first.flush()
        const session = db.session()
        const { scores } = await session.load(Board, 'b')
        ;(await scores.get('al'))!.points = 9
        await complete(() => session.flush())
        const now = await db.session().load(Board, 'b', { with: ['scores'] })
        expect(now.scores.items).to.deep.equal([score('bo', 2), score('al', 9)])
        expect(await (await db.session().load(Board, 'b')).scores.indexOf('al')).to.equal(1)
      })

      it('keeps the inverse index in step', async () => {
        const first = db.session()
        first.create(Article, { id: 1, title: 'one' }).remarks.add(remark('a', 'x', 7), remark('b', 'y', 8))
        await first.flush()
        const session = db.session()
        const article = await session.load(Article, 1)
        article.remarks.items[0].author.set(8)
        article.remarks.remove('b')
        article.remarks.add(remark('c', 'z', 7))
        await complete(() => session.flush())
        const { bins } = await db.client.get({ ns: namespace, set: 'article', key: 1 })
        expect(bins['byAuthor']).to.deep.equal({ 7: ['c'], 8: ['a'] })
      })
    })
  }
}

describe('consolidated children that do not fit their type', () => {
  it('are named by class, property and key before anything is sent', async () => {
    const server = await sharedServer()
    const db = await server.open({ namespace: server.namespaces[0], entities: CLASSES })
    try {
      const session = db.session()
      session.persist(order(1, line('a', 'many' as never)))
      const error = (await rejection(() => session.flush())) as SkeinError
      expect(error.code).to.equal('SKEIN_2201')
      expect(error.message).to.contain('Order.lines["a"].quantity')
    } finally {
      await db.close()
    }
  })
})
