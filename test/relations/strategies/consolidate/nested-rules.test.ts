import { IsIn, Length } from 'class-validator'
import { expect } from 'chai'
import { AfterSave, BeforeSave, Bin, Embeddable, Key, OneToMany, Record, Version, collection } from 'skein'
import { ValidationFailedError, VersionConflictError, type Database } from 'skein'
import { MODES, type TestServer } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { useDatabase } from '../../../use-database.js'

@Embeddable()
class Mark {
  @Key() id!: number
  @Bin() @IsIn(['good', 'bad']) kind!: string
}

@Embeddable()
class Remark {
  @Key() id!: string
  @Bin() @Length(1, 9) text!: string
  @OneToMany(() => Remark, { strategy: 'consolidate' }) replies = collection<Remark>()
  @OneToMany(() => Mark, { strategy: 'consolidate' }) marks = collection<Mark>()
}

@Record({ set: 'rule-page' })
class Page {
  @Key() id!: number
  @Bin({ type: 'int' }) count = 0
  @Version() version?: number
  @OneToMany(() => Remark, { strategy: 'consolidate' }) comments = collection<Remark>()
  @OneToMany(() => Remark, { strategy: 'consolidate', eager: false }) later = collection<Remark>()
  seen: string[] = []

  /** Counts all remarks, and tidies those that begin with a space. */
  @BeforeSave() tidy(): void {
    this.seen.push('before')
    const all = [...inside(this.comments)]
    this.count = all.length
    for (const each of all) each.text = each.text.trim()
  }

  @AfterSave() saved(): void {
    this.seen.push(`after ${this.version}`)
  }
}

@Record({ set: 'rule-sheet' })
class Sheet {
  @Key() id!: number
  @Bin() title?: string
  @Version() version?: number
  @OneToMany(() => Remark, { strategy: 'consolidate' }) comments = collection<Remark>()
}

function* inside(remarks: Iterable<Remark>): Iterable<Remark> {
  for (const remark of remarks) {
    yield remark
    yield* inside(remark.replies)
  }
}

function remark(id: string, ...replies: Remark[]): Remark {
  const made = Object.assign(new Remark(), { id, text: id })
  made.replies.add(...replies)
  return made
}

const find = (remarks: Iterable<Remark>, id: string): Remark => [...inside(remarks)].find((each) => each.id === id)!

