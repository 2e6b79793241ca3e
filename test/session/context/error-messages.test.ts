import 'reflect-metadata'
import { expect } from 'chai'
import {
  AlreadyExistsError,
  Bin,
  collection,
  Embeddable,
  EntityGoneError,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  open,
  Record,
  ref,
  type Session,
  SkeinError,
} from 'skein'
import { inEachMode } from '../modes.js'
import { rejection } from '../rejection.js'

@Record({ set: 'em_agent' })
class Agent {
  @Key() id!: number
  @Bin() name?: string
  @OneToMany(() => Listing, 'agent') listings = collection<Listing>()
}
@Record({ set: 'em_listing' })
class Listing {
  @Key() id!: number
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
}
@Record({ set: 'em_big' })
class Big {
  @Key({ type: 'bigint' }) id!: bigint
}
@Record({ set: 'em_user' })
class User {
  @Key() id!: number
  @OneToOne(() => Avatar, 'user', { strategy: 'sharedKey', owner: true }) avatar = ref<Avatar>()
}
@Record({ set: 'em_avatar' })
class Avatar {
  @Key() id!: number
  @Bin() image?: string
  @OneToOne(() => User, 'avatar', { strategy: 'sharedKey' }) user = ref<User>()
}
@Embeddable()
class Since {
  @Bin() since?: Date
}
@Record({ set: 'em_member' })
class Member {
  @Key() id!: number
  @ManyToMany(() => Member, { attributes: () => Since }) knows = collection<Member, Since>()
}

