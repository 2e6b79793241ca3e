import 'reflect-metadata'
import { open } from 'skein'
import { show, trafficOf } from '../traffic.js'
import { where } from '../where.js'
import { Account, Customer } from './models.js'

/** Customers and their accounts, many to many: who may do what, and since when, is kept on both sides of each link. */
export async function main(print: (text: string) => void): Promise<void> {
  const db = await open({ ...where(), entities: [Customer, Account] })
  try {
    const session = db.session()
    const [ann, bob] = [
      session.create(Customer, { id: 1, name: 'Ann' }),
      session.create(Customer, { id: 2, name: 'Bob' }),
    ]
    const joint = session.create(Account, { id: 'joint', balance: 1_000 })
    ann.accounts.link(joint, { role: 'owner', since: new Date('2020-01-01') })
    joint.owners.link(bob, { role: 'reader', since: new Date('2024-06-01') })
    print(`Two customers, one account, linked from either side: ${show(await trafficOf(() => session.flush()))}`)

    const other = db.session()
    const account = await other.load(Account, 'joint', { with: ['owners'] })
    for (const owner of account.owners) {
      const { role, since } = (await account.owners.attributesOf(owner))!
      print(`  ${owner.name} is ${role} since ${since.getUTCFullYear()}`)
    }

    const asking = await trafficOf(async () => {
      const link = await db.session().at(Customer, 2).collection('accounts').attributesOf('joint')
      print(`Asked for that one link alone: Bob is ${link?.role}`)
    })
    print(`  ${show(asking)}`)

    const rights = (await account.owners.attributesOf(2))!
    rights.role = 'owner'
    print('Bob becomes an owner; one field changes, on both sides:')
    print(String(await other.explain()).replace(/^(?=.)/gm, '  | '))
    print(`  ${show(await trafficOf(() => other.flush()))}`)

    const removing = await trafficOf(() => db.session().delete(Customer, 1))
    const left = await db.session().load(Account, 'joint', { with: ['owners'] })
    print(
      `Ann is deleted; the account belongs to ${left.owners.items.map(({ name }) => name).join(', ')}: ${show(removing)}`,
    )
  } finally {
    await db.close()
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
