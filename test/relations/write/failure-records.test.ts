import { expect } from 'chai'
import { Bin, Key, ManyToOne, OneToMany, PartialFailureError, Record, collection, ref, type Database } from 'skein'
import { MODES } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'told-agent' })
class Agent {
  @Key() id!: number
  @OneToMany(() => Listing, 'agent') listings = collection<Listing>()
}

@Record({ set: 'told-listing' })
class Listing {
  @Key() id!: number
  @Bin() city?: string
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
}

const CLASSES = [Agent, Listing]
const MISSING = 99

for (const mode of MODES) {
  describe(`the error of a flush that failed part of the way (${mode})`, () => {
    let db: Database
    useDatabase(mode, CLASSES, (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        session.create(Agent, { id: 1 })
        for (const id of [1, 2]) session.create(Listing, { id })
        return Promise.resolve()
      })
    })

    const failure = async (change: (session: ReturnType<Database['session']>) => Promise<void>) => {
      const session = db.session()
      await change(session)
      const error = await rejection(() => session.flush({ transactions: 'off' }))
      expect(error).to.be.instanceOf(PartialFailureError)
      return error as PartialFailureError
    }
    const told = ({ records }: PartialFailureError): unknown =>
      records.map(({ className, key, outcome }) => [className, key, outcome])

    it('lists each record once, and what was undone as not written', async () => {
      const error = await failure((session) => {
        session.at(Agent, MISSING).collection('listings').add(1)
        return Promise.resolve()
      })
      expect(told(error)).to.deep.equal([
        ['Listing', 1, 'notWritten'],
        ['Agent', MISSING, 'notWritten'],
      ])
      expect((await db.session().load(Listing, 1)).agent.key).to.equal(null)
    })

    it('lists a record as written whose own values are, though its link was rolled back', async () => {
      const error = await failure(async (session) => {
        const [first, second] = await session.loadMany(Listing, [1, 2])
        first.city = 'Lund'
        first.agent.set(MISSING)
        second.agent.set(1)
        session.create(Listing, { id: 3 }).agent.set(MISSING)
      })
      expect(told(error)).to.have.deep.members([
        ['Listing', 1, 'written'],
        ['Listing', 2, 'written'],
        ['Listing', 3, 'written'],
        ['Agent', 1, 'written'],
        ['Agent', MISSING, 'notWritten'],
      ])
      expect((await db.session().load(Listing, 1)).city).to.equal('Lund')
    })

    it('lists a new record as partly written when it is stored and its links are not', async () => {
      const error = await failure((session) => {
        const agent = session.create(Agent, { id: 7 })
        agent.listings.add(Object.assign(new Listing(), { id: 1 }))
        return Promise.resolve()
      })
      expect(told(error)).to.have.deep.members([
        ['Agent', 7, 'partlyWritten'],
        ['Listing', 1, 'notWritten'],
      ])
      expect(error.message).to.match(/^1 of 2 records were not written, 1 only in part:\n/)
      expect(error.message).to.match(/write Agent .*: only in part: not sent, because/)
      expect(await db.session().find(Agent, 7)).to.not.equal(null)
    })

    it('says what to do in a line of its own', async () => {
      const { message } = await failure((session) => {
        session.at(Agent, MISSING).collection('listings').add(1)
        return Promise.resolve()
      })
      const lines = message.split('\n')
      expect(lines[0]).to.equal('2 of 2 records were not written:')
      expect(lines[1]).to.match(
        /^ {2}write Listing .*: rolled back, because a record that changes together with it has failed\.$/,
      )
      expect(lines[2]).to.match(/^ {2}write Agent .*\.$/)
      expect(lines[3]).to.equal('Flush again to complete it once the cause is gone.')
    })
  })
}
