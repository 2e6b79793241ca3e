import { expect } from 'chai'
import { VersionConflictError, type Database } from 'skein'
import { MODES, need, type TestServer } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { useDatabase } from '../../../use-database.js'
import { Article, remark, Remark, Writer } from './consolidate-models.js'

const writer = (id: number): Writer => Object.assign(new Writer(), { id, name: `writer ${id}` })

for (const mode of MODES) {
  describe(`consolidated children that point to records (${mode})`, () => {
    let server: TestServer
    let namespace: string
    let db: Database
    useDatabase(mode, [Article, Writer], (opened) => ({ db, server, namespace } = opened))
    beforeEach(async () => {
      const session = db.session()
      const article = session.create(Article, { id: 1, title: 'one' })
      article.remarks.add(remark('a', 'first', writer(7)), remark('b', 'second', 8), remark('c', 'third', null))
      session.persist(writer(8))
      await session.flush()
    })

    const index = async (): Promise<unknown> => {
      const { bins } = await db.client.get({ ns: namespace, set: 'article', key: 1 })
      return (bins as { byAuthor: unknown }).byAuthor
    }
    const alone = async (change: (article: Article) => void): Promise<void> => {
      const session = db.session()
      const article = await session.load(Article, 1, { only: ['title'] })
      change(article)
      await session.flush()
    }

    it('save new records that they point to, and load them in one batch', async () => {
      let article!: Article
      const read = await server.commands.during(async () => {
        article = await db.session().load(Article, 1, { with: ['remarks', 'remarks.author'] })
      })
      expect(read.commands).to.equal(2)
      expect(article.remarks.items.map(({ author }) => author.value?.name)).to.deep.equal([
        'writer 7',
        'writer 8',
        undefined,
      ])
      const [a] = (await db.session().load(Article, 1)).remarks.items
      expect(a.author.key).to.equal(7)
      expect(await a.author.load()).to.be.instanceOf(Writer)
    })

    it('point to nothing once the record is gone, and stay as they are stored', async () => {
      await db.session().delete(Writer, 8)
      const session = db.session()
      const article = await session.load(Article, 1, { with: ['remarks.author'] })
      expect(article.remarks.items[1].author.value).to.equal(null)
      expect(article.remarks.items[1].author.key).to.equal(8)
      expect(session.isDirty()).to.equal(false)
    })

    it('are listed by what they point to, in the same command', async () => {
      expect(await index()).to.deep.equal({ 7: ['a'], 8: ['b'] })
      const session = db.session()
      const article = await session.load(Article, 1)
      article.remarks.add(remark('d', 'fourth', 7))
      const sent = await server.commands.during(() => session.flush())
      expect(sent.commands).to.equal(1)
      expect(await index()).to.deep.equal({ 7: ['a', 'd'], 8: ['b'] })
      article.remarks.remove('a')
      await session.flush()
      expect(await index()).to.deep.equal({ 7: ['d'], 8: ['b'] })
      article.remarks.remove('d')
      await session.flush()
      expect(await index()).to.deep.equal({ 8: ['b'] })
    })

    it('are listed anew when they point elsewhere', async () => {
      const session = db.session()
      const [a, b, c] = (await session.load(Article, 1)).remarks.items
      a.author.set(8)
      b.author.set(null)
      c.author.set(9)
      c.text = 'changed'
      await session.flush()
      expect(await index()).to.deep.equal({ 8: ['a'], 9: ['c'] })
      a.text = 'only text'
      await session.flush()
      expect(await index()).to.deep.equal({ 8: ['a'], 9: ['c'] })
    })

    it('leave the list when they are removed or replaced unseen', async () => {
      await alone((article) => article.remarks.remove('a'))
      expect(await index()).to.deep.equal({ 8: ['b'] })
      await alone((article) => article.remarks.add(remark('b', 'again', 7)))
      expect(await index()).to.deep.equal({ 7: ['b'] })
      await alone((article) => article.remarks.remove('nobody'))
      expect(await index()).to.deep.equal({ 7: ['b'] })
    })

    it('are in conflict when someone else let them point elsewhere meanwhile', async () => {
      const session = db.session()
      const article = await session.load(Article, 1)
      const other = db.session()
      ;(await other.load(Article, 1)).remarks.items[0].author.set(8)
      await other.flush()
      article.remarks.remove('a')
      expect(await rejection(() => session.flush())).to.be.instanceOf(VersionConflictError)
      expect(await index()).to.deep.equal({ 8: ['b', 'a'] })
      await session.refresh(article)
      article.remarks.remove('a')
      await session.flush()
      expect(await index()).to.deep.equal({ 8: ['b'] })
    })

    it('are listed again when they are replaced with the same reference after someone else removed them', async () => {
      const session = db.session()
      const article = await session.load(Article, 1)
      await alone((theirs) => theirs.remarks.remove('a'))
      article.remarks.add(remark('a', 'again', 7))
      await session.flush()
      expect(await index()).to.deep.equal({ 7: ['a'], 8: ['b'] })
      expect((await db.session().load(Article, 1)).remarks.items[0].text).to.equal('again')
    })

    for (const [id, author] of [
      ['a', 7],
      ['c', null],
    ] as const) {
      it(`are in conflict when they are replaced and someone else let them point elsewhere, ${id}`, async () => {
        const session = db.session()
        const article = await session.load(Article, 1)
        const other = db.session()
        ;(await (await other.load(Article, 1)).remarks.get(id))!.author.set(8)
        await other.flush()
        article.remarks.add(remark(id, 'again', author))
        expect(await rejection(() => session.flush())).to.be.instanceOf(VersionConflictError)
        expect(await index())
          .to.have.property('8')
          .that.includes(id)
      })
    }

    it('are in conflict when they are removed unseen and someone else adds them while the removal is under way', async function () {
      const { faults } = need(this, server.embedded, 'only the embedded server holds commands back')
      const session = db.session()
      session.at(Article, 1).collection('remarks').remove('d')
      const held = await faults.add({ namespace, set: 'article', kind: 'write', delay: 500 })
      const removal = rejection(() => session.flush())
      while ((await held.hits()) === 0) await new Promise(setImmediate)
      await alone((theirs) => theirs.remarks.add(remark('d', 'fourth', 7)))
      expect(await removal).to.be.instanceOf(VersionConflictError)
      expect(await index()).to.deep.equal({ 7: ['a', 'd'], 8: ['b'] })
      await session.flush()
      expect(await index()).to.deep.equal({ 7: ['a'], 8: ['b'] })
    })

    it('get a key when they are added without one', async () => {
      const session = db.session()
      const article = await session.load(Article, 1)
      const made = Object.assign(new Remark(), { text: 'new' })
      article.remarks.add(made)
      expect(made.id).to.be.a('string')
      await session.flush()
      expect((await db.session().load(Article, 1)).remarks.items).to.have.length(4)
    })
  })
}
