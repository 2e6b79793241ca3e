import { expect } from 'chai'
import {
  Bin,
  Embeddable,
  Index,
  Key,
  ManyToMany,
  OneToMany,
  Record,
  collection,
  compileModel,
  type Database,
} from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

const unique = `qh${process.pid}${Date.now() % 1e6}`

@Embeddable()
class Since {
  @Bin({ type: 'int' }) year!: number
}

@Record({ set: `${unique}u` })
class User {
  @Key() id!: string
  @Bin() name!: string
  @Index() @ManyToMany(() => User, 'followers', { owner: true }) follows = collection<User>()
  @ManyToMany(() => User, 'follows') followers = collection<User>()
  @Index() @ManyToMany(() => Club, 'members', { owner: true, attributes: () => Since }) clubs = collection<
    Club,
    Since
  >()
}

@Record({ set: `${unique}c` })
class Club {
  @Key() id!: number
  @ManyToMany(() => User, 'clubs', { attributes: () => Since }) members = collection<User, Since>()
}

for (const mode of MODES) {
  describe(`which records have a member (${mode})`, () => {
    let db: Database
    useDatabase(mode, [User, Club], (opened) => ({ db } = opened))

    beforeEach(() =>
      db.withSession(async (session) => {
        const [anna, bob, cleo] = ['anna', 'bob', 'cleo'].map((id) => session.create(User, { id, name: id }))
        const club = session.create(Club, { id: 7 })
        anna.follows.add(bob, cleo)
        cleo.follows.add(bob)
        bob.clubs.link(club, Object.assign(new Since(), { year: 2020 }))
      }),
    )

    it('is found by an index on a list of keys', async () => {
      const fans = db.query(User).whereHas('follows', 'bob')
      expect((await fans.keys()).sort()).to.deep.equal(['anna', 'cleo'])
      expect(fans.explain().index).to.match(/follows_items$/)
      expect(await db.query(User).whereHas('follows', 'bob').whereHas('follows', 'cleo').keys()).to.deep.equal(['anna'])
      expect((await db.query(User).whereHasAny('follows', ['bob', 'cleo']).keys()).sort()).to.deep.equal([
        'anna',
        'cleo',
      ])
      expect(await db.query(User).whereHas('follows', 'bob').where({ name: 'cleo' }).count()).to.equal(1)
    })

    it('is found by an entity, and by an index on the keys of a map', async () => {
      const session = db.session()
      const club = await session.load(Club, 7)
      expect(await session.query(User).whereHas('clubs', club).keys()).to.deep.equal(['bob'])
      expect(session.query(User).whereHas('clubs', club).explain().index).to.match(/clubs_keys$/)
      await session.close()
    })

    it('needs an index or a scan', async () => {
      const error = await db
        .query(User)
        .whereHas('followers', 'anna')
        .keys()
        .catch((e: unknown) => e)
      expect(error).to.have.property('code', 'SKEIN_2511')
      expect((await db.query(User).whereHas('followers', 'anna').scan().keys()).sort()).to.deep.equal(['bob', 'cleo'])
      expect(() => db.query(User).whereHas('folows' as 'follows', 'x')).to.throw(/no collection 'folows'/)
      expect(() => db.query(User).whereHas('follows', 5)).to.throw(/string/)
    })

    it('asks the index that finds the fewest records, as the server tells', async () => {
      await db.withSession(async (session) => {
        for (let i = 0; i < 60; i++)
          session.create(User, { id: `u${i}`, name: 'x' }).follows.add('bob', `u${(i + 1) % 60}`)
      })
      const query = db.query(User).whereHas('follows', 'bob').whereHas('clubs', 7)
      await query.count()
      expect(query.explain().index).to.match(/clubs_keys$/)
    })
  })
}

describe('@Index on a relation', () => {
  it('is refused where the relation stores no keys', () => {
    @Record({ set: 'child' })
    class Child {
      @Key() id!: number
      @Bin({ type: 'int' }) parent!: number
    }
    @Embeddable()
    class Part {
      @Key() id!: number
    }
    @Record({ set: 'parent' })
    class Parent {
      @Key() id!: number
      @Index() @OneToMany(() => Part, { strategy: 'consolidate' }) parts = collection<Part>()
    }
    expect(() => compileModel([Parent, Child], { namespace: 'test' })).to.throw(/stores no keys here/)
  })
})
