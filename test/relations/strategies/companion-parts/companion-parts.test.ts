import { expect } from 'chai'
import { EntityGoneError, type Database } from 'skein'
import { hashShard } from '#src/keys/index.js'
import { MODES, type TestServer } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { storedBins } from '../../../stored-bins.js'
import { useDatabase } from '../../../use-database.js'
import { Board, COMPANION_PART_CLASSES, Post, SHARDS, Writer, comment, post, score } from './companion-part-models.js'

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `c${100 + i}`)

for (const mode of MODES) {
  describe(`consolidated children in companion records (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, COMPANION_PART_CLASSES, (opened) => ({ db, server, namespace } = opened))

    const stored = (set: string, key: string | number) => storedBins(db, namespace, set, key)
    const recordsOf = async (set: string): Promise<number> => (await db.client.query(namespace, set).results()).length

    it('are spread by the hash of their ids, and the owner says how', async () => {
      await db.session().save(post('p', ...names(12).map((id) => comment(id))))
      const root = await stored('ppost', 'p')
      expect(root).to.deep.include({ subkeys: ['hash-shards', SHARDS], draftsIn: ['companion'] })
      expect(root).not.to.have.any.keys('comments', 'comments_recent', 'drafts')
      for (let shard = 0; shard < SHARDS; shard++) {
        const bins = await stored('ppost_comments', `p:${shard}`)
        const here = names(12).filter((id) => hashShard(id, SHARDS) === shard)
        expect(Object.keys(bins?.comments ?? {})).to.deep.equal(here)
      }
      expect(await recordsOf('ppost_drafts')).to.equal(0)
    })

    it('are loaded, asked, paged and streamed in the order of their ids', async () => {
      await db.session().save(post('p', ...names(30).map((id) => comment(id))))
      const { comments } = await db.session().load(Post, 'p')
      expect(comments.isLoaded).to.equal(false)
      expect(await comments.count()).to.equal(30)
      expect(await comments.contains('c107')).to.equal(true)
      expect(await comments.contains('c999')).to.equal(false)
      expect(await comments.keys()).to.deep.equal(names(30))
      expect(await comments.keys({ offset: 3, count: 4 })).to.deep.equal(names(30).slice(3, 7))
      expect(await comments.indexOf('c107')).to.equal(7)
      expect(await comments.indexOf('c999')).to.equal(null)
      expect((await comments.get('c105'))?.text).to.equal('c105')
      expect((await comments.getMany(['c101', 'x', 'c129'])).map((each) => each?.id)).to.deep.equal([
        'c101',
        undefined,
        'c129',
      ])
      expect((await comments.first(3)).map(({ id }) => id)).to.deep.equal(names(3))
      expect((await comments.last(2)).map(({ id }) => id)).to.deep.equal(['c128', 'c129'])
      expect((await comments.page({ offset: -4, count: 2 })).map(({ id }) => id)).to.deep.equal(['c126', 'c127'])
      expect((await comments.range({ from: 'c103', to: 'c106' })).map(({ id }) => id)).to.deep.equal([
        'c103',
        'c104',
        'c105',
      ])
      const paged: string[] = []
      for (let after: string | undefined, isLast = false; !isLast;) {
        const page = await comments.page({ count: 7, ...(after !== undefined && { after }) })
        paged.push(...page.map(({ id }) => id))
        after = page.next
        isLast = after === undefined
      }
      expect(paged).to.deep.equal(names(30))
      const streamed: string[] = []
      for await (const { id } of comments.stream()) streamed.push(id)
      expect(streamed).to.deep.equal(names(30))
      expect((await comments.load()).map(({ id }) => id)).to.deep.equal(names(30))
      const along = await db.session().load(Post, 'p', { with: ['comments'] })
      expect(along.comments.items.map(({ id }) => id)).to.deep.equal(names(30))
    })

    it('are merged by their sort keys and further orders', async () => {
      const board = Object.assign(new Board(), { id: 1 })
      const points = [50, 20, 90, 10, 70, 30, 60, 40, 80]
      board.scores.add(...points.map((each, i) => score(i, each)))
      await db.session().save(board)
      const { scores } = await db.session().load(Board, 1)
      const sorted = points.toSorted((a, b) => a - b)
      expect((await scores.page({ offset: 0, count: 4 })).map((each) => each.points)).to.deep.equal(sorted.slice(0, 4))
      expect((await scores.last(3)).map((each) => each.points)).to.deep.equal(sorted.slice(-3))
      expect((await scores.range({ from: [30], to: [60] })).map((each) => each.points)).to.deep.equal([30, 40, 50])
      expect(await scores.indexOf(2)).to.equal(8)
      const top = (await scores.get(3))!
      top.points = 95
      expect((await scores.last(1))[0]).to.equal(top)
      await db.session().flush()
      await db.session().save(post('p', ...names(9).map((id, i) => comment(id, id, (i * 7) % 9))))
      const { comments } = await db.session().load(Post, 'p')
      const recent = comments.by('recent')
      expect(await recent.count()).to.equal(9)
      expect((await recent.last(3)).map(({ at }) => at!.getTime())).to.deep.equal([6, 7, 8])
      expect((await recent.page({ offset: 2, count: 3 })).map(({ at }) => at!.getTime())).to.deep.equal([2, 3, 4])
      const found = await recent.range({ from: new Date(3), to: new Date(6) })
      expect(found.map(({ at }) => at!.getTime())).to.deep.equal([3, 4, 5])
    })

    it('are changed field by field, added and removed, without touching the others', async () => {
      await db.session().save(post('p', ...names(10).map((id) => comment(id, id, 1))))
      const session = db.session()
      const { comments } = await session.load(Post, 'p', { with: ['comments'] })
      const [first, second] = comments.items
      first.text = 'changed'
      first.likes += 2
      comments.remove(second)
      comments.add(comment('d', 'new', 5))
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      const again = (await db.session().load(Post, 'p', { with: ['comments'] })).comments
      expect(again.items.map(({ id }) => id)).to.deep.equal(['c100', ...names(10).slice(2), 'd'])
      expect(again.items[0]).to.deep.include({ text: 'changed', likes: 2 })
      expect((await again.by('recent').last(1)).map(({ id }) => id)).to.deep.equal(['d'])
    })

    it('are added by one command to one record, once that is there', async () => {
      await db.session().save(post('p', ...names(40).map((id) => comment(id))))
      const session = db.session()
      session.at(Post, 'p').collection('comments').add(comment('late'))
      expect(await server.commands.during(() => session.flush())).to.include({ commands: 1, rows: 1 })
      expect(await db.session().at(Post, 'p').collection('comments').contains('late')).to.equal(true)
    })

    it('are changed through handles that load nothing', async () => {
      await db.session().save(post('p', comment('a'), comment('b')))
      const session = db.session()
      const a = session.at(Post, 'p').child('comments', 'a')
      a.increment('likes', 3)
      a.put('text', 'through a handle')
      a.at('tags').append('x')
      expect(await a.get('likes')).to.equal(3)
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      const { comments } = await db.session().load(Post, 'p')
      expect(await comments.get('a')).to.deep.include({ text: 'through a handle', likes: 3 })
      const loaded = (await comments.get('a'))!
      expect(loaded.tags).to.deep.equal(['x'])
      expect(await db.session().at(Post, 'p').child('comments', 'a').get('likes')).to.equal(3)
      const other = db.session()
      other.at(Post, 'p').child('comments', 'nobody').increment('likes')
      expect(await rejection(() => other.flush())).to.be.instanceOf(EntityGoneError)
    })

    it('keep a change of a handle that is not sent yet when their owner is loaded', async () => {
      await db.session().save(post('p', comment('a')))
      const session = db.session()
      session.at(Post, 'p').child('comments', 'a').increment('likes', 5)
      await session.load(Post, 'p')
      expect(session.isDirty()).to.equal(true)
      await session.flush()
      expect(await db.session().at(Post, 'p').child('comments', 'a').get('likes')).to.equal(5)

      session.at(Post, 'p').child('comments', 'a').increment('likes')
      await session.refresh(await session.load(Post, 'p'))
      expect(session.isDirty()).to.equal(false)
    })

    it('move to another owner, and are never in both or in none', async () => {
      await db.session().save(post('p', comment('a'), comment('b')))
      await db.session().save(post('q'))
      const session = db.session()
      const p = await session.load(Post, 'p', { with: ['comments'] })
      const q = await session.load(Post, 'q', { with: ['comments'] })
      const [a] = p.comments.items
      p.comments.remove(a)
      q.comments.add(a)
      await session.flush()
      const now = db.session()
      expect(await (await now.load(Post, 'p')).comments.keys()).to.deep.equal(['b'])
      expect(await (await now.load(Post, 'q')).comments.keys()).to.deep.equal(['a'])
    })

    it('go with their owner', async () => {
      await db.session().save(post('p', ...names(20).map((id) => comment(id))))
      expect(await recordsOf('ppost_comments')).to.equal(SHARDS)
      const session = db.session()
      await session.delete(await session.load(Post, 'p'))
      expect(await recordsOf('ppost_comments')).to.equal(0)
      expect(await stored('ppost', 'p')).to.equal(undefined)
      const late = db.session()
      late.at(Post, 'p').collection('comments').add(comment('late'))
      expect(await rejection(() => late.flush())).to.be.instanceOf(EntityGoneError)
      expect(await recordsOf('ppost_comments')).to.equal(0)
    })

    it('point to entities, which are saved first and loaded along', async () => {
      const made = post('p', comment('a'))
      const writer = Object.assign(new Writer(), { id: 7 })
      made.comments.items[0].author.set(writer)
      await db.session().save(made)
      const found = await db.session().load(Post, 'p', { with: ['comments.author'] })
      expect(found.comments.items[0].author.value?.id).to.equal(7)
    })

    it('are as many as the owner says, whatever the class says now', async () => {
      await db.session().save(post('p'))
      await db.client.put({ ns: namespace, set: 'ppost', key: 'p' }, { subkeys: ['hash-shards', 2] })
      const session = db.session()
      session
        .at(Post, 'p')
        .collection('comments')
        .add(...names(8).map((id) => comment(id)))
      await session.flush()
      expect(await recordsOf('ppost_comments')).to.equal(2)
      expect(await stored('ppost_comments', 'p:1')).to.deep.include({ '_sk.shards': 2 })
      const fresh = db.session()
      const { comments } = await fresh.load(Post, 'p')
      expect(await comments.keys()).to.deep.equal(names(8))
      comments.remove('c100')
      ;(await comments.get('c101'))!.text = 'changed'
      await fresh.flush()
      expect((await comments.get('c101'))?.text).to.equal('changed')
      expect(await (await db.session().load(Post, 'p')).comments.count()).to.equal(7)
    })

    it('are upserted with their owner, and those that are there stay', async () => {
      await db.session().save(post('p', comment('a')))
      await db.session().upsert(post('p', comment('b')))
      expect(await (await db.session().load(Post, 'p')).comments.keys()).to.deep.equal(['a', 'b'])
      await db.session().upsert(post('q', comment('b')))
      expect(await (await db.session().load(Post, 'q')).comments.keys()).to.deep.equal(['b'])
    })

    it('of a loaded owner in one companion are under its own key', async () => {
      const session = db.session()
      const made = post('p')
      made.drafts.add(comment('a'), comment('b'))
      await session.save(made)
      expect(await stored('ppost_drafts', 'p')).to.have.property('drafts')
      made.drafts.remove('a')
      await session.flush()
      expect(await (await db.session().load(Post, 'p')).drafts.keys()).to.deep.equal(['b'])
    })
  })
}
