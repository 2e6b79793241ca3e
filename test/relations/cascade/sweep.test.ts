import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  BeforeDelete,
  Bin,
  Key,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  collection,
  ref,
  type Database,
  type Session,
} from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'tenant', tenant: true })
class Tenant {
  @Key() id!: string
  @OneToMany(() => Flat, 'tenant', { onDelete: 'cascade' }) flats = collection<Flat>()
}

@Record({ set: 'flat', tenant: true })
class Flat {
  @Key() id!: string
  @ManyToOne(() => Tenant, 'flats') tenant = ref<Tenant>()
}

@Record({ set: 'bill', key: '{tenant}:{no}', tenant: true })
class Bill {
  @Bin() tenant!: string
  @Bin() no!: number
  @OneToMany(() => Flat, { onDelete: 'cascade' }) flats = collection<Flat>()
}

/** Changes by others while the delete of one record is being finished. */
let meanwhile: (id: number) => Promise<unknown> = () => Promise.resolve()
/** Changes by others between two steps. */
let meanwhilePlayer: () => Promise<unknown> = () => Promise.resolve()

@Record({ set: 'member' })
class Member {
  @Key() id!: number
  @Bin() name?: string
  @OneToOne(() => Card, 'member', { owner: true, onDelete: 'cascade' }) card = ref<Card>()

  @BeforeDelete() async wait(): Promise<void> {
    await meanwhile(this.id)
  }
}

@Record({ set: 'card' })
class Card {
  @Key() id!: number
  @OneToOne(() => Member, 'card') member = ref<Member>()
}

@Record({ set: 'team' })
class Team {
  @Key() id!: number
  @OneToMany(() => Player, 'team', { onDelete: 'cascade' }) players = collection<Player>()

  @BeforeDelete() async wait(): Promise<void> {
    await meanwhile(this.id)
  }
}

@Record({ set: 'player' })
class Player {
  @Key() id!: number
  @ManyToOne(() => Team, 'players') team = ref<Team>()

  @BeforeDelete() async wait(): Promise<void> {
    await meanwhilePlayer()
  }
}

const CLASSES = [Tenant, Flat, Bill, Member, Card, Team, Player]

