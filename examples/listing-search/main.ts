import 'reflect-metadata'
import { open, type Database } from 'skein'
import { show, trafficOf } from '../traffic.js'
import { where } from '../where.js'
import { Customer, Draft, SearchListing, TenantOrder } from './models.js'

const CITIES = ['Bern', 'Basel', 'Genf']
const DAY = 24 * 60 * 60 * 1000

/** Listings by city and price, customers by e-mail, an export of one tenant, and a clean-up: each is one query. */
export async function main(print: (text: string) => void): Promise<void> {
  const db = await open({ ...where(), entities: [SearchListing, Customer, TenantOrder, Draft] })
  try {
    await db.indexes.sync()
    await fill(db)
    await browse(db, print)
    await findCustomer(db, print)
    print(await exportOrders(db, 'acme', print))
    await cleanUp(db, print)
  } finally {
    await db.close()
  }
}

/** Pages of results, and how many there are of each kind. */
async function browse(db: Database, print: (text: string) => void): Promise<void> {
  const wanted = db.query(SearchListing).where({ city: 'Bern', price: { between: [500, 1500] } })
  for (const line of String(wanted.explain()).split('\n')) print(line)

  let after: string | undefined
  do {
    const page = await wanted.page({ count: 11, after })
    print(`a page of ${page.length} listings`)
    after = page.next
  } while (after !== undefined)

  const cheapest = await wanted.orderBy('price').orderBy('id').limit(3).toArray()
  print(`cheapest: ${cheapest.map(({ price }) => price).join(', ')}`)
  const tags = await wanted.groupBy('tags').count()
  print(
    `facets: ${[...tags]
      .map(([tag, count]) => `${tag} ${count}`)
      .sort()
      .join(', ')}`,
  )
  const large = wanted.filter((l) => l.rooms.gte(4).or(l.tags.has('garden').not()))
  print(`${await large.count()} with four rooms or no garden`)
}

async function findCustomer(db: Database, print: (text: string) => void): Promise<void> {
  let found: Customer | null = null
  const traffic = await trafficOf(async () => {
    found = await db.query(Customer).where({ email: 'c7@example.com' }).first()
  })
  print(`c7@example.com is ${(found as Customer | null)?.name}: ${show(traffic)}`)
}

/** A text with a line for each order of a tenant, written while it is read. */
export async function exportOrders(db: Database, tenant: string, print: (text: string) => void): Promise<string> {
  let csv = 'id,item,amount\n'
  const orders = db.scan(TenantOrder, {
    tenant,
    onProgress: ({ records, share }) => print(`${records} orders, ${Math.round(100 * share)} %`),
  })
  for await (const { id, item, amount } of orders) csv += `${id},"${item.replaceAll('"', '""')}",${amount}\n`
  return csv
}

async function cleanUp(db: Database, print: (text: string) => void): Promise<void> {
  const old = db.query(Draft).where({ touchedAt: { lt: new Date(100 * DAY) } })
  const { written: wouldGo } = await old.delete({ dryRun: true })
  const { written, by } = await old.delete()
  print(`${wouldGo} old drafts, ${written} deleted by the ${by}, ${await db.scan(Draft).count()} left`)
}

async function fill(db: Database): Promise<void> {
  await db.withSession(async (session) => {
    for (let id = 0; id < 120; id++) {
      const tags = [...(id % 2 ? ['garden'] : []), ...(id % 3 ? [] : ['lake'])]
      session.create(SearchListing, { id, city: CITIES[id % 3], price: 400 + 10 * id, rooms: 1 + (id % 5), tags })
      session.create(Draft, { id, text: `draft ${id}`, touchedAt: new Date(2 * id * DAY) })
      session.create(Customer, { id, email: `c${id}@example.com`, name: `Customer ${id}` })
    }
  })
  for (const tenant of ['acme', 'bolt']) {
    await db.withSession(
      async (session) => {
        for (const id of [1, 2]) session.create(TenantOrder, { id, item: `"${tenant}" chair`, amount: id })
      },
      { tenant },
    )
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
