import { expect } from 'chai'
import type { Database } from 'skein'
import { MODES, type TestServer } from '../../../server.js'
import { addFault, untilHit } from '../../../until-hit.js'
import { useDatabase } from '../../../use-database.js'
import { CLASSES, Member, Team, storeAll } from '../../property/actor-models.js'

for (const mode of MODES) {
  describe(`a link that is taken out while another session makes it (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, CLASSES, (opened) => ({ db, server } = opened))
    beforeEach(() => storeAll(db))
    afterEach(() => server.embedded?.faults.clear())

    for (const side of ['team', 'member'] as const) {
      it(`is stored at both ends, or at none: taken out of the ${side}`, async function () {
        const session = db.session()
        const [team, member] = [await session.load(Team, 2), await session.load(Member, 1)]
        if (side === 'team') team.ties.remove(1)
        else member.tied.remove(2)
        // Another change, so that several records change together.
        member.plain.set(team)
        const fault = await addFault(this, server, { kind: 'write', set: `act-${side}`, delay: 300 })
        const flushing = session.flush()
        await untilHit(fault, flushing)
        await db.withSession((other) => void other.at(Team, 2).collection('ties').add(1))
        await flushing
        const ends = [
          await db.session().at(Team, 2).collection('ties').contains(1),
          await db.session().at(Member, 1).collection('tied').contains(2),
        ]
        expect(ends[0]).to.equal(ends[1])
        for await (const { message } of db.verify(CLASSES, { settle: 0 })) expect.fail(message)
      })
    }

    it('goes where one end is deleted before it is put back there', async function () {
      const session = db.session()
      const [team, member] = [await session.load(Team, 2), await session.load(Member, 1)]
      member.tied.remove(2)
      member.plain.set(team)
      const removing = await addFault(this, server, { kind: 'write', set: 'act-member', key: 1, skip: 1, delay: 500 })
      const flushing = session.flush({ transactions: 'off' })
      await untilHit(removing, flushing)
      await db.withSession((other) => void other.at(Team, 2).collection('ties').add(1))
      const back = await addFault(this, server, { kind: 'write', set: 'act-member', key: 1, delay: 500 })
      await untilHit(back, flushing)
      await db.session().delete(Member, 1)
      await flushing.catch(() => undefined)
      await server.embedded!.faults.clear()
      for await (const { message } of db.verify(CLASSES, { settle: 0 })) expect.fail(message)
    })
  })
}