for (const mode of MODES) {
  describe(`rules, hooks and versions around children of children (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Page, Sheet], (opened) => ({ db, server } = opened))
    beforeEach(async () => {
      const page = Object.assign(new Page(), { id: 1 })
      page.comments.add(remark('c1', remark('r1', remark('s1')), remark('r2')))
      page.later.add(remark('d1', remark('e1')))
      const sheet = Object.assign(new Sheet(), { id: 1 })
      sheet.comments.add(remark('c1', remark('r1', remark('s1')), remark('r2')))
      await db.session().save(page)
      await db.session().save(sheet)
    })

    const failures = async (work: () => Promise<unknown>) => {
      const error = await rejection(work)
      expect(error).to.be.instanceOf(ValidationFailedError)
      return (error as ValidationFailedError).failures.map(({ message: _message, ...rest }) => rest)
    }
    const load = (): Promise<Page> => db.session().load(Page, 1)

    it('rules name the whole way to the child that breaks them, and nothing is sent', async () => {
      const session = db.session()
      const { comments } = await session.load(Page, 1)
      find(comments, 'r1').text = 'far too long'
      find(comments, 's1').replies.add(Object.assign(remark('t1'), { text: 'much too long' }))
      find(comments, 'r2').marks.add(Object.assign(new Mark(), { id: 3, kind: 'odd' }))
      const place = { className: 'Page', key: 1 }
      const sent = await server.commands.during(async () => {
        expect(await failures(() => session.flush())).to.have.deep.members([
          { ...place, property: 'comments["c1"].replies["r1"].text', partKey: 'r1', constraint: 'isLength' },
          {
            ...place,
            property: 'comments["c1"].replies["r1"].replies["s1"].replies["t1"].text',
            partKey: 't1',
            constraint: 'isLength',
          },
          { ...place, property: 'comments["c1"].replies["r2"].marks[3].kind', partKey: 3, constraint: 'isIn' },
        ])
      })
      expect(sent.commands).to.equal(0)
      find(comments, 'r1').text = 'short'
      find(comments, 't1').text = 'short'
      find(comments, 'r2').marks.remove(3)
      await session.flush()
      const stored = await load()
      expect([find(stored.comments, 'r1').text, find(stored.comments, 't1').text]).to.deep.equal(['short', 'short'])
    })

    it('rules are checked for all children in a new part, and for those of a part that was read alone', async () => {
      const session = db.session()
      const page = await session.load(Page, 1)
      const bad = Object.assign(remark('r9'), { text: '' })
      page.comments.add(remark('c9', bad))
      find([(await page.later.get('d1'))!], 'e1').text = 'far too long'
      expect((await failures(() => session.flush())).map(({ property }) => property)).to.have.members([
        'comments["c9"].replies["r9"].text',
        'later["d1"].replies["e1"].text',
      ])
      const error = (await rejection(() => session.flush())) as Error
      expect(error.message).to.contain('Page.comments["c9"].replies["r9"].text of 1: text must be longer')
    })

    it('rules do not hold up a save because of children that it does not touch, or removes', async () => {
      const careless = db.session({ validate: false })
      const page = await careless.load(Page, 1)
      find(page.comments, 's1').text = 'far too long'
      find(page.comments, 'r2').text = 'far too long'
      await careless.flush()
      const session = db.session()
      const { comments } = await session.load(Page, 1)
      find(comments, 'c1').text = 'changed'
      find(comments, 'r1').text = 'changed'
      find(comments, 'c1').replies.remove('r2')
      await session.flush()
      expect([...inside((await load()).comments)].map(({ text }) => text)).to.deep.equal([
        ...['changed', 'changed', 'far too long'],
      ])
    })

    it('hooks of the record run when only a child of a child changed, see it, and may change others', async () => {
      const session = db.session()
      const page = await session.load(Page, 1)
      expect(page.seen).to.deep.equal([])
      find(page.comments, 's1').text = ' new '
      find(page.comments, 'r2').replies.add(Object.assign(remark('s2'), { text: ' other' }))
      const sent = await server.commands.during(() => session.flush())
      expect(sent.commands).to.equal(1)
      expect(page.seen).to.deep.equal(['before', 'after 2'])
      const stored = await load()
      expect(stored.count).to.equal(5)
      expect([find(stored.comments, 's1').text, find(stored.comments, 's2').text]).to.deep.equal(['new', 'other'])
      expect(session.isDirty()).to.equal(false)
      await session.flush()
      expect(page.seen).to.have.length(2)
    })

    it('the version of the record stays as it is while only children of children change', async () => {
      const [one, two] = [db.session(), db.session()]
      const [mine, theirs] = [await one.load(Sheet, 1), await two.load(Sheet, 1)]
      find(theirs.comments, 's1').text = 'new'
      find(theirs.comments, 's1').replies.add(remark('t1'))
      find(theirs.comments, 'c1').replies.remove('r2')
      await two.flush()
      find(mine.comments, 'r1').text = 'mine'
      mine.title = 'mine'
      await one.flush()
      expect([theirs.version, mine.version]).to.deep.equal([1, 2])
      const { comments, title, version } = await db.session().load(Sheet, 1)
      expect([title, version]).to.deep.equal(['mine', 2])
      expect([...inside(comments)].map(({ text }) => text)).to.deep.equal(['c1', 'mine', 'new', 't1'])
    })

    it('a stale version of the record keeps back changes of children of children that are sent with its own', async () => {
      const session = db.session()
      const mine = await session.load(Sheet, 1)
      await db.withSession(async (other) => void ((await other.load(Sheet, 1)).title = 'theirs'))
      mine.title = 'mine'
      find(mine.comments, 's1').text = 'mine'
      find(mine.comments, 'r1').replies.add(remark('s2'))
      find(mine.comments, 'c1').replies.remove('r2')
      expect(await rejection(() => session.flush())).to.be.instanceOf(VersionConflictError)
      const texts = async () => [...inside((await db.session().load(Sheet, 1)).comments)].map(({ text }) => text)
      expect(await texts()).to.deep.equal(['c1', 'r1', 's1', 'r2'])
      await session.refresh(mine)
      expect([...inside(mine.comments)].map(({ text }) => text)).to.deep.equal(['c1', 'r1', 's1', 'r2'])
      find(mine.comments, 's1').text = 'mine'
      mine.title = 'mine'
      await session.flush()
      expect(mine.version).to.equal(3)
      expect(await texts()).to.deep.equal(['c1', 'r1', 'mine', 'r2'])
    })
  })
}
