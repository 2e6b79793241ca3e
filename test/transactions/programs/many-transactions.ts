import 'reflect-metadata'
import Aerospike from 'aerospike'
import { open } from 'skein'
import { Agent, Listing, User, agent, listing } from '../../relations/models.js'

// Runs many transactions, many of them at once, and reports what is left of them in memory.
const [hosts, namespace, total, atOnce] = process.argv.slice(2)
// No run meets the records of another.
const first = Date.now() * 1000
const db = await open({ hosts, namespace, entities: [Agent, Listing, User] })

async function transact(number: number): Promise<void> {
  await db
    .transaction(async (session) => {
      const one = agent(number)
      one.listings.add(listing(`l${number}`))
      await session.save(one)
      await session.delete(one)
      if (number % 9 === 0) throw new Undo()
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undo)) throw error
    })
}

class Undo extends Error {}

async function measure(): Promise<{ heap: number; rss: number }> {
  await new Promise((resolve) => setTimeout(resolve, 50))
  global.gc!()
  const { heapUsed, rss } = process.memoryUsage()
  return { heap: Math.round(heapUsed / 1024), rss: Math.round(rss / 1024) }
}

async function run(count: number): Promise<void> {
  for (let done = 0; done < count; done += Number(atOnce)) {
    await Promise.all(Array.from({ length: Number(atOnce) }, (_, i) => transact(first + done + i)))
  }
}

await run(Number(atOnce))
const memory = [await measure()]
const parts = Math.min(4, Math.floor(Number(total) / Number(atOnce)))
for (let part = 0; part < parts; part++) {
  await run(Number(total) / parts)
  memory.push(await measure())
}
const pool = Aerospike._transactionPool as { transactions: unknown[] }
console.log(JSON.stringify({ memory, pooled: pool.transactions.length }))
await db.close()
process.disconnect?.()