for (const mode of MODES) {
  describe(`a sweep (${mode})`, () => {
    let namespace: string
    let db: Database
    useDatabase(mode, CLASSES, (opened) => ({ db, namespace } = opened))
    afterEach(() => {
      meanwhile = () => Promise.resolve()
    })

    const mark = (set: string, key: string | number): Promise<unknown> =>
      db.client.operate(new Aerospike.Key(namespace, set, key), [Aerospike.operations.write('_sk.deleting', true)])

    describe('of a class that belongs to tenants', () => {
      const TENANTS = ['acme', 'best']
      const of = (tenant: string): Session => db.session({ tenant })

      beforeEach(async () => {
        for (const tenant of TENANTS) {
          await db.withSession(
            (session) => {
              session.create(Tenant, { id: '1' }).flats.add(session.create(Flat, { id: '1' }))
              session.create(Bill, { tenant, no: 1 }).flats.add(session.create(Flat, { id: '2' }))
              return Promise.resolve()
            },
            { tenant },
          )
        }
      })

      it('finishes what is marked of its own tenant, and leaves the others alone', async () => {
        await mark('tenant', 'best:1')
        expect(await db.sweep(Tenant, { tenant: 'acme' })).to.equal(0)
        expect(await of('acme').find(Tenant, '1')).to.be.instanceOf(Tenant)
        expect(await of('acme').find(Flat, '1')).to.be.instanceOf(Flat)
        expect(await of('best').find(Flat, '1')).to.be.instanceOf(Flat)
        expect(await db.sweep(Tenant, { tenant: 'best' })).to.equal(1)
        expect(await of('best').find(Flat, '1')).to.equal(null)
        expect(await of('acme').find(Flat, '1')).to.be.instanceOf(Flat)
      })

      it('must be given the tenant where the records do not say it', async () => {
        const refusal = await db.sweep(Tenant).catch((error: unknown) => error)
        expect(refusal).to.include({ code: 'SKEIN_2105' })
      })

      it('does the same where the tenant is part of the key', async () => {
        await mark('bill', 'best:1')
        expect(await db.sweep(Bill, { tenant: 'acme' })).to.equal(0)
        expect(await db.sweep(Bill, { tenant: 'best' })).to.equal(1)
        expect(await of('best').find(Flat, '2')).to.equal(null)
        expect(await of('acme').find(Flat, '2')).to.be.instanceOf(Flat)
      })

      it('finishes those of all tenants where the tenant is part of the key and none is given', async () => {
        for (const tenant of TENANTS) await mark('bill', `${tenant}:1`)
        expect(await db.sweep(Bill)).to.equal(2)
        for (const tenant of TENANTS) {
          expect(await of(tenant).find(Bill, { no: 1 })).to.equal(null)
          expect(await of(tenant).find(Flat, '2')).to.equal(null)
        }
      })
    })

    describe('beside others that finish the delete, and store anew under the key', () => {
      const storeMember = (id: number, name: string): Promise<void> =>
        db.withSession((session) => {
          session.create(Member, { id, name }).card.set(session.create(Card, { id }))
          return Promise.resolve()
        })
      const storeTeam = (id: number, ...players: number[]): Promise<void> =>
        db.withSession((session) => {
          session.create(Team, { id }).players.add(...players.map((player) => session.create(Player, { id: player })))
          return Promise.resolve()
        })

      /** Once, for the record of that id as given, or for another one than the hook is called for. */
      function overtake(work: (id: number) => Promise<unknown>): void {
        meanwhile = async (id) => {
          meanwhile = () => Promise.resolve()
          await work(id)
        }
      }

      it('leaves what was stored anew before its turn', async () => {
        for (const id of [1, 2]) {
          await storeMember(id, 'old')
          await mark('member', id)
        }
        overtake(async (id) => {
          await db.session().delete(Member, 3 - id)
          await storeMember(3 - id, 'new')
        })
        expect(await db.sweep(Member)).to.equal(1)
        const left = (await db.session().findMany(Member, [1, 2])).filter((member) => member !== null)
        expect(left.map(({ name }) => name)).to.deep.equal(['new'])
        expect(await db.session().find(Card, left[0].id)).to.be.instanceOf(Card)
      })

      it('leaves what was stored anew in its turn, and what belongs to it', async () => {
        await storeMember(1, 'old')
        await mark('member', 1)
        overtake(async () => {
          await db.session().delete(Member, 1)
          await storeMember(1, 'new')
        })
        expect(await db.sweep(Member)).to.equal(0)
        const member = await db.session().load(Member, 1, { with: ['card'] })
        expect(member.name).to.equal('new')
        expect(member.card.value).to.be.instanceOf(Card)
      })

      it('leaves the members of what was stored anew, also when it deletes in steps', async () => {
        for (const step of [undefined, 1]) {
          const id = step ?? 0
          await storeTeam(id, 10 + id)
          await mark('team', id)
          overtake(async () => {
            await db.session().delete(Team, id)
            await storeTeam(id, 20 + id)
          })
          expect(await db.sweep(Team, { step })).to.equal(0)
          const team = await db.session().load(Team, id, { with: ['players'] })
          expect([...team.players].map((player) => player.id)).to.deep.equal([20 + id])
        }
      })

      it('stops between two steps once it is finished by others', async () => {
        await storeTeam(1, 1, 2, 3)
        await mark('team', 1)
        meanwhilePlayer = async () => {
          meanwhilePlayer = () => Promise.resolve()
          await db.session().delete(Team, 1)
          await storeTeam(1, 4, 5)
        }
        expect(await db.sweep(Team, { step: 2 })).to.equal(0)
        const team = await db.session().load(Team, 1, { with: ['players'] })
        expect([...team.players].map((player) => player.id)).to.deep.equal([4, 5])
      })
    })
  })
}
