import { expect } from 'chai'
import { SkeinError } from 'skein'
import { Account } from '../models.js'
import { inEachMode, type Bed } from '../modes.js'
import { rejection } from '../rejection.js'

const account = (bed: Bed): Account => Object.assign(new Account(), { id: bed.freshNumber(), owner: 'Ada' })

/** The error names the entity that could not be changed, and says that its record is written. */
function expectNamed(error: unknown, { id }: Account): void {
  expect(error).to.be.instanceOf(SkeinError)
  const { code, message, details } = error as SkeinError
  expect([code, details.className, details.key]).to.deep.equal(['SKEIN_2204', 'Account', id])
  expect(message).to.contain('was written')
}

inEachMode('an entity that cannot show its new state', (bed) => {
  it('does not keep the others of its flush from doing so', async () => {
    const session = bed().db.session()
    const frozen = session.persist(Object.freeze(account(bed())))
    const others = [session.persist(account(bed())), session.persist(account(bed()))]
    expectNamed(await rejection(() => session.flush()), frozen)
    for (const other of others) expect([other.version, session.isDirty(other)]).to.deep.equal([1, false])
    expect(session.isDirty()).to.equal(false)
    await session.flush()
    expect(await bed().db.session().find(Account, frozen.id)).to.not.equal(null)
  })

  it('is named by the error of its save, and can be deleted', async () => {
    const session = bed().db.session()
    const frozen = Object.freeze(account(bed()))
    expectNamed(await rejection(() => session.save(frozen)), frozen)
    expect(session.isDirty(frozen)).to.equal(false)
    expect(await session.delete(frozen)).to.equal(true)
  })
})
