import { expect } from 'chai'
import type { Database } from 'skein'
import { MODES } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'
import { Agent, ENDED, Office } from './ended-link-models.js'

for (const mode of MODES) {
  describe(`links of one record that are ended by one flush (${mode})`, () => {
    let db: Database
    useDatabase(mode, ENDED, (opened) => ({ db } = opened))

    it('all stay stored, at both ends', async () => {
      const offices = ['east', 'north', 'south', 'west']
      await db.withSession((session) => {
        const [one, two] = [1, 2].map((id) => session.create(Agent, { id }))
        for (const id of offices) {
          const office = session.create(Office, { id })
          for (const agent of [one, two]) agent.offices.link(office, { role: id })
        }
      })
      await db.withSession(async (session) => {
        for (const id of [1, 2]) (await session.load(Agent, id)).offices.unlink('east', 'south', 'west')
      })
      const session = db.session()
      const agent = await session.load(Agent, 1)
      expect(await agent.offices.keys()).to.deep.equal(['north'])
      expect(await agent.offices.keys({ deleted: 'only' })).to.deep.equal(['east', 'south', 'west'])
      expect((await agent.offices.attributesOf('south', { deleted: 'only' }))!.role).to.equal('south')
      const office = await session.load(Office, 'east')
      expect(await office.agents.keys({ deleted: 'only' })).to.deep.equal([1, 2])
      for await (const { message } of db.verify(ENDED, { settle: 0 })) expect.fail(message)
    })
  })
}