inEachMode(
  'an error',
  (bed) => {
    const messageOf = async (work: () => unknown): Promise<string> => ((await rejection(work)) as Error).message

    it('names the fix for common mistakes', async () => {
      const { db } = bed()
      const agent = await db.session().save(Object.assign(new Agent(), { id: bed().freshNumber() }))
      expect(await messageOf(() => db.session().save({ ...agent }))).to.match(/plain object \{ id.*lost its class/)
      expect(await messageOf(() => db.session().find(Agent, { name: 'Alma' }))).to.match(
        /Agent is loaded by its key alone.*Give the value of id.*db\.query\(Agent\)\.where/,
      )
      const load = db.session().load(Agent, 1, { wiht: [] } as never)
      expect(await messageOf(() => load)).to.match(/does not know the option 'wiht'. Did you mean 'with'\?$/)
      const other = db.session().load(Agent, 1, { xyzzy: [] } as never)
      expect(await messageOf(() => other)).to.match(/'xyzzy'\. It takes: only, with/)
      const base = { namespace: 'test', entities: [Agent, Listing] }
      expect(await messageOf(() => open(base))).to.match(/neither hosts nor embedded.*embedded: true/)
    })

    it('refuses an option that its call does not support', async () => {
      const session = bed().db.session()
      const agent = await session.save(Object.assign(new Agent(), { id: bed().freshNumber() }))
      const calls = {
        'upsert() .* version': () => session.upsert(agent, { version: 3 } as never),
        'delete() .* ttl': () => session.delete(agent, { ttl: 3 } as never),
        'delete() .* version': () => session.delete(Agent, agent.id, { version: 3 } as never),
        'refresh() .* transactions': () => session.refresh(agent, { transactions: 'off' } as never),
        'persist() .* version': () => session.persist(agent, { version: 3 } as never),
        'explain() .* signal': () => session.explain(agent, { signal: undefined } as never),
        'verify() .* ttl': () => session.verify(agent, { ttl: 3 } as never),
      }
      for (const [call, work] of Object.entries(calls)) {
        const [name, option] = call.split(' .* ')
        expect(await messageOf(async () => work()), call).to.contain(`${name} does not know the option '${option}'.`)
      }
      expect(await bed().db.session().find(Agent, agent.id)).to.not.equal(null)
    })

    it('refuses attributes of a link that their class does not have', async () => {
      const member = Object.assign(new Member(), { id: bed().freshNumber() })
      member.knows.link(1, { sinse: new Date() } as Since)
      const error = (await rejection(() => bed().db.session().save(member))) as SkeinError
      expect(error.code).to.equal('SKEIN_2310')
      expect(error.message).to.match(/knows have no property 'sinse'. Did you mean 'since'/)
    })

    it('can be written as JSON, whatever its key is', async () => {
      const error = await rejection(() =>
        bed()
          .db.session()
          .load(Big, 2n ** 60n),
      )
      const written = JSON.parse(JSON.stringify({ error })) as { error: SkeinError }
      expect(written.error).to.include({ name: 'NotFoundError', code: 'SKEIN_3001' })
      expect(written.error.details.key).to.equal('1152921504606846976')
      expect(written.error.message).to.include('1152921504606846976n')
    })

    it('shows who called the session unless it was opened without', async () => {
      const call = async (session: Session): Promise<unknown> => rejection(() => whoCalled(session))
      async function whoCalled(session: Session): Promise<void> {
        await session.load(Agent, -1)
      }
      expect(((await call(bed().db.session())) as Error).stack).to.include('whoCalled')
      const plain = await bed().open({ stacks: false })
      expect(((await call(plain.session())) as Error).stack).to.not.include('whoCalled')
      const save = async function whoSaved(): Promise<void> {
        const session = bed().db.session()
        session
          .at(Agent, bed().freshNumber())
          .collection('listings')
          .add(Object.assign(new Listing(), { id: bed().freshNumber() }))
        await session.flush()
      }
      expect(((await rejection(save)) as Error).stack).to.include('whoSaved')
    })

    it('about a taken key is an AlreadyExistsError with and without relations', async () => {
      const { db } = bed()
      const [agent, listing] = [bed().freshNumber(), bed().freshNumber()]
      await db.withSession((session) => {
        session.create(Agent, { id: agent })
        session.create(Listing, { id: listing })
      })
      const alone = db.withSession((session) => session.create(Listing, { id: listing }).id)
      expect(await rejection(() => alone)).to.be.instanceOf(AlreadyExistsError)
      const related = db.withSession((session) => session.create(Listing, { id: listing, agent }).id)
      expect(await rejection(() => related)).to.be.instanceOf(AlreadyExistsError)
      const both = db.withSession((session) => {
        const made = session.create(Agent, { id: bed().freshNumber() })
        made.listings.add(session.create(Listing, { id: listing }))
      })
      const error = (await rejection(() => both)) as { cause?: unknown }
      expect(error instanceof AlreadyExistsError || error.cause instanceof AlreadyExistsError).to.equal(true)
    })

    it('about a record that never existed does not say that it was deleted', async () => {
      const session = bed().db.session()
      const listing = Object.assign(new Listing(), { id: bed().freshNumber() })
      session.at(Agent, bed().freshNumber()).collection('listings').add(listing)
      const error = (await rejection(() => session.flush())) as Error & { cause?: unknown }
      const gone = error instanceof EntityGoneError ? error : error.cause
      expect(gone).to.be.instanceOf(EntityGoneError)
      expect((gone as Error).message)
        .to.match(/is not stored/)
        .and.not.match(/was deleted|has expired/)
    })

    it('of a session that outlived its transaction has the code that the guide names', async function () {
      if (bed().db.capabilities.namespaces[bed().namespace].transactions !== true) this.skip()
      let leaked: Session | undefined
      await bed().db.transaction((session) => {
        leaked = session
      })
      expect(((await rejection(() => leaked!.load(Agent, 1))) as SkeinError).code).to.equal('SKEIN_4304')
      expect(((await rejection(() => leaked!.flush())) as SkeinError).code).to.equal('SKEIN_4304')
      const closed = bed().db.session()
      await closed.close()
      expect(((await rejection(() => closed.flush())) as SkeinError).code).to.equal('SKEIN_2301')
    })
  },
  { entities: [Agent, Listing, Big, User, Avatar, Member] },
)

inEachMode(
  'an entity that shares its key',
  (bed) => {
    it('is deleted with its owner unless told otherwise, and the next owner of the key does not see it', async () => {
      const { db } = bed()
      const id = bed().freshNumber()
      await db.withSession((session) => {
        session.create(User, { id }).avatar.set(Object.assign(new Avatar(), { image: 'old' }))
      })
      await db.session().delete(User, id)
      await db.withSession((session) => session.create(User, { id }).id)
      expect((await db.session().load(User, id, { with: ['avatar'] })).avatar.value).to.equal(null)
      await db.withSession((session) => {
        session.create(Avatar, { id, image: 'new' })
      })
      await db.session().delete(Avatar, id)
      expect(await db.session().find(User, id)).to.not.equal(null)
    })
  },
  { entities: [User, Avatar] },
)
