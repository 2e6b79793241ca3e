import { expect } from 'chai'
import { PartialFailureError, type Database } from 'skein'
import { emptySets } from '../../../empty-sets.js'
import { need, needMode, type TestServer } from '../../../server.js'
import { sharedServer } from '../../../shared-server.js'
import { rejection } from '../../../session/rejection.js'
import { Article, CLASSES, remark, Writer } from './consolidate-models.js'

describe('new consolidated children that point to new records, in stages', () => {
  let server: TestServer
  let namespace: string
  let db: Database
  before(async function () {
    server = await sharedServer()
    namespace = needMode(this, server, 'ap')
    db = await server.open({ namespace, entities: CLASSES, retry: { attempts: 1 } })
    await emptySets(db, [Article, Writer])
  })
  after(() => db?.close())
  afterEach(() => server.embedded?.faults.clear())

  const writer = (id: number): Writer => Object.assign(new Writer(), { id, name: 'writer' })
  const article = (id: number, author: Writer): Article => {
    const made = Object.assign(new Article(), { id, title: 'title' })
    made.remarks.add(remark('a', 'text', author))
    return made
  }

  it('are written when there is what they point to', async () => {
    const session = db.session()
    session.persist(article(1, writer(1)))
    const { plans } = await session.explain()
    const sets = plans.flatMap(({ stages }) => stages.map(({ commands }) => commands.map(({ key }) => key.set)))
    expect(sets.map((each) => each.sort())).to.deep.equal([['article', 'writer'], ['article']])
    await session.flush()
    expect(session.isDirty()).to.equal(false)
    const { bins } = await db.client.get({ ns: namespace, set: 'article', key: 1 })
    expect(bins['remarks']).to.deep.equal({ a: { id: 'a', text: 'text', author: 1 } })
    expect(bins['byAuthor']).to.deep.equal({ 1: ['a'] })
  })

  it('are not written when that is not stored, and follow when it is', async function () {
    const { faults } = need(this, server.embedded, 'only the embedded server fails on demand')
    const session = db.session()
    const made = session.persist(article(2, writer(2)))
    await faults.add({ set: 'writer', answer: 4 })
    expect(await rejection(() => session.flush())).to.be.instanceOf(PartialFailureError)
    expect((await db.session().load(Article, 2)).remarks.items).to.deep.equal([])
    expect(made.remarks.items.map(({ id }) => id)).to.deep.equal(['a'])
    await session.flush()
    expect(session.isDirty()).to.equal(false)
    expect((await db.session().load(Article, 2)).remarks.items.map(({ author }) => author.key)).to.deep.equal([2])
  })

  it('replace those that are stored, when the parent is stored whatever there is', async () => {
    await db.session().save(article(3, writer(3)))
    await db.session().upsert(article(3, writer(4)))
    const { bins } = await db.client.get({ ns: namespace, set: 'article', key: 3 })
    expect(bins['byAuthor']).to.deep.equal({ 4: ['a'] })
  })
})
