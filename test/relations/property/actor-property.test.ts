import { expect } from 'chai'
import fc from 'fast-check'
import { SkeinError, type Database, type Finding, type Session } from 'skein'
import { emptySets } from '../../empty-sets.js'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { CLASSES, IDS, MANY, Member, Team, line, otherSide, since, storeAll } from './actor-models.js'

// SKEIN_RUNS=200 runs more of them.
const RUNS = { numRuns: Number(process.env.SKEIN_RUNS ?? 6) }

const id = fc.constantFrom(...IDS)
const many = fc.constantFrom(...MANY)
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('add', 'add', 'remove'), many, team: id, member: id }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('point', 'point', 'clear'), many, team: id, member: id }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('captain', 'mark', 'at'), many, team: id, member: id }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('line', 'cut', 'carry'), many, team: id, member: id }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('flush', 'flush', 'explain'), many, team: id, member: id }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('load', 'keys', 'refresh'), many, team: id, member: id }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('drop', 'delete', 'create'), many, team: id, member: id }) },
)
const group = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 2 }),
  isKey: fc.boolean(),
  ofTeam: fc.boolean(),
  givesUp: fc.boolean(),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
type Group = typeof group extends fc.Arbitrary<infer T> ? T : never

/** A session among several: what it does, and whether it gave up a flush that failed. */
class Actor {
  readonly #session: Session
  hasGivenUp = false

  constructor(db: Database) {
    this.#session = db.session()
  }

  async act(groups: readonly Group[]): Promise<void> {
    for (const { steps, givesUp, ...how } of groups) {
      const results = await Promise.allSettled(steps.map((each) => this.#take(each, how)))
      const failed = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
      for (const error of failed) if (!(error instanceof SkeinError)) throw error
      if (failed.length > 0 && givesUp) this.#giveUp()
    }
    for (let tries = 0; tries < 3; tries++) {
      try {
        await this.#session.flush()
        return void expect(this.#session.isDirty()).to.equal(false)
      } catch (error) {
        if (!(error instanceof SkeinError)) throw error
      }
    }
    this.#giveUp()
  }

  #giveUp(): void {
    this.#session.clear()
    this.hasGivenUp = true
  }

  async #take(made: Step, { isKey, ofTeam }: Pick<Group, 'isKey' | 'ofTeam'>): Promise<unknown> {
    const session = this.#session
    if (made.do === 'flush') return session.flush()
    if (made.do === 'explain') return session.explain()
    const [team, member] = [await session.find(Team, made.team), await session.find(Member, made.member)]
    const one = ofTeam ? team : member
    if (made.do === 'create' && one === null)
      return ofTeam ? session.create(Team, { id: made.team }) : session.create(Member, { id: made.member })
    if (made.do === 'at') return session.at(Team, made.team).collection('plains').add(made.member)
    if (team === null || member === null) return undefined
    if (made.do === 'drop') return void session.remove(one!)
    if (made.do === 'delete') return session.delete(one!)
    if (made.do === 'refresh') return session.refresh(one!)
    if (made.do === 'load') return team[made.many].load()
    if (made.do === 'keys') return team[made.many].keys()
    return this.#change(made, team, member, isKey)
  }

  async #change({ do: what, many: name, team: no }: Step, team: Team, member: Member, isKey: boolean): Promise<void> {
    const to = isKey ? member.id : member
    if (what === 'add' && name === 'links') team.links.link(to, since(2026))
    else if (what === 'add') team[name].add(to)
    else if (what === 'remove') team[name].remove(to)
    else if (what === 'point' || what === 'clear') point(member, name, what === 'clear' ? null : isKey ? no : team)
    else if (what === 'captain') team.captain.set(isKey ? null : member)
    else if (what === 'mark') team.mark.by.set(isKey ? null : member)
    else if (what === 'line') team.lines.add(line(`l${member.id}`, member))
    else if (what === 'cut') team.lines.remove(`l${member.id}`)
    else if (what === 'carry') {
      const carried = await team.lines.get(`l${member.id}`)
      const other = await this.#session.find(Team, (no % IDS.length) + 1)
      if (carried === null || other === null) return
      team.lines.remove(carried)
      other.lines.add(carried)
    }
  }
}

/** Makes the same change on the other side. */
function point(member: Member, name: (typeof MANY)[number], team: Team | number | null): void {
  const side = otherSide(member, name)
  if ('set' in side) return side.set(team)
  if (team === null) side.remove(1)
  else if (name === 'links') side.link(team, since(2025))
  else side.add(team)
}

for (const mode of MODES) {
  describe(`several sessions at random, with parallel calls and flushes that are given up (${mode})`, function () {
    this.timeout(RUNS.numRuns * 8000)
    let db: Database
    useDatabase(mode, CLASSES, (opened) => ({ db } = opened))
    const findings = async (repair = false): Promise<Finding[]> => {
      const found: Finding[] = []
      for await (const finding of db.verify(CLASSES, { settle: 0, repair })) found.push(finding)
      return found
    }
    /** References inside records are not checked against a delete that runs at the same time. */
    const isInside = ({ kind, partKey, property }: Finding): boolean =>
      kind === 'danglingKey' && (partKey !== undefined || property?.startsWith('mark') === true)

    it('leave two sides that agree; what stages leave of a flush that was given up is repaired', async () => {
      const actors = fc.array(fc.array(group, { minLength: 2, maxLength: 12 }), { minLength: 3, maxLength: 3 })
      await fc.assert(
        fc.asyncProperty(actors, async (all) => {
          await emptySets(db, CLASSES)
          await storeAll(db)
          const sessions = all.map(() => new Actor(db))
          // All of them end before the next run begins, also after one that fails.
          const ends = await Promise.allSettled(sessions.map((actor, i) => actor.act(all[i])))
          for (const end of ends) if (end.status === 'rejected') throw end.reason
          const mayBeHalf = mode === 'ap' && sessions.some(({ hasGivenUp }) => hasGivenUp)
          for (const one of CLASSES) {
            const swept = await db.sweep(one)
            if (!mayBeHalf) expect(swept).to.equal(0)
          }
          const wrong = (await findings()).filter((finding) => !isInside(finding))
          if (!mayBeHalf) expect(wrong.map(({ message }) => message)).to.deep.equal([])
          for (let round = 0; round < 3 && (await findings(true)).length > 0; round++);
          expect((await findings()).map(({ message }) => message)).to.deep.equal([])
        }),
        RUNS,
      )
    })
  })
}
