import { expect } from 'chai'
import type { Database } from 'skein'
import { MODES } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'
import { Follow, LINKED, Person } from './link-models.js'

const MANY = 620

for (const mode of MODES) {
  describe(`more links of one end than a batch holds (${mode})`, function () {
    this.timeout(30_000)
    let db: Database
    useDatabase(mode, LINKED, (opened) => ({ db } = opened))

    it('are made, counted, paged, loaded and deleted with the end', async () => {
      await db.withSession(async (session) => {
        const star = session.create(Person, { id: 'star' })
        for (let i = 0; i < MANY; i++) session.create(Person, { id: `p${i}` }).follows.link(star, { kind: 'fan' })
      })
      const session = db.session()
      const star = await session.load(Person, 'star')
      expect(await star.followers.count()).to.equal(MANY)
      expect(await star.followers.page({ offset: 600, count: 50 })).to.have.length(MANY - 600)
      expect(await star.followers.load()).to.have.length(MANY)
      await db.withSession(async (other) => other.delete(Person, 'star'))
      expect(await db.scan(Follow).count()).to.equal(0)
      expect(await db.session().at(Person, 'p7').collection('follows').count()).to.equal(0)
    })
  })
}
