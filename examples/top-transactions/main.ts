import 'reflect-metadata'
import { open } from 'skein'
import { show, trafficOf } from '../traffic.js'
import { where } from '../where.js'
import { Account, Transaction } from './models.js'

const IBAN = 'CH93 0076 2011 6238 5295 7'

/** The latest and the largest 50 transactions of an account, however many there are. */
export async function main(print: (text: string) => void, transactions = 500): Promise<void> {
  const db = await open({ ...where(), entities: [Account] })
  try {
    await db.withSession(async (session) => void session.create(Account, { iban: IBAN }))
    const booking = await trafficOf(async () => {
      for (let i = 0; i < transactions; i++) {
        // Neither collection is read: the server adds and drops.
        const session = db.session()
        const account = session.at(Account, IBAN)
        const transaction = Object.assign(new Transaction(), { cents: (i * 7_919) % 10_007, payee: `payee ${i}` })
        account.collection('latest').add(transaction)
        account.collection('largest').add(transaction)
        await session.flush()
      }
    })
    print(`${transactions} transactions booked: ${show(booking)}`)

    let account!: Account
    const loading = await trafficOf(async () => (account = await db.session().load(Account, IBAN)))
    print(`Loaded with all that is kept: ${show(loading)}`)
    const { latest, largest } = account
    print(`${latest.items.length} latest, the last one to ${latest.items.at(-1)!.payee}`)
    print(`${largest.items.length} largest, from ${largest.items[0].cents} to ${largest.items.at(-1)!.cents}`)
  } finally {
    await db.close()
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
