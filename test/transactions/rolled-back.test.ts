import { expect } from 'chai'
import {
  Bin,
  Companion,
  CountOf,
  Embeddable,
  Key,
  ManyToMany,
  PartialFailureError,
  Record,
  collection,
  type Database,
} from 'skein'
import { need, type TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'
import { addFault } from '../until-hit.js'
import { useDatabase } from '../use-database.js'

@Record({ set: 'undone-account' })
class Account {
  @Key() id!: number
  @Bin() balance!: number
}

@Embeddable()
class Share {
  @Bin() percent!: number
}

/** Changes of its links are transactions with its count, which stays as it is where the link is there. */
@Record({ set: 'undone-holder' })
class Holder {
  @Key() id!: number
  @Companion() @ManyToMany(() => Account, { attributes: () => Share }) accounts = collection<Account, Share>()
  @CountOf('accounts') accountCount = 0
}

describe('the error of a transaction that was rolled back', () => {
  let db: Database
  let server: TestServer
  let namespace: string
  useDatabase('sc', [Account, Holder], (opened) => ({ db, server, namespace } = opened))
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

  it('comes also where one record was to change and a later attempt fails before it sends anything', async function () {
    const { faults, clock } = need(this, server.embedded, 'only the embedded server has faults')
    const hasty = await server.open({ namespace, entities: [Account, Holder], retry: { deadline: 40 } })
    let hits = 1
    for (let skip = 0; hits > 0; skip++) {
      const link = (of: Database, percent: number): Promise<unknown> =>
        of.withSession((session) => void session.at(Holder, skip).collection('accounts').link(1, { percent }))
      await db.session().save(Object.assign(new Holder(), { id: skip }))
      await link(db, 10)
      const fault = await faults.add({ namespace, skip, answer: 4, times: Infinity })
      const isDone = await link(hasty, 20).then(
        () => true,
        () => false,
      )
      hits = await fault.hits()
      await faults.clear()
      // What is committed may be completed by the server, once the transaction has timed out.
      await clock.advance(60)
      if (!isDone) continue
      const share = await db.session().at(Holder, skip).collection('accounts').attributesOf(1)
      expect(share?.percent, `after ${skip} commands`).to.equal(20)
    }
    await hasty.close()
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
