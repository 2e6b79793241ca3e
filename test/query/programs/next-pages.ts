import 'reflect-metadata'
import { open } from 'skein'
import { ALL, Listing } from '../models.js'

/** Reads the pages that follow a cursor which another process was given, and prints the keys. */
const [hosts, namespace, cursor] = process.argv.slice(2)
const db = await open({ hosts, namespace, entities: ALL })
const query = db.query(Listing).where({ price: { gte: 0 }, city: 'Bern' })
const ids: string[] = []
for (let after: string | undefined = cursor; after !== undefined;) {
  const page = await query.page({ count: 5, after })
  ids.push(...page.map(({ id }) => id))
  after = page.next
}
console.log(JSON.stringify(ids))
await db.close()
