import { expect } from 'chai'
import fc from 'fast-check'
import type { Database, Session } from 'skein'
import { emptySets } from '../../../empty-sets.js'
import { MODES, type TestServer } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'
import { settled } from '../../verify/settled.js'
import { Fan, Film, LINKED, Song } from './several-link-models.js'

const RUNS = { numRuns: Number(process.env.SKEIN_RUNS ?? 8) }

/** Works under equal keys, as links name them. */
const WORKS = ['song:1', 'song:2', 'film:1', 'film:2'] as const
type Work = (typeof WORKS)[number]
const FANS = ['ann', 'bob'] as const

const step = fc.record({
  kind: fc.constantFrom(
    'link' as const,
    'link' as const,
    'unlink' as const,
    'deleteWork' as const,
    'deleteFan' as const,
  ),
  relation: fc.constantFrom('loved' as const, 'listed' as const, 'rented' as const),
  work: fc.constantFrom(...WORKS),
  fan: fc.constantFrom(...FANS),
  isFromWork: fc.boolean(),
  isKey: fc.boolean(),
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

const BACK = { loved: 'lovers', listed: 'listedBy', rented: 'renters' } as const
const classOf = (work: Work) => (work.startsWith('song') ? Song : Film) as typeof Song
const keyOf = (work: Work): number => (work.startsWith('song') ? Number(work.slice(5)) : (work.slice(5) as never))

/** Plain model: the pairs that are linked, and what is there. */
class Plain {
  readonly there = new Set<string>([...WORKS, ...FANS])
  readonly links = { loved: new Set<string>(), listed: new Set<string>(), rented: new Set<string>() }

  apply({ kind, relation, work, fan }: Step): void {
    if (kind === 'deleteWork' || kind === 'deleteFan') return this.#delete(kind === 'deleteWork' ? work : fan)
    if (!this.there.has(work) || !this.there.has(fan)) return
    if (kind === 'link') this.links[relation].add(`${fan} ${work}`)
    else this.links[relation].delete(`${fan} ${work}`)
  }

  #delete(name: string): void {
    this.there.delete(name)
    for (const links of Object.values(this.links))
      for (const link of links) if (link.split(' ').includes(name)) links.delete(link)
  }
}

async function perform(session: Session, { kind, relation, work, fan, isFromWork, isKey }: Step): Promise<void> {
  if (kind === 'deleteWork') return void (await session.delete(classOf(work), keyOf(work)))
  if (kind === 'deleteFan') return void (await session.delete(Fan, fan))
  const [found, person] = [await session.find(classOf(work), keyOf(work)), await session.find(Fan, fan)]
  if (found === null || person === null) return
  const values = relation === 'rented' ? { since: 1 } : { stars: 1 }
  const [from, to] = isFromWork
    ? [found[BACK[relation]], isKey ? fan : person]
    : [person[relation], isKey ? work : found]
  if (kind === 'unlink') from.remove(to as never)
  else if (relation === 'listed') from.add(to as never)
  else from.link(to as never, values as never)
  await session.flush()
}

for (const mode of MODES) {
  describe(`random many-to-many links to several classes by two sessions (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, LINKED, (opened) => ({ db, server } = opened))

    const prepare = async () => {
      await emptySets(db, LINKED)
      await db.withSession((session) => {
        for (const work of WORKS) session.create(classOf(work), { id: keyOf(work) })
        for (const id of FANS) session.create(Fan, { id })
      })
    }
    async function findings(): Promise<string[]> {
      const found: string[] = []
      for await (const { message } of db.verify(LINKED, await settled(server))) found.push(message)
      return found
    }

    it('leave what a plain model says, on both sides', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
          await prepare()
          const plain = new Plain()
          for (const each of steps) {
            await perform(db.session(), each)
            plain.apply(each)
          }
          const session = db.session()
          for (const relation of ['loved', 'listed', 'rented'] as const) {
            const stored: string[] = []
            for (const fan of FANS.filter((name) => plain.there.has(name)))
              for (const key of await session.at(Fan, fan).collection(relation).keys()) stored.push(`${fan} ${key}`)
            expect(stored, relation).to.have.members([...plain.links[relation]])
            const back: string[] = []
            for (const work of WORKS.filter((name) => plain.there.has(name)))
              for (const key of await session.at(classOf(work), keyOf(work)).collection(BACK[relation]).keys())
                back.push(`${key} ${work}`)
            expect(back, BACK[relation]).to.have.members([...plain.links[relation]])
          }
          expect(await findings()).to.deep.equal([])
        }),
        RUNS,
      )
    })

    it('leave both sides in step where sessions change at the same time', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(step, step), { minLength: 3, maxLength: 10 }), async (pairs) => {
          await prepare()
          const sessions = [db.session(), db.session()]
          for (const pair of pairs)
            await Promise.all(
              pair.map(async (each, i) => {
                try {
                  await perform(sessions[i], each)
                } catch {
                  // An end that the other has deleted, or a transaction that met another.
                  sessions[i] = db.session()
                }
              }),
            )
          expect(await findings()).to.deep.equal([])
        }),
        RUNS,
      )
    })
  })
}
