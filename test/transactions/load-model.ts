import { EntityGoneError, PartialFailureError, RetriesExhaustedError, type Database } from 'skein'
import { Agent, Listing, User, agent, listing, user } from '../relations/models.js'
import { Expectations } from './expectations.js'

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

export interface LoadOptions {
  readonly total: number
  /** Called before each operation. */
  readonly disturb: (number: number) => Promise<void>
  /** Called when a worker gave up on a record that another transaction holds. */
  readonly blocked: () => Promise<void>
}

export interface LoadResult {
  readonly acknowledged: number
  /** Refused because somebody else had deleted one of the two. */
  readonly refused: number
  readonly failed: number
  /** Milliseconds of the call that took longest, whether it succeeded or not. */
  readonly longest: number
  readonly expectations: Expectations
}

export async function fill(db: Database): Promise<void> {
  const session = db.session()
  const agents = Array.from({ length: AGENTS }, (_, i) => session.persist(agent(i)))
  for (let i = 0; i < LISTINGS; i++) agents[i % AGENTS].listings.add(listing(`l${i}`))
  for (let i = 0; i < USERS; i++) session.persist(user(i))
  await session.flush({ transactions: 'off' })
}

/** Facts that hold after `fill`. */
function atFirst(): Expectations {
  const expectations = new Expectations()
  for (let i = 0; i < LISTINGS; i++) expectations.done(`Listing l${i}`, i % AGENTS)
  for (let i = 0; i < USERS; i++) {
    expectations.done(`User ${i}`, 'there')
    for (let other = 0; other < USERS; other++) if (other !== i) expectations.done(`User ${i} follows ${other}`, false)
  }
  return expectations
}

/** Deletes of users: whoever follows one meanwhile cannot know what comes of it. */
class Deletes {
  readonly #changes = new Map<number, number>()

  /** A number that changes when a delete of this user begins or ends; odd while one is under way. */
  state(id: number): number {
    return this.#changes.get(id) ?? 0
  }

  async during(id: number, work: () => Promise<void>): Promise<void> {
    this.#changes.set(id, this.state(id) + 1)
    await work()
    this.#changes.set(id, this.state(id) + 1)
  }
}

/**
 * Workers that move listings, follow, unfollow, delete users and make them again, all at once. Each of them alone moves its listings
 * and changes its users, so it knows what must be stored in the end.
 */
export async function runLoad(db: Database, { total, disturb, blocked }: LoadOptions): Promise<LoadResult> {
  const expectations = atFirst()
  const deletes = new Deletes()
  const counts = { acknowledged: 0, refused: 0, failed: 0, longest: 0 }
  let begun = 0

  const attempt = async (work: () => Promise<unknown>): Promise<boolean> => {
    const began = performance.now()
    const ended = (): void => void (counts.longest = Math.max(counts.longest, performance.now() - began))
    try {
      await work().finally(ended)
      counts.acknowledged++
      return true
    } catch (error) {
      counts[isRefusal(error) ? 'refused' : 'failed']++
      if (error instanceof RetriesExhaustedError) await blocked()
      return false
    }
  }

  async function move(id: string, to: number): Promise<void> {
    const session = db.session()
    const one = await session.find(Listing, id).catch(() => null)
    // Nothing would be written, so nothing would be promised: what an earlier commit in doubt decided may not show yet.
    if (one === null || one.agent.key === to) return
    one.agent.set(to)
    if (await attempt(() => session.flush())) expectations.done(`Listing ${id}`, to)
    else expectations.perhaps(`Listing ${id}`, to)
  }

  async function follow(a: number, b: number, value: boolean): Promise<void> {
    if (a === b) return
    const session = db.session()
    const before = deletes.state(b)
    const [from, to] = await session.findMany(User, [a, b]).catch(() => [null, null])
    if (from === null || to === null) return
    if (value) from.follows.add(to)
    else from.follows.remove(to)
    const fact = `User ${a} follows ${b}`
    if (await attempt(() => session.flush())) expectations.done(fact, value)
    else expectations.perhaps(fact, value)
    if (before % 2 === 1 || deletes.state(b) !== before) expectations.perhaps(fact, false)
  }

  async function remove(id: number): Promise<void> {
    const links = [...expectations.facts].filter((fact) => fact.startsWith(`User ${id} follows `))
    const linked = [...expectations.facts].filter((fact) => fact.endsWith(` follows ${id}`))
    for (const fact of linked) expectations.perhaps(fact, false)
    await deletes.during(id, async () => {
      const isDone = await attempt(() => db.session().delete(User, id))
      for (const fact of [`User ${id}`, ...links]) {
        const value = fact === `User ${id}` ? 'gone' : false
        if (isDone) expectations.done(fact, value)
        else expectations.perhaps(fact, value)
      }
    })
    for (const fact of linked) expectations.perhaps(fact, false)
  }

  async function make(id: number): Promise<void> {
    if (await attempt(() => db.session().save(user(id)))) expectations.done(`User ${id}`, 'there')
    else expectations.perhaps(`User ${id}`, 'there')
  }

  async function worker(number: number): Promise<void> {
    const random = randomNumbers(number + 1)
    const mine = (among: number): number => number + WORKERS * random(among / WORKERS)
    while (begun < total) {
      await disturb(begun++)
      const kind = random(10)
      if (kind < 4) await move(`l${mine(LISTINGS)}`, random(AGENTS))
      else if (kind < 9) await follow(mine(USERS), random(USERS), random(3) > 0)
      else {
        const id = mine(USERS)
        if (expectations.isSure(`User ${id}`, 'gone')) await make(id)
        else if (random(3) === 0) await remove(id)
      }
    }
  }

  await Promise.all(Array.from({ length: WORKERS }, (_, i) => worker(i)))
  return { ...counts, expectations }
}

