import 'reflect-metadata'
import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  Bin,
  collection,
  Embeddable,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  ref,
  type Database,
  type Finding,
  SkeinError,
} from 'skein'
import { MODES } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { useDatabase } from '../../../use-database.js'

@Embeddable()
class Since {
  @Bin() note?: string
}
@Record({ set: 'fl_agent' })
class Agent {
  @Key() id!: number
  @OneToMany(() => Listing, 'agent', { strategy: 'keyList' }) listings = collection<Listing>()
  @ManyToMany(() => Tag, 'agents', { owner: true, attributes: () => Since }) tags = collection<Tag, Since>()
  @ManyToMany(() => Tag) plain = collection<Tag>()
  @OneToOne(() => Passport, 'agent') passport = ref<Passport>()
}
@Record({ set: 'fl_listing' })
class Listing {
  @Key() id!: number
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
}
@Record({ set: 'fl_passport' })
class Passport {
  @Key() id!: number
  @OneToOne(() => Agent, 'passport', { owner: true }) agent = ref<Agent>()
}
@Record({ set: 'fl_tag' })
class Tag {
  @Key() id!: number
  @ManyToMany(() => Agent, 'tags', { attributes: () => Since }) agents = collection<Agent, Since>()
}

for (const mode of MODES) {
  describe(`a relation whose bin another program has written (${mode})`, () => {
    let db: Database
    let namespace: string
    useDatabase(mode, [Agent, Listing, Tag, Passport], (opened) => ({ db, namespace } = opened))
    const put = (set: string, id: number, bins: object): Promise<unknown> =>
      db.client.put(new Aerospike.Key(namespace, set, id), { id, ...bins } as never)

    const wrong: ['listings' | 'tags' | 'plain', unknown][] = [
      ['listings', 'text'],
      ['listings', 5],
      ['listings', { a: 1 }],
      ['listings', ['3', '5']],
      ['listings', [null]],
      ['listings', [[1]]],
      ['listings', [3.5]],
      ['plain', 'text'],
      ['tags', 'text'],
      ['tags', [1, 2]],
      ['tags', { a: {} }],
    ]
    for (const [property, stored] of wrong) {
      it(`is refused with class, property and key when ${property} is ${JSON.stringify(stored)}`, async () => {
        await put('fl_agent', 2, { [property]: stored })
        const calls: (() => Promise<unknown>)[] = [
          () => db.session().load(Agent, 2, { with: [property] }),
          async () => (await db.session().load(Agent, 2))[property].load(),
          async () => (await db.session().load(Agent, 2))[property].keys(),
          async () => (await db.session().load(Agent, 2))[property].page({ offset: 0, count: 2 }),
        ]
        for (const call of calls) {
          const error = await rejection(call)
          expect(error, String(call)).to.be.instanceOf(SkeinError)
          expect((error as SkeinError).code, String(call)).to.equal('SKEIN_3101')
          expect((error as SkeinError).message).to.match(new RegExp(`Agent\\.${property}`))
        }
      })
    }

    it('is reported by verify', async () => {
      await put('fl_agent', 1, { listings: [], plain: [], tags: {} })
      await put('fl_agent', 2, { listings: 'text', plain: { a: 1 }, tags: [1] })
      const findings: Finding[] = []
      for await (const finding of db.verify(Agent, { settle: 0 })) findings.push(finding)
      const session = db.session()
      const ofOne = await session.verify(await session.load(Agent, 2), { settle: 0 })
      const [links, layouts] = [true, false].map((isLink) =>
        findings.filter(({ kind }) => (kind !== 'wrongLayout') === isLink),
      )
      expect(layouts.map(({ key, property }) => [key, property])).to.have.deep.members([
        [1, 'listings'],
        [1, 'plain'],
      ])
      for (const found of [links, ofOne])
        expect(found.map(({ kind, key, property }) => [kind, key, property])).to.have.deep.members([
          ['unreadable', 2, 'listings'],
          ['unreadable', 2, 'plain'],
          ['unreadable', 2, 'tags'],
        ])
    })

    it('is reported by verify of a record that is read alone', async () => {
      await put('fl_agent', 2, { listings: 'text', plain: { a: 1 }, tags: [1] })
      const findings: Finding[] = []
      for await (const finding of db.verify(Agent, { settle: 0 })) findings.push(finding)
      expect(findings.map(({ property }) => property)).to.have.members(['listings', 'plain', 'tags'])
    })

    it('is looked at as a whole by verify when a long list was created unordered', async () => {
      // Missing members stand where a page that begins after the last key of the one before would not look.
      await put('fl_agent', 3, { plain: [...Array.from({ length: 500 }, (_, i) => 1000 - i), 7, 3000] })
      const missing: unknown[] = []
      for await (const { kind, otherKey } of db.verify(Agent, { settle: 0 }))
        missing.push(`${kind} ${String(otherKey)}`)
      expect(missing).to.have.length(503)
      expect(missing).to.include.members([
        'wrongLayout undefined',
        'danglingKey 7',
        'danglingKey 3000',
        'danglingKey 501',
      ])
    })

    it('is refused when a reference holds no key of its class', async () => {
      for (const agent of ['text', 3.5, [1]]) {
        await put('fl_listing', 7, { agent })
        const error = (await rejection(() => db.session().load(Listing, 7))) as SkeinError
        expect(error.code).to.equal('SKEIN_3101')
        expect(error.message).to.include('Listing.agent of 7').and.include('not a key of Agent')
        expect(error.details).to.include({ className: 'Listing', property: 'agent', key: 7 })
      }
    })

    it('is reported by verify when a reference holds no key of its class', async () => {
      await put('fl_agent', 1, {})
      await put('fl_listing', 6, {})
      for (const agent of ['text', 3.5, [1], [1, 2], { a: 1 }]) {
        await put('fl_listing', 7, { agent })
        await put('fl_passport', 8, { agent })
        const findings: Finding[] = []
        for await (const finding of db.verify([Listing, Passport], { settle: 0, repair: true })) findings.push(finding)
        expect(
          findings.map(({ kind, className, key, property, state }) => [kind, className, key, property, state]),
        ).to.have.deep.members([
          ['unreadable', 'Listing', 7, 'agent', 'found'],
          ['unreadable', 'Passport', 8, 'agent', 'found'],
        ])
        const session = db.session()
        const ofOne = await session.verify(await session.load(Listing, 7, { only: [] }), { settle: 0 })
        expect(ofOne.map(({ kind, key, property }) => [kind, key, property])).to.deep.equal([
          ['unreadable', 7, 'agent'],
        ])
        expect(findings[0].error).to.include({ code: 'SKEIN_3101' })
      }
    })
  })
}
