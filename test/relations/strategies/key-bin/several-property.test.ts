import { expect } from 'chai'
import fc from 'fast-check'
import type { Database, Session } from 'skein'
import { emptySets } from '../../../empty-sets.js'
import { MODES, type TestServer } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'
import { settled } from '../../verify/settled.js'
import { Article, OWNED, Picture, Remark, Vote } from './several-owners.js'

const RUNS = { numRuns: Number(process.env.SKEIN_RUNS ?? 12) }

/** Owners under equal keys, as references name them. */
const OWNERS = ['article:1', 'article:2', 'picture:1', 'picture:2'] as const
type Owner = (typeof OWNERS)[number]
const MEMBERS = [1, 2, 3, 4]

const owner = fc.constantFrom(...OWNERS)
const member = fc.constantFrom(...MEMBERS)
const step = fc.record({
  kind: fc.constantFrom(
    'set' as const,
    'set' as const,
    'add' as const,
    'remove' as const,
    'clear' as const,
    'delete' as const,
  ),
  relation: fc.constantFrom('remarks' as const, 'votes' as const),
  owner,
  member,
  isKey: fc.boolean(),
  isSecond: fc.boolean(),
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** Plain model: the owner of each member, and the owners that are there. */
class Plain {
  readonly owners = new Set<Owner>(OWNERS)
  readonly of = { remarks: new Map<number, Owner>(), votes: new Map<number, Owner>() }

  apply({ kind, relation, owner: to, member: id }: Step): void {
    const owners = this.of[relation]
    if (kind === 'delete') return this.#delete(to)
    if (!this.owners.has(to) && kind !== 'clear') return
    if (relation === 'votes' && !this.#votes.has(id)) return
    if (kind === 'set' || kind === 'add') owners.set(id, to)
    else if (kind === 'clear' || owners.get(id) === to) owners.delete(id)
  }

  readonly #votes = new Set(MEMBERS)

  get votes(): ReadonlySet<number> {
    return this.#votes
  }

  #delete(to: Owner): void {
    this.owners.delete(to)
    for (const [id, at] of this.of.remarks) if (at === to) this.of.remarks.delete(id)
    for (const [id, at] of this.of.votes)
      if (at === to) {
        this.of.votes.delete(id)
        this.#votes.delete(id)
      }
  }
}

const classOf = (to: Owner) => (to.startsWith('article') ? Article : Picture)
const keyOf = (to: Owner): number | string => (to.startsWith('article') ? Number(to.slice(8)) : to.slice(8))

async function perform(session: Session, { kind, relation, owner: to, member: id, isKey }: Step): Promise<void> {
  const Class = classOf(to) as typeof Article
  const key = keyOf(to) as number
  if (kind === 'delete') return void (await session.delete(Class, key))
  const found = await session.find(relation === 'remarks' ? Remark : Vote, id)
  const parent = await session.find(Class, key)
  if (found === null) return
  if (kind === 'clear') found.subject.set(null)
  else if (parent === null) return
  else if (kind === 'set') found.subject.set(isKey ? to : parent)
  else parent[relation][kind](isKey ? id : found)
  await session.flush()
}

for (const mode of MODES) {
  describe(`random changes of references to several classes by two sessions (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, OWNED, (opened) => ({ db, server } = opened))

    const prepare = () =>
      db.withSession((session) => {
        for (const to of OWNERS) session.create(classOf(to) as typeof Article, { id: keyOf(to) as number })
        for (const id of MEMBERS) {
          session.create(Remark, { id })
          session.create(Vote, { id })
        }
      })

    async function findings(): Promise<string[]> {
      const found: string[] = []
      for await (const { message } of db.verify(OWNED, await settled(server))) found.push(message)
      return found
    }

    it('leave what a plain model says, on both sides', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
          await emptySets(db, OWNED)
          await prepare()
          const plain = new Plain()
          const sessions = [db.session(), db.session()]
          for (const each of steps) {
            const session = sessions[Number(each.isSecond)]
            // Changes of the other session are read again; the rest is known.
            session.clear()
            await perform(session, each)
            plain.apply(each)
          }
          const session = db.session()
          for (const [relation, Class] of [
            ['remarks', Remark],
            ['votes', Vote],
          ] as const) {
            for (const id of MEMBERS) {
              const found = await session.find(Class, id)
              if (relation === 'remarks' || plain.votes.has(id))
                expect(found?.subject.key ?? null).to.equal(plain.of[relation].get(id) ?? null)
              else expect(found).to.equal(null)
            }
            for (const to of plain.owners) {
              const parent = await session.load(classOf(to) as typeof Article, keyOf(to) as number)
              const own = MEMBERS.filter((id) => plain.of[relation].get(id) === to)
              expect([...(await parent[relation].keys())].sort(), `${relation} of ${to}`).to.deep.equal(own)
            }
          }
          expect(await findings()).to.deep.equal([])
        }),
        RUNS,
      )
    })

    it('leave both sides in step where sessions know what is no longer so, or change at the same time', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(step, step), { minLength: 3, maxLength: 10 }), async (pairs) => {
          await emptySets(db, OWNED)
          await prepare()
          const sessions = [db.session(), db.session()]
          for (const pair of pairs)
            await Promise.all(
              pair.map(async (each, i) => {
                try {
                  await perform(sessions[i], each)
                } catch {
                  // An owner or member that the other has deleted, or a transaction that met another.
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
