import { expect } from 'chai'
import type { Database } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { ALL, User, user } from './models.js'

const COUNT = 14
const ROUNDS = 25
const CITIES = ['Bern', 'Basel']
const KINDS = ['friend', 'work']

for (const mode of MODES) {
  describe(`walks through random graphs (${mode})`, () => {
    let db: Database
    useDatabase(mode, ALL, (opened) => ({ db } = opened))

    it('reach what a search by hand reaches, on as many ways', async () => {
      const random = seeded(Number(process.env.SKEIN_SEED ?? 20261116))
      const below = (count: number): number => Math.floor(random() * count)
      const users = Array.from({ length: COUNT }, (_, i) => user(`u${String(i).padStart(2, '0')}`, CITIES[below(2)]))
      const links = new Map(users.map(({ id }) => [id, new Map<string, string>()]))
      for (let i = 0; i < 3 * COUNT; i++) {
        const [from, to, kind] = [users[below(COUNT)], users[below(COUNT)], KINDS[below(2)]]
        if (from === to || links.get(from.id)!.has(to.id)) continue
        from.follows.link(to, { kind })
        links.get(from.id)!.set(to.id, kind)
      }
      await db.withSession(async (session) => users.forEach((each) => void session.persist(each)))
      const cityOf = new Map(users.map(({ id, city }) => [id, city]))

      for (let round = 0; round < ROUNDS; round++) {
        const start = users[below(COUNT)].id
        const hops = Array.from({ length: 1 + below(3) }, () => ({
          kind: below(2) === 0 ? KINDS[below(2)] : undefined,
          city: below(3) === 0 ? CITIES[below(2)] : undefined,
          last: below(4) === 0 ? 1 + below(2) : undefined,
          limit: below(3) === 0 ? 1 + below(4) : undefined,
        }))
        const session = db.session()
        let walk = session.walk(User, start)
        for (const { kind, city, last, limit } of hops)
          walk = walk.out('follows', {
            ...(kind && { where: { kind } }),
            ...(city && { to: { city } }),
            ...(last && { last }),
            ...(limit && { limit }),
          }) as unknown as typeof walk
        const { reached, ways } = byHand(start, hops, links, cityOf)
        const what = JSON.stringify({ start, hops })
        expect(await walk.keys(), what).to.have.members(reached)
        expect(await walk.count(), what).to.equal(reached.length)
        expect(
          (await walk.entities()).map(({ id }) => id),
          what,
        ).to.have.members(reached)
        expect(await walk.paths(), what).to.have.length(ways)
        await session.close()
      }
    })
  })
}

interface HopByHand {
  readonly kind: string | undefined
  readonly city: string | undefined
  readonly last: number | undefined
  readonly limit: number | undefined
}

/** Entities that a walk should reach: each at the first hop that leads to it and does not leave it out, and the number of ways along such hops. */
function byHand(
  start: string,
  hops: readonly HopByHand[],
  links: ReadonlyMap<string, ReadonlyMap<string, string>>,
  cityOf: ReadonlyMap<string, string | undefined>,
): { reached: string[]; ways: number } {
  const seen = new Set([start])
  let level = new Map([[start, 1]])
  for (const { kind, city, last, limit } of hops) {
    const next = new Map<string, number>()
    for (const [from, ways] of level) {
      const led = [...links.get(from)!].filter(([, each]) => kind === undefined || each === kind).map(([to]) => to)
      const chosen = led.sort().slice(last === undefined ? 0 : -last)
      for (const to of chosen) if (!seen.has(to)) next.set(to, (next.get(to) ?? 0) + ways)
    }
    level = new Map([...next].filter(([to]) => city === undefined || cityOf.get(to) === city).slice(0, limit))
    for (const to of level.keys()) seen.add(to)
  }
  return { reached: [...level.keys()], ways: [...level.values()].reduce((sum, each) => sum + each, 0) }
}

/** Numbers from 0 to 1, the same for the same seed: a run that fails must fail again. */
function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
