import 'reflect-metadata'
import { expect } from 'chai'
import { Bin, collection, Key, ManyToOne, OneToMany, OneToOne, Record, ref, SkeinError } from 'skein'
import { inEachMode } from '../modes.js'
import { rejection } from '../rejection.js'

@Record({ set: 'asagent' })
class Agent {
  @Key() id!: number
  @Bin() name?: string
  @OneToMany(() => Listing, 'agent', { strategy: 'keyList' }) listings = collection<Listing>()
  @OneToOne(() => Badge) badge = ref<Badge>()
}
@Record({ set: 'aslisting' })
class Listing {
  @Key() id!: number
  @Bin() city?: string
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
}
@Record({ set: 'asbadge' })
class Badge {
  @Key() id!: number
}
@Record({ set: 'asline', key: '{agent}:{line}' })
class Line {
  @ManyToOne(() => Agent) agent = ref<Agent>()
  @Key() line!: number
}

inEachMode(
  'a relation',
  (bed) => {
    const agent = async (): Promise<Agent> =>
      bed()
        .db.session()
        .save(Object.assign(new Agent(), { id: bed().freshNumber() }))

    it('takes a key or an entity in create', async () => {
      const { id } = await agent()
      const session = bed().db.session()
      const byKey = session.create(Listing, { id: bed().freshNumber(), agent: id })
      const other = session.create(Agent, { id: bed().freshNumber() })
      const byEntity = session.create(Listing, { id: bed().freshNumber(), agent: other })
      const third = session.create(Agent, { id: bed().freshNumber(), listings: [byKey], badge: null })
      session.create(Line, { agent: other, line: 1 })
      await session.flush()
      const read = bed().db.session()
      expect((await read.load(Listing, byKey.id)).agent.key).to.equal(third.id)
      expect((await read.load(Listing, byEntity.id)).agent.key).to.equal(other.id)
      expect(await (await read.load(Agent, other.id)).listings.keys()).to.deep.equal([byEntity.id])
      expect((await read.load(Line, `${other.id}:1`)).line).to.equal(1)
    })

    it('that was assigned is refused with the call to use instead', async () => {
      const stored = await agent()
      const wrong: [entity: object, message: RegExp][] = [
        [Object.assign(new Listing(), { id: 1, agent: stored }), /Listing\.agent of 1 .*listing\.agent\.set\(/],
        [Object.assign(new Listing(), { id: 1, agent: 17 }), /Listing\.agent of 1 .*listing\.agent\.set\(/],
        [Object.assign(new Listing(), { id: 1, agent: null }), /Listing\.agent of 1 .*listing\.agent\.set\(/],
        [Object.assign(new Agent(), { id: 1, listings: [] }), /Agent\.listings of 1 .*agent\.listings\.add\(/],
        [Object.assign(new Agent(), { id: 1, listings: ref() }), /Agent\.listings of 1 .*agent\.listings\.add\(/],
      ]
      for (const [entity, message] of wrong) {
        for (const call of ['persist', 'save', 'upsert', 'delete'] as const) {
          const session = bed().db.session()
          const error = (await rejection(() => session[call](entity))) as SkeinError
          expect(error.code).to.equal('SKEIN_2411')
          expect(error.message).to.match(message)
          expect(session.isDirty()).to.equal(false)
        }
      }
    })

    it('of a managed entity that was assigned is refused by every call that would send it', async () => {
      const { id } = await agent()
      const assign: ((found: Agent) => void)[] = [
        (found) => ((found as { listings: unknown }).listings = []),
        (found) => ((found as { badge: unknown }).badge = new Badge()),
        (found) => ((found as { badge: unknown }).badge = null),
      ]
      for (const change of assign) {
        for (const call of ['flush', 'save', 'isDirty', 'explain', 'delete'] as const) {
          const session = bed().db.session()
          const found = await session.load(Agent, id)
          change(found)
          const error = (await rejection(() =>
            call === 'flush' ? session.flush() : session[call](found),
          )) as SkeinError
          expect(error.code, `${call} ${String(change)}`).to.equal('SKEIN_2411')
        }
      }
      const session = bed().db.session()
      const made = session.create(Listing, { id: bed().freshNumber() })
      ;(made as { agent: unknown }).agent = id
      expect(((await rejection(() => session.flush())) as SkeinError).code).to.equal('SKEIN_2411')
    })
  },
  { entities: [Agent, Listing, Badge, Line] },
)
