import type { Database } from 'skein'
import { Agent, Listing } from './models.js'

export interface Size {
  readonly agents: number
  readonly listings: number
}

const CITIES = ['Bern', 'Lyon', 'Oslo', 'Porto', 'Turin', 'Utrecht']
/** Agents saved together: few enough to show progress, enough to fill a batch. */
const CHUNK = 100

/** Link: agents are saved together with their listings, each pair known from both sides. */
export async function fill(db: Database, size: Size, progress: (done: number) => void): Promise<void> {
  const perAgent = size.listings / size.agents
  for (let first = 1; first <= size.agents; first += CHUNK) {
    const last = Math.min(first + CHUNK - 1, size.agents)
    await db.withSession(async (session) => {
      for (let id = first; id <= last; id++) {
        const agent = session.create(Agent, { id, name: `Agent ${id}`, email: `agent${id}@example.com` })
        for (let n = 1; n <= perAgent; n++) agent.listings.add(newListing(`L${id}-${n}`, id * n))
      }
    })
    progress(last)
  }
}

export function newListing(id: string, number: number): Listing {
  return Object.assign(new Listing(), {
    id,
    street: `${(number % 200) + 1} Station Road`,
    city: CITIES[number % CITIES.length],
    price: 150_000 + (number % 70) * 10_000,
  })
}
