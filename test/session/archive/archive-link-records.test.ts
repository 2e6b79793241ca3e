import { expect } from 'chai'
import type { Database } from 'skein'
import { isNamedServer, MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { rejection } from '../rejection.js'
import { LINKS, linksOf, peopleIn, type Access, type Paper, type Person } from './archive-link-record-models.js'

for (const mode of MODES) {
  describe(`archives of an end of link records (${mode})`, function () {
    if (isNamedServer) return
    const cold = mode === 'ap' ? 'test' : 'more'
    const { Person: APerson, Follow, Paper: APaper, Access: AnAccess, all } = peopleIn(cold)
    let db: Database
    useDatabase(mode, all, (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.client.truncate(cold, 'ak_person', 0)
      await new Promise((resolve) => setTimeout(resolve, 3))
      await db.withSession((session) => {
        const [ann, bob] = [10, 20].map((id) => session.create(APerson, { id }))
        const papers = [1, 2].map((id) => session.create(APaper, { id }))
        ann.follows.link(bob, { kind: 'friend' })
        bob.follows.link(ann, { kind: 'work' })
        for (const paper of papers) ann.papers.link(paper, { role: 'reader' })
        bob.papers.link(papers[0], { role: 'owner' })
      })
    })
    const findings = async (repair = false, from?: 'archive'): Promise<string[]> => {
      const found: string[] = []
      for await (const each of db.verify(from === undefined ? all : [APerson], {
        settle: 0,
        repair,
        ...(from && { from }),
      }))
        found.push(`${each.kind} ${each.className}.${each.property} ${each.state}`)
      return found
    }
    const load = (id = 10, from?: 'archive'): Promise<Person> =>
      db.session().load<Person>(APerson, id, { with: LINKS, ...(from && { from }) })

    it('leaves the links, which the other ends list, and finds them when it is back', async () => {
      expect(linksOf(await load())).to.deep.equal([[20], [20], [1, 2]])
      expect(await db.session().archive(APerson, 10)).to.equal(true)
      const session = db.session()
      const paper = await session.load<Paper>(APaper, 1, { with: ['people'] })
      expect(paper.people.items.map(({ id }) => id)).to.deep.equal([20])
      expect([await paper.people.count(), await paper.people.contains(10)]).to.deep.equal([2, true])
      expect((await paper.people.linkOf(10))?.role).to.equal('reader')
      expect((await session.linkOf<Access>(AnAccess, 10, 1))?.role).to.equal('reader')
      expect(await session.walk<Paper>(paper).out('people').count()).to.equal(1)
      expect([await findings(true), await findings(true, 'archive')]).to.deep.equal([[], []])
      expect(linksOf(await load(10, 'archive'))).to.deep.equal([[20], [20], [1, 2]])
      expect(linksOf(await load(20))).to.deep.equal([[], [], [1]])

      expect(await db.session().unarchive(APerson, 10)).to.equal(true)
      expect(linksOf(await load())).to.deep.equal([[20], [20], [1, 2]])
      expect(linksOf(await load(20))).to.deep.equal([[10], [10], [1]])
      expect([await findings(), await findings(false, 'archive')]).to.deep.equal([[], []])
    })

    it('is loaded from the other end with `from`', async () => {
      await db.session().archive(APerson, 10)
      const paper = await db.session().load<Paper>(APaper, 1, { with: ['people'], from: 'any' })
      expect(paper.people.items.map(({ id }) => id).sort()).to.deep.equal([10, 20])
    })

    it('lets the link change, and drops it where the other end has ended it or was deleted', async () => {
      await db.session().archive(APerson, 10)
      await db.withSession(async (session) => {
        const link = (await session.linkOf<Access>(AnAccess, 10, 2))!
        link.role = 'writer'
      })
      await db.withSession(async (session) => {
        ;(await session.load<Paper>(APaper, 1)).people.unlink(10)
        ;(await session.load<Person>(APerson, 20)).followers.remove(10)
      })
      expect(await findings()).to.deep.equal([])
      await db.session().unarchive(APerson, 10)
      const ann = await load()
      expect(linksOf(ann)).to.deep.equal([[], [20], [2]])
      expect((await ann.papers.linkOf(2))?.role).to.equal('writer')
      await db.session().archive(APerson, 10)
      await db.session().delete(APerson, 20)
      await db.session().delete(APaper, 2)
      expect(await findings()).to.deep.equal([])
      await db.session().unarchive(APerson, 10)
      expect(linksOf(await load())).to.deep.equal([[], [], []])
      expect([await findings(), await findings(false, 'archive')]).to.deep.equal([[], []])
      expect([await db.scan(AnAccess).count(), await db.scan(Follow).count()]).to.deep.equal([0, 0])
    })

    it('takes no new links, and keeps those it has when one is made again', async () => {
      await db.withSession((session) => void session.create(APaper, { id: 3 }))
      await db.session().archive(APerson, 10)
      for (const link of [
        async () => db.withSession(async (session) => void (await session.load<Paper>(APaper, 3)).people.link(10, {})),
        async () =>
          db.withSession(
            async (session) => void (await session.load<Paper>(APaper, 1)).people.link(10, { role: 'again' }),
          ),
        async () =>
          db.withSession(
            async (session) => void (await session.load<Person>(APerson, 20)).follows.link(10, { kind: 'x' }),
          ),
      ])
        expect(await rejection(link), String(link))
          .to.have.property('name')
          .that.is.oneOf(['EntityGoneError', 'PartialFailureError'])
      expect([await findings(), await findings(false, 'archive')]).to.deep.equal([[], []])
      await db.session().unarchive(APerson, 10)
      expect(linksOf(await load())).to.deep.equal([[20], [20], [1, 2]])
      expect(await db.scan(AnAccess).count()).to.equal(3)
    })

    it('may be archived at both ends, and takes its links along when it is deleted', async () => {
      for (const id of [10, 20]) await db.session().archive(APerson, id)
      expect([await findings(true), await findings(true, 'archive')]).to.deep.equal([[], []])
      for (const id of [20, 10]) await db.session().unarchive(APerson, id)
      expect(linksOf(await load())).to.deep.equal([[20], [20], [1, 2]])
      await db.session().delete(APerson, 10)
      expect([await db.scan(AnAccess).count(), await db.scan(Follow).count()]).to.deep.equal([1, 0])
      expect(await findings()).to.deep.equal([])
    })
  })
}
