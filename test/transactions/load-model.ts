import { EntityGoneError, type Database } from 'skein'
import { Agent, Listing, User, agent, listing, user } from '../relations/models.js'

const AGENTS = 8
const LISTINGS = 64
const USERS = 64
export const WORKERS = 16

/** Numbers that look random and are the same in every run. */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** What one worker alone decides, and therefore must find again: where its listings are, whom its users follow, who is gone. */
class Expectations {
  /** For each fact the values it may have; after an acknowledged operation that is one. */
  readonly #facts = new Map<string, ReadonlySet<unknown>>()

  done(fact: string, value: unknown): void {
    this.#facts.set(fact, new Set([value]))
  }

  unsure(fact: string, value: unknown): void {
    this.#facts.set(fact, new Set([...(this.#facts.get(fact) ?? [undefined]), value]))
  }

  isSure(fact: string, value: unknown): boolean {
    const values = this.#facts.get(fact)
    return values?.size === 1 && values.has(value)
  }

  /** Facts whose value is none of those expected. */
  broken(actual: (fact: string) => unknown): string[] {
    return [...this.#facts].flatMap(([fact, values]) => {
      const now = actual(fact)
      if (now === undefined) return []
      return values.has(now) || values.has(undefined)
        ? []
        : [`${fact} is ${JSON.stringify(now)}, not ${[...values].join(' or ')}`]
    })
  }
}

export interface LoadResult {
  readonly operations: number
  readonly acknowledged: number
  readonly failed: number
  readonly expectations: Expectations
}

export async function fill(db: Database): Promise<void> {
  const session = db.session()
  const agents = Array.from({ length: AGENTS }, (_, i) => session.persist(agent(i)))
  for (let i = 0; i < LISTINGS; i++) agents[i % AGENTS].listings.add(listing(`l${i}`))
  for (let i = 0; i < USERS; i++) session.persist(user(i))
  await session.flush({ transactions: 'off' })
}

/** Workers that move listings, follow, unfollow and delete users, all at once; `disturb` is called before each operation. */
export async function runLoad(db: Database, total: number, disturb: (n: number) => Promise<void>): Promise<LoadResult> {
  const expectations = new Expectations()
  let begun = 0
  let acknowledged = 0
  let failed = 0

  async function worker(number: number): Promise<void> {
    const random = randomNumbers(number + 1)
    const attempt = async (fact: string, value: unknown, work: () => Promise<void>): Promise<void> => {
      try {
        await work()
        acknowledged++
        expectations.done(fact, value)
      } catch (error) {
        // Somebody else has deleted one of them: nothing was promised.
        if (!(error instanceof EntityGoneError)) failed++
        expectations.unsure(fact, value)
      }
    }
    while (begun < total) {
      await disturb(begun++)
      const mine = (among: number): number => number + WORKERS * random(among / WORKERS)
      const kind = random(10)
      const session = db.session()
      if (kind < 4) {
        const [id, to] = [`l${mine(LISTINGS)}`, random(AGENTS)]
        const one = await session.find(Listing, id).catch(() => null)
        // Nothing would be written, so nothing would be promised: an earlier commit may still be in doubt.
        if (one === null || one.agent.key === to) continue
        await attempt(`Listing ${id}`, to, async () => {
          one.agent.set(to)
          await session.flush()
        })
      } else if (kind < 9) {
        const [a, b] = [mine(USERS), random(USERS)]
        const fact = `User ${a} follows ${b}`
        const [from, to] = await session.findMany(User, [a, b]).catch(() => [null, null])
        if (from === null || to === null || a === b) continue
        const value = random(2) === 0
        await attempt(fact, value, async () => {
          if (value) from.follows.add(to)
          else from.follows.remove(to)
          await session.flush()
        })
      } else {
        const id = mine(USERS)
        if (expectations.isSure(`User ${id}`, 'gone') || random(3) > 0) continue
        await attempt(`User ${id}`, 'gone', async () => void (await session.delete(User, id)))
      }
    }
  }

  await Promise.all(Array.from({ length: WORKERS }, (_, i) => worker(i)))
  return { operations: begun, acknowledged, failed, expectations }
}

/** What is wrong: references without an answer, and facts that were acknowledged and are not there. */
export async function problems(db: Database, { expectations }: LoadResult): Promise<string[]> {
  const session = db.session()
  const find = async <T extends object>(found: Promise<(T | null)[]>): Promise<T[]> =>
    (await found).filter((one) => one !== null)
  const agents = await find(session.findMany(Agent, [...Array(AGENTS).keys()], { with: ['listings'] }))
  const listings = await find(
    session.findMany(
      Listing,
      [...Array(LISTINGS).keys()].map((i) => `l${i}`),
    ),
  )
  const users = await find(session.findMany(User, [...Array(USERS).keys()], { with: ['follows', 'followers'] }))
  const wrong: string[] = []
  const byId = new Map(users.map((one) => [one.id, one]))
  for (const one of agents) {
    const listed = (await one.listings.keys()) as string[]
    for (const id of listed)
      if (listings.find((each) => each.id === id)?.agent.key !== one.id) wrong.push(`Agent ${one.id} lists ${id}`)
    for (const each of listings)
      if (each.agent.key === one.id && !listed.includes(each.id)) wrong.push(`Agent ${one.id} lacks ${each.id}`)
  }
  for (const one of users) {
    for (const id of (await one.follows.keys()) as number[]) {
      if (!((await byId.get(id)?.followers.keys()) ?? []).includes(one.id))
        wrong.push(`User ${id} does not know of follower ${one.id}`)
    }
    for (const id of (await one.followers.keys()) as number[]) {
      if (!((await byId.get(id)?.follows.keys()) ?? []).includes(one.id))
        wrong.push(`User ${one.id} has follower ${id}, who does not follow`)
    }
  }
  const follows = new Map(await Promise.all(users.map(async (one) => [one.id, await one.follows.keys()] as const)))
  const actual = (fact: string): unknown => {
    const [kind, id, , other] = fact.split(' ')
    if (kind === 'Listing') return listings.find((one) => one.id === id)?.agent.key
    // Whoever deletes one of the two decides that, too.
    if (other !== undefined)
      return byId.has(Number(other)) ? follows.get(Number(id))?.includes(Number(other)) : undefined
    return byId.has(Number(id)) ? 'there' : 'gone'
  }
  return [...wrong, ...expectations.broken(actual)]
}
