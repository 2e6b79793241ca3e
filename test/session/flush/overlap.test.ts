import { expect } from 'chai'
import type { Session } from 'skein'
import { need } from '../../server.js'
import { Account, Page } from '../models.js'
import { inEachMode } from '../modes.js'

inEachMode('calls of one session that are not awaited before the next', (bed) => {
  it('count a change of a counter once, however many saves and flushes wait', async () => {
    const session = bed().db.session()
    const page = session.create(Page, { path: bed().fresh() })
    const other = session.create(Page, { path: bed().fresh() })
    await session.flush()
    other.title = 'changed'
    const first = session.flush()
    page.views = 1
    const later = [session.save(page), session.save(page), session.flush()]
    void first.then(() => setImmediate(() => (page.views = 2)))
    await Promise.all([first, ...later])
    await session.flush()
    expect((await bed().db.session().load(Page, page.path)).views).to.equal(page.views)
  })

  it('never conflict with each other', async () => {
    const session = bed().db.session()
    const account = session.create(Account, { id: bed().freshNumber(), owner: 'Ada' })
    const other = session.create(Account, { id: bed().freshNumber(), owner: 'Bo' })
    await session.flush()
    other.balance = 1
    const first = session.flush()
    account.balance = 1
    const later = [session.save(account), session.save(account), session.flush()]
    void first.then(() => setImmediate(() => (account.balance = 2)))
    await Promise.all([first, ...later])
    await session.flush()
    expect((await bed().db.session().load(Account, account.id)).balance).to.equal(account.balance)
  })

  it('are all waited for by close', async () => {
    const session = bed().db.session()
    const page = session.create(Page, { path: bed().fresh() })
    await session.flush()
    page.title = 'first'
    const saves = [session.flush(), session.save(page), session.save(page)]
    let saved = 0
    for (const save of saves) void save.then(() => saved++)
    await session.close()
    expect(saved).to.equal(saves.length)
  })

  it('complete an entity whose save is under way: what was loaded is not a change', async function () {
    const { faults } = need(this, bed().server.embedded, 'only the embedded server can be slowed down')
    const path = bed().fresh()
    await bed()
      .db.session()
      .save(Object.assign(new Page(), { path, title: 'first', views: 5 }))
    const session = bed().db.session()
    const page = await session.load(Page, path, { only: ['title'] })
    page.title = 'second'
    await faults.add({ kind: 'write', namespace: bed().namespace, set: 'page', delay: 50 })
    const save = session.save(page)
    expect((await session.load(Page, path)).views).to.equal(5)
    await save
    expect(session.isDirty(page)).to.equal(false)
    page.views += 1
    await session.flush()
    expect(await bed().db.session().load(Page, path)).to.deep.include({ title: 'second', views: 6 })
  })

  it('delete a record once: one of them is told so', async () => {
    const session = bed().db.session()
    const page = session.create(Page, { path: bed().fresh() })
    await session.flush()
    const deletes = [session.delete(page), session.delete(page), session.delete(Page, page.path)]
    expect(await Promise.all(deletes)).to.deep.equal([true, false, false])
  })

  for (const [how, store] of Object.entries<(session: Session, page: Page) => Promise<unknown>>({
    save: (session, page) => session.save(page),
    flush: (session, page) => {
      session.persist(page)
      return session.flush()
    },
  })) {
    it(`delete by key, then ${how} what has the same key, in that order`, async function () {
      const { faults } = need(this, bed().server.embedded, 'only the embedded server can be slowed down')
      const path = bed().fresh()
      await bed()
        .db.session()
        .save(Object.assign(new Page(), { path, title: 'old' }))
      const session = bed().db.session()
      await faults.add({ kind: 'delete', namespace: bed().namespace, set: 'page', delay: 50 })
      const deleting = session.delete(Page, path)
      await store(session, Object.assign(new Page(), { path, title: 'new' }))
      expect(await deleting).to.equal(true)
      expect((await bed().db.session().load(Page, path)).title).to.equal('new')
    })
  }

  it('delete by key, and close waits for that', async function () {
    const { faults } = need(this, bed().server.embedded, 'only the embedded server can be slowed down')
    const session = bed().db.session()
    await faults.add({ kind: 'delete', namespace: bed().namespace, set: 'page', delay: 50 })
    let isDone = false
    void session.delete(Page, bed().fresh()).then(() => (isDone = true))
    await session.close()
    expect(isDone).to.equal(true)
  })
})
