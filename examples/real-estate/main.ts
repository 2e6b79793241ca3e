import 'reflect-metadata'
import { open } from 'skein'
import { show, trafficOf } from '../traffic.js'
import { where } from '../where.js'
import { fill, newListing, type Size } from './fill.js'
import { Agent, Listing } from './models.js'

type Print = (text: string) => void

/** Real-estate agents and their listings: link, list, add, delete. Needs nothing but npm: the server is started along. */
export async function main(print: Print, progress: Print, size: Size = { agents: 1_000, listings: 5_000 }) {
  const db = await open({ ...where(), entities: [Agent, Listing] })
  try {
    const server = where().hosts ?? 'its embedded Aerospike server'
    print(`Skein on ${server}: ${size.agents} agents, ${size.listings} listings.\n`)

    print('1. LINK    every agent is saved with its listings; both records know each other')
    const linking = await trafficOf(() =>
      fill(db, size, (done) => progress(`   ${done} of ${size.agents} agents with their listings saved`)),
    )
    print(`   ${show(linking)}\n`)

    print('2. LIST    agent 17 with all its listings')
    const session = db.session()
    let agent!: Agent
    const listing = await trafficOf(async () => {
      agent = await session.load(Agent, 17, { with: ['listings'] })
    })
    for (const { id, street, city, price } of agent.listings) print(`   ${id}  ${street}, ${city}, ${price}`)
    print(`   ${show(listing)}: the agent, then all its listings at once\n`)

    print('3. ADD     a listing for agent 17')
    agent.listings.add(newListing('L17-new', 17))
    print(indent(String(await session.explain())))
    const adding = await trafficOf(() => session.save(agent))
    print(`   ${show(adding)}; the list itself was neither read nor sent\n`)

    print('   Questions about a collection are answered by the server, without loading it')
    const asking = await trafficOf(async () => {
      const { listings } = await db.session().load(Agent, 17)
      print(`   agent 17 has ${await listings.count()} listings`)
      print(`   L17-new is among them: ${await listings.contains('L17-new')}`)
      print(`   L18-1 is among them: ${await listings.contains('L18-1')}`)
    })
    print(`   ${show(asking)}\n`)

    print('4. DELETE  a listing, then an agent with everything it has')
    const one = await trafficOf(() => db.session().delete(Listing, 'L17-new'))
    const left = await (await db.session().load(Agent, 17)).listings.keys()
    print(`   L17-new is gone, and agent 17 lists ${left.join(', ')}`)
    print(`   ${show(one)}`)
    const all = await trafficOf(() => db.session().delete(Agent, 17))
    const remaining = await db.session().findMany(Listing, left)
    print(`   agent 17 is gone, and ${remaining.filter((found) => found !== null).length} of its listings are left`)
    print(`   ${show(all)}`)
  } finally {
    await db.close()
  }
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '   | ')
}

if (process.argv[1] === import.meta.filename) {
  // On a terminal the progress stays on one line, which the next text ends.
  let isOpen = false
  const print = (text: string): void => {
    console.log(isOpen ? `\n${text}` : text)
    isOpen = false
  }
  const progress = (text: string): void => {
    if (!process.stdout.isTTY) return
    process.stdout.write(`\r${text}`)
    isOpen = true
  }
  await main(print, progress)
}
