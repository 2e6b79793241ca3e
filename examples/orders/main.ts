import 'reflect-metadata'
import { open } from 'skein'
import { show, trafficOf } from '../traffic.js'
import { where } from '../where.js'
import { lineItem, Order } from './models.js'

/** Orders with their line items in one record: read together, changed one by one. */
export async function main(print: (text: string) => void): Promise<void> {
  const db = await open({ ...where(), entities: [Order] })
  try {
    const creating = await trafficOf(() =>
      db.withSession(async (session) => {
        const order = session.create(Order, { id: 1, customer: 'Alma' })
        order.lines.add(lineItem('lamp', 1, 4_900), lineItem('cable', 2, 700), lineItem('bulb', 4, 350))
      }),
    )
    print(`An order with three lines: ${show(creating)}`)

    const session = db.session()
    let order!: Order
    const loading = await trafficOf(async () => (order = await session.load(Order, 1)))
    print(`Loaded with its lines: ${show(loading)}`)
    for (const { product, quantity } of order.lines) print(`  ${quantity} × ${product}`)

    order.lines.add(lineItem('switch', 1, 1_200))
    order.lines.items.find(({ product }) => product === 'bulb')!.quantity = 6
    order.lines.remove('cable')
    print('What changing it would send:')
    for (const { operations } of (await session.explain()).toJSON().plans[0].stages[0].commands)
      for (const operation of operations) print(`  ${operation}`)
    print(`One line added, one changed, one removed: ${show(await trafficOf(() => session.flush()))}`)

    const total = order.lines.items.reduce((sum, { quantity, cents }) => sum + quantity * cents, 0)
    print(`${order.lines.items.map(({ product }) => product).join(', ')}: ${(total / 100).toFixed(2)}`)
  } finally {
    await db.close()
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