/** Finishes deletes that were cut short, and brings both sides in line. */
export async function repair(db: Database): Promise<void> {
  await db.sweep(User)
  for (let round = 0; round < 3; round++) {
    for await (const _finding of db.verify([Agent, Listing, User], { repair: true, settle: 0 }));
  }
}

function isRefusal(error: unknown): boolean {
  if (error instanceof EntityGoneError) return true
  return error instanceof PartialFailureError && error.records.some(({ cause }) => cause instanceof EntityGoneError)
}

/** Lists errors: references without an answer, and acknowledged facts that are not there. */
export async function problems(db: Database, { expectations }: LoadResult): Promise<string[]> {
  const session = db.session()
  const numbers = (count: number): number[] => [...Array(count).keys()]
  const agents = await session.findMany(Agent, numbers(AGENTS), { with: ['listings'] })
  const ids = numbers(LISTINGS).map((i) => `l${i}`)
  const agentOf = new Map((await session.findMany(Listing, ids)).map((one, i) => [ids[i], one?.agent.key]))
  const users = (await session.findMany(User, numbers(USERS))).filter((one) => one !== null)
  const wrong: string[] = []
  for (const [id, one] of agents.entries()) {
    const listed = new Set((await one?.listings.keys()) as string[])
    for (const each of ids) {
      const isHis = agentOf.get(each) === id
      if (listed.has(each) !== isHis) wrong.push(`Agent ${id} ${isHis ? 'lacks' : 'lists'} ${each}`)
    }
  }
  const follows = new Map<number, Set<number>>()
  const followers = new Map<number, Set<number>>()
  for (const one of users) {
    follows.set(one.id, new Set((await one.follows.keys()) as number[]))
    followers.set(one.id, new Set((await one.followers.keys()) as number[]))
  }
  for (const [id, others] of follows)
    for (const other of others)
      if (followers.get(other)?.has(id) !== true) wrong.push(`User ${other} does not know of follower ${id}`)
  for (const [id, others] of followers)
    for (const other of others)
      if (follows.get(other)?.has(id) !== true) wrong.push(`User ${id} has follower ${other}, who does not follow`)
  const actual = (fact: string): unknown => {
    const [kind, id, , other] = fact.split(' ')
    if (kind === 'Listing') return agentOf.get(id)
    if (other !== undefined) return follows.get(Number(id))?.has(Number(other)) ?? false
    return follows.has(Number(id)) ? 'there' : 'gone'
  }
  return [...wrong, ...expectations.broken(actual)]
}
