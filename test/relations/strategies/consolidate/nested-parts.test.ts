import Aerospike from 'aerospike'
import { expect } from 'chai'
import { EntityGoneError, toPlain, fromPlain, SkeinError, VersionConflictError, type Database } from 'skein'
import { MODES, need, type TestServer } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { useDatabase } from '../../../use-database.js'
import { at, CLASSES, comment, Comment, Exam, Hall, post, Post, Reader, shape, Thread } from './nested-models.js'

for (const mode of MODES) {
  describe(`children of children (${mode})`, () => {
    let server: TestServer
    let db: Database
    let namespace: string
    useDatabase(mode, CLASSES, (opened) => ({ db, server, namespace } = opened))

    const load = (id: number): Promise<Post> => db.session().load(Post, id)
    const stored = async (id = 1): Promise<string> => shape((await load(id)).comments)

    it('are stored and read with the record, in one command each', async () => {
      const session = db.session()
      const made = post(1, comment('c1', comment('r1', comment('s1')), comment('r2')), comment('c2'))
      const written = await server.commands.during(() => session.save(made))
      expect(written.commands).to.equal(1)
      expect(session.isDirty()).to.equal(false)
      let found!: Post
      const read = await server.commands.during(async () => (found = await load(1)))
      expect(read.commands).to.equal(1)
      expect(shape(found.comments)).to.equal('c1(r1(s1) r2) c2')
      const deep = at(found.comments, 'c1', 'r1', 's1')
      expect(deep).to.be.instanceOf(Comment)
      expect(deep.text).to.equal('text of s1')
      expect(deep.replies.isLoaded).to.equal(true)
    })

    it('are added, changed and removed one by one', async () => {
      await db.session().save(post(1, comment('c1', comment('r1', comment('s1')), comment('r2')), comment('c2')))
      const session = db.session()
      const { comments } = await session.load(Post, 1)
      at(comments, 'c1', 'r1', 's1').text = 'new'
      at(comments, 'c1', 'r1').replies.add(comment('s2'))
      at(comments, 'c1').replies.remove('r2')
      at(comments, 'c2').replies.add(comment('r3'))
      expect(session.isDirty()).to.equal(true)
      const plan = String(await session.explain())
      expect(plan).to.contain('put comments["c1"]["replies/r1"]["replies/s1"]["text"] = "new"')
      expect(plan).to.contain('remove from comments["c1"] by key: "replies/r2"')
      const sent = await server.commands.during(() => session.flush())
      expect(sent.commands).to.equal(1)
      expect(session.isDirty()).to.equal(false)
      expect(await stored()).to.equal('c1(r1(s1 s2)) c2(r3)')
      expect(at((await load(1)).comments, 'c1', 'r1', 's1').text).to.equal('new')
    })

    it('are written with as many bytes whether there are few siblings or many', async function () {
      const counter = need(this, server.embedded, 'only the embedded server counts bytes').commands
      const sizes: number[] = []
      for (const siblings of [1, 200]) {
        const replies = Array.from({ length: siblings }, (_, i) => comment(`r${i}`, comment('s0')))
        await db.session().upsert(post(1, comment('c1', ...replies)))
        for (const change of [
          (c1: Comment) => void (at(c1.replies, 'r0', 's0').text = 'changed'),
          (c1: Comment) => at(c1.replies, 'r0').replies.add(comment('s1')),
          (c1: Comment) => at(c1.replies, 'r0').replies.remove('s0'),
          (c1: Comment) => (at(c1.replies, 'r0').likes += 1),
        ]) {
          const session = db.session()
          const { comments } = await session.load(Post, 1)
          change(at(comments, 'c1'))
          sizes.push((await counter.during(() => session.flush())).bytesIn)
        }
      }
      expect(sizes.slice(4)).to.deep.equal(sizes.slice(0, 4))
      expect(Math.max(...sizes)).to.be.below(400)
    })

    it('keep what two sessions change in different ones, and in different fields of one', async () => {
      await db.session().save(post(1, comment('c1', comment('r1'), comment('r2'))))
      const [one, two] = [db.session(), db.session()]
      const [mine, theirs] = await Promise.all([one.load(Post, 1), two.load(Post, 1)])
      at(mine.comments, 'c1', 'r1').text = 'mine'
      at(theirs.comments, 'c1', 'r1').likes += 2
      at(mine.comments, 'c1', 'r1').likes += 1
      at(theirs.comments, 'c1').text = 'theirs'
      at(mine.comments, 'c1').replies.add(comment('r3'))
      at(theirs.comments, 'c1').replies.remove('r2')
      await one.flush()
      await two.flush()
      const { comments } = await load(1)
      expect(shape(comments)).to.equal('c1(r1 r3)')
      const { text, likes } = at(comments, 'c1', 'r1')
      expect([text, likes, at(comments, 'c1').text]).to.deep.equal(['mine', 3, 'theirs'])
    })

    for (const [what, gone, change] of [
      ['a reply', ['c1', 'r1'], (comments) => void (at(comments, 'c1', 'r1').text = 'late')],
      ['the comment above a reply', ['c1'], (comments) => void (at(comments, 'c1', 'r1').text = 'late')],
      ['a reply above a new one', ['c1', 'r1'], (comments) => at(comments, 'c1', 'r1').replies.add(comment('s2'))],
      ['a reply above one that is removed', ['c1', 'r1'], (comments) => at(comments, 'c1', 'r1').replies.remove('s1')],
    ] as [string, string[], (comments: Iterable<Comment>) => void][]) {
      it(`conflict when ${what} is gone meanwhile, and never come back as fragments`, async () => {
        await db.session().save(post(1, comment('c1', comment('r1', comment('s1'))), comment('c2')))
        const session = db.session()
        const found = await session.load(Post, 1)
        await db.withSession(async (other) => {
          const { comments } = await other.load(Post, 1)
          const from = gone.length === 1 ? comments : at(comments, ...gone.slice(0, -1)).replies
          from.remove(gone.at(-1)!)
        })
        const before = await stored()
        change(found.comments)
        at(found.comments, 'c2').text = 'not sent'
        const error = await rejection(() => session.flush())
        expect(error).to.be.instanceOf(VersionConflictError)
        expect(await stored()).to.equal(before)
        expect(at((await load(1)).comments, 'c2').text).to.equal('text of c2')
        await session.refresh(found)
        expect(shape(found.comments)).to.equal(before)
        expect(session.isDirty()).to.equal(false)
      })
    }

    it('are the same instances after a refresh, with the stored values', async () => {
      await db.session().save(post(1, comment('c1', comment('r1', comment('s1')), comment('r2'))))
      const session = db.session()
      const found = await session.load(Post, 1)
      const [c1, r1, s1] = [
        at(found.comments, 'c1'),
        at(found.comments, 'c1', 'r1'),
        at(found.comments, 'c1', 'r1', 's1'),
      ]
      const { replies } = r1
      await db.withSession(async (other) => {
        const { comments } = await other.load(Post, 1)
        at(comments, 'c1', 'r1', 's1').text = 'theirs'
        at(comments, 'c1').replies.add(comment('r3'))
      })
      s1.text = 'mine'
      c1.replies.remove(r1)
      c1.replies.add(comment('r9'))
      await session.refresh(found)
      expect(shape(found.comments)).to.equal('c1(r1(s1) r2 r3)')
      expect(at(found.comments, 'c1', 'r1')).to.equal(r1)
      expect(at(found.comments, 'c1', 'r1', 's1')).to.equal(s1)
      expect(r1.replies).to.equal(replies)
      expect(s1.text).to.equal('theirs')
      expect(session.isDirty()).to.equal(false)
      s1.text = 'again'
      await session.flush()
      expect(at((await load(1)).comments, 'c1', 'r1', 's1').text).to.equal('again')
    })

    it('move within their record in one command', async () => {
      await db.session().save(post(1, comment('c1', comment('r1', comment('s1')), comment('r2')), comment('c2')))
      const session = db.session()
      const { comments } = await session.load(Post, 1)
      const r1 = at(comments, 'c1', 'r1')
      at(comments, 'c1').replies.remove(r1)
      at(comments, 'c2').replies.add(r1)
      expect((await server.commands.during(() => session.flush())).commands).to.equal(1)
      expect(await stored()).to.equal('c1(r2) c2(r1(s1))')
      at(comments, 'c2').replies.remove(r1)
      comments.add(r1)
      const c1 = at(comments, 'c1')
      comments.remove(c1)
      r1.replies.add(c1)
      expect((await server.commands.during(() => session.flush())).commands).to.equal(1)
      expect(await stored()).to.equal('c2 r1(c1(r2) s1)')
      expect(session.isDirty()).to.equal(false)
      at(comments, 'r1', 'c1', 'r2').text = 'still mine'
      await session.flush()
      expect(at((await load(1)).comments, 'r1', 'c1', 'r2').text).to.equal('still mine')
    })

    for (const [what, move] of [
      ['a reply', ['c1', 'r1']],
      ['a reply of a reply', ['c1', 'r1', 's1']],
      ['a comment that becomes a reply', ['c1']],
    ] as [string, string[]][]) {
      it(`leave for another record without being lost or doubled: ${what}`, async () => {
        await db.session().save(post(1, comment('c1', comment('r1', comment('s1')), comment('r2')), comment('c2')))
        await db.session().save(post(2, comment('d1')))
        const session = db.session()
        const [first, second] = await session.loadMany(Post, [1, 2])
        const moved = at(first.comments, ...move)
        const from = move.length === 1 ? first.comments : at(first.comments, ...move.slice(0, -1)).replies
        from.remove(moved)
        at(second.comments, 'd1').replies.add(moved)
        moved.replies.add(comment('new'))
        at(first.comments, 'c2').text = 'also'
        const subtree = shape([moved])
        const sent = await server.commands.during(() => session.flush())
        if (mode === 'ap') expect(sent.commands).to.be.at.most(3)
        expect(session.isDirty()).to.equal(false)
        expect(await stored(2)).to.equal(`d1(${subtree})`)
        expect(await stored(1)).to.not.contain(move.at(-1))
        expect(at((await load(1)).comments, 'c2').text).to.equal('also')
        moved.text = 'there'
        expect((await server.commands.during(() => session.flush())).commands).to.equal(1)
        expect(at((await load(2)).comments, 'd1', move.at(-1)!).text).to.equal('there')
      })
    }

    it('that leave are stored in the other record first, also where the part around them is removed', async () => {
      await db.session().save(post(1, comment('c1', comment('r1', comment('s1')), comment('r2')), comment('c2')))
      await db.session().save(post(2, comment('d1')))
      const session = db.session()
      const [first, second] = await session.loadMany(Post, [1, 2])
      const s1 = at(first.comments, 'c1', 'r1', 's1')
      at(first.comments, 'c1', 'r1').replies.remove(s1)
      at(second.comments, 'd1').replies.add(s1)
      at(first.comments, 'c1').replies.remove('r1')
      const plan = String(await session.explain())
      if (mode === 'ap') expect(plan.indexOf('"replies/s1"')).to.be.within(0, plan.indexOf('"replies/r1"'))
      await session.flush()
      expect([await stored(1), await stored(2)]).to.deep.equal(['c1(r2) c2', 'd1(s1)'])
      const r2 = at(first.comments, 'c1', 'r2')
      at(first.comments, 'c1').replies.remove(r2)
      second.comments.add(r2)
      first.comments.remove('c1')
      await session.flush()
      expect([await stored(1), await stored(2)]).to.deep.equal(['c2', 'd1(s1) r2'])
      expect(session.isDirty()).to.equal(false)
    })

    it('cannot be added below themselves', async () => {
      await db.session().save(post(1, comment('c1', comment('r1', comment('s1')))))
      const session = db.session()
      const { comments } = await session.load(Post, 1)
      const add = (): void => at(comments, 'c1', 'r1', 's1').replies.add(at(comments, 'c1'))
      expect(add).to.throw(SkeinError, 'below itself').with.property('code', 'SKEIN_2427')
      const circular = comment('x', comment('y'))
      at(circular.replies, 'y').replies.add(circular)
      expect(() => comments.add(circular)).to.throw(SkeinError, 'below itself')
    })

    it('reach 15 levels deep, and no deeper', async () => {
      const chain = (levels: number, bottom: number): Comment =>
        comment(`l${bottom}`, ...(levels === 1 ? [] : [chain(levels - 1, bottom + 1)]))
      await db.session().save(post(1, chain(15, 1)))
      const session = db.session()
      const { comments } = await session.load(Post, 1)
      const path = Array.from({ length: 15 }, (_, i) => `l${i + 1}`)
      at(comments, ...path).text = 'bottom'
      at(comments, ...path).likes += 3
      at(comments, ...path.slice(0, 14)).replies.add(comment('other'))
      await session.flush()
      const found = at((await load(1)).comments, ...path)
      expect([found.text, found.likes]).to.deep.equal(['bottom', 3])
      at(comments, ...path).replies.add(comment('deeper'))
      const sent = await server.commands.during(async () => {
        const error = await rejection(() => session.flush())
        expect(error).to.have.property('code', 'SKEIN_2201')
        expect((error as Error).message).to.contain('at most 15 levels deep')
      })
      expect(sent.commands).to.equal(0)
      expect(await rejection(() => db.session().save(post(2, chain(16, 1))))).to.have.property('code', 'SKEIN_2201')
    })

    it('load what they point to, all of them in one batch read', async () => {
      const replies = [comment('r1', comment('s1')), comment('r2')]
      const made = post(1, comment('c1', ...replies))
      const authors = [1, 2, 3].map((id) => Object.assign(new Reader(), { id, name: `name ${id}` }))
      replies[0].author.set(authors[0])
      replies[1].author.set(authors[1])
      at(made.comments, 'c1', 'r1', 's1').author.set(authors[2])
      await db.session().save(made)
      let found!: Post
      const read = await server.commands.during(
        async () =>
          (found = await db
            .session()
            .load(Post, 1, { with: ['comments.replies.author', 'comments.replies.replies.author'] })),
      )
      expect(read.commands).to.equal(2)
      const names = ['r1', 'r2'].map((id) => at(found.comments, 'c1', id).author.value?.name)
      expect(names).to.deep.equal(['name 1', 'name 2'])
      expect(at(found.comments, 'c1', 'r1', 's1').author.value?.name).to.equal('name 3')
      const error = await rejection(() => db.session().load(Post, 1, { with: ['comments.replies.nothing' as never] }))
      expect(error).to.have.property('code', 'SKEIN_2312')
      const [walked] = await Promise.all([
        db.session().walk(Post, 1).out('comments').out('replies').out('author').keys(),
      ])
      expect([...walked].sort()).to.deep.equal([1, 2])
    })

    it('answer questions in their order, without a command', async () => {
      const session = db.session()
      const exam = session.create(Exam, { id: 1 })
      exam.chapters.add({ id: 'one' } as never)
      const [one] = exam.chapters.items
      one.questions.add({ text: 'why?' } as never)
      const [why] = one.questions.items
      for (const [id, points, day] of [
        [1, 30, 3],
        [2, -5, 1],
        [3, 40, 2],
      ])
        why.answers.add({ id, points, at: new Date(Date.UTC(2026, 0, day)) })
      await session.flush()
      const other = db.session()
      const found = await other.load(Exam, 1)
      const [question] = found.chapters.items[0].questions
      const { answers } = question
      const ids = (all: Iterable<{ id: number }>): number[] => [...all].map(({ id }) => id)
      const asked = await server.commands.during(async () => {
        expect(ids(answers)).to.deep.equal([2, 1, 3])
        expect(await answers.count()).to.equal(3)
        expect(await answers.contains(3)).to.equal(true)
        expect(await answers.keys()).to.deep.equal([2, 1, 3])
        expect(ids(await answers.page({ offset: 1, count: 1 }))).to.deep.equal([1])
        expect(ids(await answers.last(2))).to.deep.equal([1, 3])
        expect(ids(await answers.first(1))).to.deep.equal([2])
        expect(ids(await answers.range({ from: 0, to: 35 }))).to.deep.equal([1])
        expect(await answers.indexOf(3)).to.equal(2)
        expect((await answers.get(1))?.points).to.equal(30)
        expect(ids(await answers.by('recent').last(2))).to.deep.equal([3, 1])
      })
      expect(asked.commands).to.equal(0)
      answers.items[0].points = 100
      await other.flush()
      expect(ids((await db.session().load(Exam, 1)).chapters.items[0].questions.items[0].answers)).to.deep.equal([
        1, 3, 2,
      ])
    })

    it('come along where one child is asked for, and are sent again only as far as they changed', async () => {
      await db.withSession((session) => {
        session.create(Thread, { id: 't' }).comments.add(comment('c1', comment('r1')), comment('c2', comment('r2')))
        return Promise.resolve()
      })
      const session = db.session()
      const thread = await session.load(Thread, 't')
      const c1 = await thread.comments.get('c1')
      expect(shape([c1!])).to.equal('c1(r1)')
      at([c1!], 'c1', 'r1').likes += 1
      thread.comments.remove('c2')
      expect((await server.commands.during(() => session.flush())).commands).to.equal(1)
      const found = await db.session().load(Thread, 't', { with: ['comments'] })
      expect(shape(found.comments)).to.equal('c1(r1)')
      expect(at(found.comments, 'c1', 'r1').likes).to.equal(1)
    })

    it('live in companion records with the child that has them', async () => {
      const session = db.session()
      const hall = session.create(Hall, { id: 1 })
      for (let i = 0; i < 9; i++) hall.comments.add(comment(`c${i}`, comment('r')))
      await session.flush()
      const other = db.session()
      const { comments } = await other.load(Hall, 1, { with: ['comments'] })
      at(comments, 'c3', 'r').replies.add(comment('s'))
      at(comments, 'c4', 'r').likes += 2
      at(comments, 'c5').replies.remove('r')
      const r = at(comments, 'c6', 'r')
      at(comments, 'c6').replies.remove(r)
      r.replies.add(comment('moved'))
      at(comments, 'c0').replies.add(Object.assign(r, {}))
      await other.flush()
      expect(other.isDirty()).to.equal(false)
      const found = await db.session().load(Hall, 1, { with: ['comments'] })
      expect(shape(found.comments)).to.equal('c0(r(moved)) c1(r) c2(r) c3(r(s)) c4(r) c5 c6 c7(r) c8(r)')
      expect(at(found.comments, 'c4', 'r').likes).to.equal(2)
    })

    it('become plain data and come back from it', () => {
      const plain = toPlain(post(1, comment('c1', comment('r1', comment('s1')))))
      const back = fromPlain(Post, JSON.parse(JSON.stringify(plain)) as object, { relations: 'keys' })
      expect(shape(back.comments)).to.equal('c1(r1(s1))')
      expect(at(back.comments, 'c1', 'r1')).to.be.instanceOf(Comment)
    })

    it('are asked and changed by handles at any level, without loading', async () => {
      await db.session().save(post(1, comment('c1', comment('r1', comment('s1')), comment('r2'))))
      const session = db.session()
      const s1 = session.at(Post, 1).child('comments', 'c1').child('replies', 'r1').child('replies', 's1')
      const sent = await server.commands.during(async () => {
        s1.increment('likes', 2)
        s1.put('text', 'by handle')
        expect(await s1.get('text')).to.equal('by handle')
        await session.flush()
      })
      expect(sent.commands).to.equal(2)
      const found = await session.load(Post, 1)
      const part = at(found.comments, 'c1', 'r1', 's1')
      expect([part.text, part.likes]).to.deep.equal(['by handle', 2])
      part.text = 'by hand'
      s1.increment('likes')
      expect(part.likes).to.equal(3)
      expect(await s1.get('text')).to.equal('by hand')
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      const again = at((await load(1)).comments, 'c1', 'r1', 's1')
      expect([again.text, again.likes]).to.deep.equal(['by hand', 3])
      const gone = db.session()
      gone.at(Post, 1).child('comments', 'c1').child('replies', 'nobody').increment('likes')
      expect(await rejection(() => gone.flush())).to.be.instanceOf(EntityGoneError)
      expect(await stored()).to.equal('c1(r1(s1) r2)')
      expect(() => s1.put('id', 'x'))
        .to.throw(SkeinError)
        .with.property('code', 'SKEIN_2331')
      expect(() => s1.child('nothing' as never, 'x'))
        .to.throw(SkeinError)
        .with.property('code', 'SKEIN_2330')
    })

    it('that are loaded after a handle has changed them show the change', async () => {
      await db.session().save(post(1, comment('c1', comment('r1'))))
      const session = db.session()
      session.at(Post, 1).child('comments', 'c1').child('replies', 'r1').increment('likes', 5)
      const { comments } = await session.load(Post, 1)
      expect(at(comments, 'c1', 'r1').likes).to.equal(5)
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      expect(at((await load(1)).comments, 'c1', 'r1').likes).to.equal(5)
    })

    it('are verified: a reference to nothing is cleared', async () => {
      const made = post(1, comment('c1', comment('r1', comment('s1'))))
      at(made.comments, 'c1', 'r1', 's1').author.set(77)
      await db.session().save(made)
      const findings = async (repair: boolean): Promise<string[]> => {
        const found: string[] = []
        for await (const { kind, message } of db.verify(Post, { repair, settle: 0 })) found.push(`${kind}: ${message}`)
        return found
      }
      const [dangling] = await findings(false)
      expect(dangling).to.contain('danglingKey').and.contain('"c1".replies "r1".replies "s1"')
      await findings(true)
      expect(await findings(false)).to.deep.equal([])
      expect(at((await load(1)).comments, 'c1', 'r1', 's1').author.key).to.equal(null)
    })

    it('are verified: one under another key than its own is moved, at every level, unless its own is taken', async () => {
      await db.session().save(post(1, comment('c1', comment('r1'))))
      const key = { ns: namespace, set: 'nested-post', key: 1 }
      const put = (name: string, part: object): Promise<unknown> => {
        const context = new Aerospike.cdt.Context().addMapKey('c1')
        return db.client.operate(key, [Aerospike.maps.put('comments', name, part as never).withContext(context)])
      }
      const inner = { id: 's9', text: 'y', 'replies/t': { id: 't', text: 'z' } }
      await put('replies/other', { id: 'r9', text: 'x', likes: 3, 'replies/wrong': inner })
      const findings = async (repair: boolean): Promise<string[]> => {
        const found: string[] = []
        for await (const { kind, state, message } of db.verify(Post, { repair, settle: 0 }))
          found.push(`${kind} ${state}: ${message}`)
        return found
      }
      const [below, misplaced] = await findings(true)
      expect(below).to.contain('misplacedPart repaired').and.contain('"c1".replies "r9".replies "s9"')
      expect(misplaced).to.contain('misplacedPart repaired').and.contain('under the key "replies/other"')
      expect(await findings(false)).to.deep.equal([])
      const session = db.session()
      const { comments } = await session.load(Post, 1)
      expect(shape(comments)).to.equal('c1(r1 r9(s9(t)))')
      expect(at(comments, 'c1', 'r9').likes).to.equal(3)
      at(comments, 'c1', 'r9', 's9', 't').text = 'changed'
      await session.flush()
      await put('replies/other', { id: 'r1', text: 'which one' })
      expect(await findings(true)).to.satisfy(([one]: string[]) => one.startsWith('duplicatePart found'))
    })

    it('are taken from plain objects, with lists for their own children', async () => {
      const session = db.session()
      const made = session.create(Post, { id: 1 })
      made.comments.add({ id: 'c1', text: 'plain', replies: [{ id: 'r1', text: 'also' }] } as never)
      await session.flush()
      expect(await stored()).to.equal('c1(r1)')
      at(made.comments, 'c1', 'r1').text = 'changed'
      await session.flush()
      expect(at((await load(1)).comments, 'c1', 'r1').text).to.equal('changed')
    })

    it('keep their key, and refuse members of another class and bare keys', async () => {
      await db.session().save(post(1, comment('c1', comment('r1'))))
      const session = db.session()
      const { comments } = await session.load(Post, 1)
      expect(() => at(comments, 'c1').replies.add(new Reader() as never)).to.throw(SkeinError, 'Comment')
      expect(() => at(comments, 'c1').replies.add('r7'))
        .to.throw(SkeinError)
        .with.property('code', 'SKEIN_2421')
      at(comments, 'c1', 'r1').id = 'r2'
      expect(await rejection(() => session.flush())).to.have.property('code', 'SKEIN_2203')
    })
  })
}
