import { expect } from 'chai'
import { Bin, Counter, Key, PartialFailureError, Record, Version, VersionConflictError } from 'skein'
import { need } from '../server.js'
import { CLASSES, Ticket } from './models.js'
import { inEachMode } from './modes.js'
import { rejection } from './rejection.js'

@Record({ set: 'tally' })
class Tally {
  @Key() id!: number
  @Bin() state?: string
  @Counter() count: number = 0
  @Bin({ type: { list: 'string' } }) marks?: string[]
  @Version() version?: number
}

@Record({ set: 'claim' })
class Claim {
  @Key() name!: string
}

const isInDoubt = (error: unknown): boolean =>
  error instanceof PartialFailureError && error.records.every(({ outcome }) => outcome === 'inDoubt')

inEachMode(
  'a write whose answer is lost, while another session makes the same change',
  (bed) => {
    /** The next write to the set never arrives, and nobody is told. */
    const loseNext = (context: Mocha.Context, set: string): Promise<unknown> => {
      const { faults } = need(context, bed().server.embedded, 'only the embedded server makes faults')
      return faults.add({ kind: 'write', set, drop: true, times: 1 })
    }

    async function bothLoaded(): Promise<[Tally, () => Promise<void>, Tally, () => Promise<void>]> {
      const [mine, theirs] = [bed().db.session(), bed().db.session()]
      const { id } = await mine.save(Object.assign(new Tally(), { id: bed().freshNumber(), marks: ['q'] }))
      const [a, b] = [await mine.load(Tally, id), await theirs.load(Tally, id)]
      return [a, () => mine.flush(), b, () => theirs.flush()]
    }

    const stored = (id: number): Promise<Tally> => bed().db.session().load(Tally, id)

    it('is never taken for done when it counts or appends: one of the two would be lost', async function () {
      const [a, saveA, b, saveB] = await bothLoaded()
      for (const one of [a, b]) {
        one.count += 1
        one.marks!.push('z')
      }
      await saveB()
      await loseNext(this, 'tally')
      const error = await rejection(saveA)
      expect(isInDoubt(error), String(error)).to.equal(true)
      expect((error as Error).message).to.contain('refresh the entity')
      expect(await rejection(saveA)).to.be.instanceOf(VersionConflictError)
      expect(await stored(a.id)).to.deep.include({ count: 1, marks: ['q', 'z'], version: 2 })
    })

    it('is not taken for done under a version: both would believe that they were first', async function () {
      const [a, saveA, b, saveB] = await bothLoaded()
      a.state = b.state = 'taken'
      await saveB()
      await loseNext(this, 'tally')
      expect(isInDoubt(await rejection(saveA))).to.equal(true)
      // The record is as wanted, and that is all that a second flush is asked for.
      await saveA()
      expect([a.version, (await stored(a.id)).version]).to.deep.equal([2, 2])
    })

    it('is not taken for done when it creates: both would believe that it is theirs', async function () {
      const name = bed().fresh()
      await bed().db.session().save(Object.assign(new Claim(), { name }))
      await loseNext(this, 'claim')
      const session = bed().db.session()
      session.create(Claim, { name })
      expect(isInDoubt(await rejection(() => session.flush()))).to.equal(true)
      await session.flush()
      expect(session.isDirty()).to.equal(false)
    })

    it('is found out about at once when its key was made for it, which nobody else can have', async function () {
      const { faults } = need(this, bed().server.embedded, 'only the embedded server makes faults')
      await faults.add({ kind: 'write', set: 'ticket', drop: true, after: true, times: 1 })
      const ticket = await bed()
        .db.session()
        .save(Object.assign(new Ticket(), { title: 'mine' }))
      expect((await bed().db.session().load(Ticket, ticket.id)).title).to.equal('mine')
    })
  },
  { entities: [...CLASSES, Tally, Claim] },
)
