import { expect } from 'chai'
import { open, PartialFailureError, type Database } from 'skein'
import { startEmbedded, type EmbeddedServer } from 'skein/embedded'
import { rejection } from '../session/rejection.js'
import { Article, CLASSES, remark, Writer } from './consolidate-models.js'

describe('new consolidated children that point to new records, in stages', () => {
  let server: EmbeddedServer
  let db: Database
  before(async () => {
    server = await startEmbedded({ namespaces: ['test:ap'] })
    db = await open({ hosts: server.hosts, namespace: 'test', entities: CLASSES, retry: { attempts: 1 } })
  })
  after(async () => {
    await db.close()
    await server.stop()
  })
  afterEach(() => server.faults.clear())

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
    const { bins } = await db.client.get({ ns: 'test', set: 'article', key: 1 })
    expect(bins['remarks']).to.deep.equal({ a: { id: 'a', text: 'text', author: 1 } })
    expect(bins['byAuthor']).to.deep.equal({ 1: ['a'] })
  })

  it('are not written when that is not stored, and follow when it is', async () => {
    const session = db.session()
    const made = session.persist(article(2, writer(2)))
    await server.faults.add({ set: 'writer', answer: 4 })
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
    const { bins } = await db.client.get({ ns: 'test', set: 'article', key: 3 })
    expect(bins['byAuthor']).to.deep.equal({ 4: ['a'] })
  })
})
