import { expect } from 'chai'
import { Bin, Embeddable, Key, OneToMany, Record, collection, type Database } from 'skein'
import { MODES, type TestServer } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'

@Embeddable()
class Move {
  @Key() id!: number
  @Bin() amount!: number
}

@Record({ set: 'capped-account' })
class Account {
  @Key() id!: number
  @OneToMany(() => Move, { strategy: 'consolidate', cap: { keep: 2, by: 'last' }, eager: false })
  recent = collection<Move>()
  @OneToMany(() => Move, { strategy: 'consolidate', cap: { keep: 3, by: 'first' }, sortKey: ['amount'], eager: false })
  smallest = collection<Move>()
}

const move = (id: number, amount = id): Move => Object.assign(new Move(), { id, amount })

for (const mode of MODES) {
  describe(`a capped collection of which not all is loaded (${mode})`, () => {
    let server: TestServer
    let db: Database
    useDatabase(mode, [Account], (opened) => ({ db, server } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        const { recent, smallest } = session.create(Account, { id: 1 })
        recent.add(move(1), move(2))
        smallest.add(move(1), move(2), move(3))
        return Promise.resolve()
      })
    })

    it('no longer has what its own write made the server drop', async () => {
      const session = db.session()
      const { recent } = await session.load(Account, 1)
      await recent.getMany([1, 2])
      recent.add(move(3))
      await session.flush()
      expect(await recent.contains(1)).to.equal(false)
      expect(await recent.getMany([1, 2, 3])).to.deep.equal([null, move(2), move(3)])
      expect(session.isDirty()).to.equal(false)
    })

    it('no longer has what it moved to where there is no room', async () => {
      const session = db.session()
      const { smallest } = await session.load(Account, 1)
      ;(await smallest.get(1))!.amount = 50
      smallest.add(move(4, 10))
      await session.flush()
      expect(await smallest.get(1)).to.equal(null)
      expect(await smallest.keys()).to.deep.equal([2, 3, 4])
      expect((await smallest.load()).map(({ id }) => id)).to.deep.equal([2, 3, 4])
    })

    it('no longer has what it added where there is no room', async () => {
      const session = db.session()
      const { recent } = await session.load(Account, 1)
      recent.add(move(0))
      await session.flush()
      expect(await recent.get(0)).to.equal(null)
      expect((await recent.load()).map(({ id }) => id)).to.deep.equal([1, 2])
    })

    it('keeps the same instances of what is still there, with what was changed in them', async () => {
      const session = db.session()
      const { recent } = await session.load(Account, 1)
      const second = (await recent.get(2))!
      const third = move(3)
      recent.add(third)
      await session.flush()
      second.amount = 20
      third.amount = 30
      expect(await recent.get(2)).to.equal(second)
      expect(await recent.last(2)).to.have.ordered.members([second, third])
      expect([second.amount, third.amount]).to.deep.equal([20, 30])
      await session.flush()
      expect(await recent.load()).to.have.ordered.members([second, third])
      expect((await db.session().load(Account, 1, { with: ['recent'] })).recent.items).to.deep.equal([
        move(2, 20),
        move(3, 30),
      ])
    })

    it('takes in again what was dropped', async () => {
      const session = db.session()
      const { recent } = await session.load(Account, 1)
      const first = (await recent.get(1))!
      recent.add(move(3))
      await session.flush()
      recent.remove(2, 3)
      recent.add(first)
      await session.flush()
      expect(await db.session().at(Account, 1).collection('recent').keys()).to.deep.equal([1])
      expect(await recent.get(1)).to.equal(first)
    })

    it('asks once for each of what may have been dropped', async () => {
      const session = db.session()
      const { recent } = await session.load(Account, 1)
      recent.add(move(3))
      await session.flush()
      const asked = await server.commands.during(() => recent.get(3))
      expect(asked.commands).to.equal(1)
      expect((await server.commands.during(() => recent.get(3))).commands).to.equal(0)
    })
  })
}
