import { expect } from 'chai'
import {
  Bin,
  collection,
  DeletedAt,
  fromPlain,
  Key,
  ManyToMany,
  ManyToOne,
  Record,
  ref,
  toPlain,
  type Database,
  type Session,
} from 'skein'
import { MODES } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'

/** Members and clubs of tenants, under equal keys, linked by records that stay when they are ended. */
@Record({ set: 'lt_member', tenant: true })
class Member {
  @Key() id!: number
  @ManyToMany(() => Club, { through: () => Membership }) clubs = collection<Club, Membership>()
}

@Record({ set: 'lt_club', tenant: true })
class Club {
  @Key() id!: string
  @ManyToMany(() => Member, { through: () => Membership, strategy: 'secondaryIndex' })
  members = collection<Member, Membership>()
}

@Record({ set: 'lt_membership', key: '{member}:{club}', tenant: true })
class Membership {
  @ManyToOne(() => Member, 'clubs') member = ref<Member>()
  @ManyToOne(() => Club, 'members') club = ref<Club>()
  @Bin() role?: string
  @DeletedAt() leftAt?: Date
}

const ALL = [Member, Club, Membership]
const TENANTS = ['acme', 'bolt'] as const
const LATER = (): Date => new Date(Date.now() + 60_000)

for (const mode of MODES) {
  describe(`link records of tenants (${mode})`, () => {
    let db: Database
    useDatabase(mode, ALL, (opened) => ({ db } = opened))
    const of = (tenant: string): Session => db.session({ tenant })
    beforeEach(async () => {
      for (const tenant of TENANTS)
        await db.withSession(
          async (session) => {
            const [one, two] = [1, 2].map((id) => session.create(Member, { id }))
            const [chess, golf] = ['chess', 'golf'].map((id) => session.create(Club, { id }))
            one.clubs.link(chess, { role: `${tenant} head` })
            one.clubs.link(golf, { role: 'guest' })
            two.clubs.link(chess, { role: 'guest' })
          },
          { tenant },
        )
    })
    afterEach(async () => {
      for (const tenant of TENANTS)
        for await (const { message } of db.verify(ALL, { settle: 0, tenant })) expect.fail(`${tenant}: ${message}`)
    })

    it('are asked, walked and changed within their tenant alone', async () => {
      await of('acme').delete(Membership, { member: 1, club: 'golf' })
      for (const [tenant, clubs] of [
        ['acme', ['chess']],
        ['bolt', ['chess', 'golf']],
      ] as const) {
        const session = of(tenant)
        const one = await session.load(Member, 1, { with: ['clubs'] })
        expect(one.clubs.items.map(({ id }) => id)).to.deep.equal(clubs)
        expect((await one.clubs.linkOf('chess'))?.role).to.equal(`${tenant} head`)
        expect((await session.linkOf(Membership, 1, 'chess'))?.role).to.equal(`${tenant} head`)
        expect([await one.clubs.contains('golf'), await one.clubs.count()]).to.deep.equal([
          tenant === 'bolt',
          clubs.length,
        ])
        const { members } = await session.load(Club, 'golf')
        expect([await members.keys(), await members.contains(1)]).to.deep.equal(
          tenant === 'bolt' ? [[1], true] : [[], false],
        )
        const walk = session.walk(Member, 1).out('clubs', { where: { role: 'guest' } })
        expect(await walk.keys()).to.deep.equal(tenant === 'bolt' ? ['golf'] : [])
        expect(await db.scan(Membership, { tenant }).count()).to.equal(tenant === 'bolt' ? 3 : 2)
      }
    })

    it('are ended, restored, purged and deleted with an end within their tenant alone', async () => {
      const acme = of('acme')
      acme.at(Member, 1).collection('clubs').unlink('chess')
      await acme.flush()
      expect(await acme.at(Club, 'chess').collection('members').keys({ deleted: 'only' })).to.deep.equal([1])
      expect(await acme.restore(Membership, { member: 1, club: 'chess' })).to.equal(true)
      acme.at(Member, 1).collection('clubs').unlink('golf')
      await acme.flush()
      for (const tenant of ['bolt', 'acme'])
        expect(await db.purge(Membership, { olderThan: LATER(), tenant })).to.equal(tenant === 'acme' ? 1 : 0)
      await of('acme').delete(Club, 'chess')
      expect(await db.scan(Membership, { tenant: 'acme', deleted: 'include' }).count()).to.equal(0)
      expect(await of('acme').at(Member, 1).collection('clubs').keys({ deleted: 'include' })).to.deep.equal([])
      expect(await db.scan(Membership, { tenant: 'bolt' }).count()).to.equal(3)
    })

    it('are given out as plain objects and taken in again, ended ones too', async () => {
      const session = of('acme')
      const link = (await session.linkOf(Membership, 1, 'chess'))!
      expect(toPlain(link)).to.deep.equal({ member: 1, club: 'chess', role: 'acme head' })
      const one = await session.load(Member, 1, { with: ['clubs'] })
      expect(JSON.parse(JSON.stringify(toPlain(one)))).to.have.property('id', 1)
      one.clubs.unlink('chess')
      await session.flush()
      const ended = (await session.linkOf(Membership, 1, 'chess', { deleted: 'only' }))!
      const plain = toPlain(ended) as { [name: string]: unknown }
      expect(plain).to.include({ member: 1, club: 'chess', role: 'acme head' })
      expect(new Date(plain.leftAt as string).getTime()).to.equal(ended.leftAt!.getTime())

      const made = fromPlain(
        Membership,
        { member: 2, club: 'golf', role: 'new' },
        { relations: 'keys', only: ['member', 'club', 'role'] },
      )
      const other = of('acme')
      await other.save(made)
      expect(await of('acme').at(Member, 2).collection('clubs').keys()).to.have.members(['chess', 'golf'])
      expect(await of('acme').at(Club, 'golf').collection('members').keys()).to.have.members([1, 2])
    })
  })
}
