import { expect } from 'chai'
import { Bin, Key, PartialFailureError, Record, type Database } from 'skein'
import type { TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'
import { addFault } from '../until-hit.js'
import { useDatabase } from '../use-database.js'

@Record({ set: 'undone-account' })
class Account {
  @Key() id!: number
  @Bin() balance!: number
}

describe('the error of a transaction that was rolled back', () => {
  let db: Database
  let server: TestServer
  useDatabase('sc', [Account], (opened) => ({ db, server } = opened))
  beforeEach(() => db.withSession(async (session) => [1, 2].map((id) => session.create(Account, { id, balance: 50 }))))
  afterEach(() => server.embedded?.faults.clear())

  const transfer = (then: (flush: () => Promise<void>) => Promise<unknown>) =>
    db.transaction(async (session) => {
      const [from, to] = await session.loadMany(Account, [1, 2])
      from.balance -= 10
      to.balance += 10
      await then(() => session.flush())
    })

  it('calls no record written', async function () {
    await addFault(this, server, { kind: 'write', set: 'undone-account', key: 2, answer: 8 })
    const error = (await rejection(() => transfer(() => Promise.resolve()))) as PartialFailureError
    expect(error).to.be.instanceOf(PartialFailureError)
    expect(error.records.map(({ key, outcome }) => [key, outcome])).to.deep.equal([
      [1, 'notWritten'],
      [2, 'notWritten'],
    ])
    expect(error.message).to.contain('rolled back').and.to.contain('undone-account/2').and.to.not.contain('Flush again')
    expect((await db.read(Account, [1, 2])).map((account) => account!.balance)).to.deep.equal([50, 50])
  })

  it('is that of the function where this has caught the failure of a flush', async function () {
    await addFault(this, server, { kind: 'write', set: 'undone-account', key: 2, answer: 8 })
    let caught: unknown
    const thrown = new Error('enough')
    const error = await rejection(() =>
      transfer(async (flush) => {
        caught = await rejection(flush)
        throw thrown
      }),
    )
    expect(error).to.equal(thrown)
    expect(caught).to.be.instanceOf(PartialFailureError)
  })
})
