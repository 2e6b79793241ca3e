import Aerospike, { type Client } from 'aerospike'
import { expect } from 'chai'
import type { EmbeddedServer, FaultOptions } from 'skein/embedded'
import { connectOfficialClient, releaseTransaction, type Connected } from '../official-client.js'

const { Key } = Aerospike
const ACCOUNTS = 20
const WORKERS = 8
const TRANSFERS = 1000
const OPENING_BALANCE = 1000
const TXN_TIMEOUT_SECONDS = 2
const TOO_MANY_ERRORS = -14
const DECIDED = new Set([Aerospike.Transaction.state.COMMITTED, Aerospike.Transaction.state.ABORTED] as number[])

const account = (id: number) => new Key('test', 'account', id)
const entry = (id: string) => new Key('test', 'ledger', id)
const random = (below: number) => Math.floor(Math.random() * below)

interface Transfer {
  readonly id: string
  readonly from: number
  readonly to: number
  readonly amount: number
}

/** Moves money and notes it in a ledger, all in one transaction; false when it certainly did not happen. */
async function transfer({ client, server }: Connected, { id, from, to, amount }: Transfer): Promise<boolean> {
  const txn = new Aerospike.Transaction()
  txn.setTimeout(TXN_TIMEOUT_SECONDS)
  try {
    const a = (await client.get(account(from), { txn })).bins as { balance: number }
    const b = (await client.get(account(to), { txn })).bins as { balance: number }
    await client.put(account(from), { balance: a.balance - amount }, undefined, { txn })
    await client.put(account(to), { balance: b.balance + amount }, undefined, { txn })
    await client.put(entry(id), { from, to, amount }, undefined, { txn })
  } catch (error) {
    await client.abort(txn).catch(() => undefined)
    releaseTransaction(txn)
    if ((error as { code: number }).code === TOO_MANY_ERRORS) await recover(server)
    return false
  }
  const committed = await commit(client, txn)
  releaseTransaction(txn)
  return committed
}

/** After many errors the client sends nothing for a while: faults still waiting would only make it many again. */
async function recover(server: EmbeddedServer): Promise<void> {
  await server.faults.clear()
  await new Promise((resolve) => setTimeout(resolve, 100))
}

/**
 * A commit that failed is repeated until it is decided and never aborted: its mark may be on the server, whatever was
 * answered, and then an abort that only half succeeds tears what the server completes after the transaction's time.
 */
async function commit(client: Client, txn: InstanceType<typeof Aerospike.Transaction>): Promise<boolean> {
  for (let attempt = 0; attempt < 50; attempt++) {
    try {
      await client.commit(txn)
      return true
    } catch {
      if (DECIDED.has(txn.getState())) return txn.getState() === Aerospike.Transaction.state.COMMITTED
    }
  }
  return false
}

const KINDS = [
  'read',
  'write',
  'txn-monitor',
  'txn-verify',
  'txn-commit',
  'txn-roll-forward',
  'txn-roll-back',
  'txn-close',
] as const

function randomFault(): FaultOptions {
  const kind = KINDS[random(KINDS.length)]
  const after = random(2) === 0
  const rolls = kind.startsWith('txn-roll') || kind === 'txn-verify'
  if (!rolls && random(3) === 0) return { kind, drop: true, after, skip: random(5) }
  if (random(8) === 0) return { kind, delay: 1 + random(20), skip: random(5) }
  return { kind, answer: [9, 14, 18, 1][random(4)], after, skip: random(5) }
}

describe('embedded server: a bank whose transfers meet faults', function () {
  this.timeout(120_000)
  let connected: Connected

  before(async () => {
    const timeouts = { totalTimeout: 3000, maxRetries: 0 }
    connected = await connectOfficialClient(undefined, { policies: { read: timeouts, write: timeouts } })
  })
  after(() => connected.close())

  it('keeps its total, does no transfer by half and leaves no account locked', async () => {
    const { client, server } = connected
    for (let id = 0; id < ACCOUNTS; id++) await client.put(account(id), { balance: OPENING_BALANCE })

    const acknowledged: Transfer[] = []
    const attempted: Transfer[] = []
    let done = 0
    const worker = async (name: number) => {
      while (done < TRANSFERS) {
        const from = random(ACCOUNTS)
        const to = (from + 1 + random(ACCOUNTS - 1)) % ACCOUNTS
        const one = { id: `${name}-${attempted.length}`, from, to, amount: 1 + random(50) }
        attempted.push(one)
        if (attempted.length % 8 === 0) await server.faults.add(randomFault())
        if (await transfer(connected, one)) {
          acknowledged.push(one)
          done++
        }
        // Locks that outlive their client's commit end with the transaction's time; no need to wait for it.
        if (attempted.length % 100 === 0) await server.clock.advance(TXN_TIMEOUT_SECONDS)
      }
    }
    await Promise.all(Array.from({ length: WORKERS }, (_, name) => worker(name)))
    await server.faults.clear()
    await server.clock.advance(TXN_TIMEOUT_SECONDS + 1)

    const balances = new Array<number>(ACCOUNTS).fill(OPENING_BALANCE)
    const recorded = new Set<string>()
    for (const one of attempted) {
      if (!(await client.exists(entry(one.id)))) continue
      recorded.add(one.id)
      balances[one.from] -= one.amount
      balances[one.to] += one.amount
    }
    for (const one of acknowledged)
      expect(recorded.has(one.id), `transfer ${one.id} was acknowledged and is lost`).to.equal(true)
    let total = 0
    for (let id = 0; id < ACCOUNTS; id++) {
      const { balance } = (await client.get(account(id))).bins as { balance: number }
      expect(balance, `account ${id} against its ledger`).to.equal(balances[id])
      total += balance
      await client.put(account(id), { unlocked: 1 })
    }
    expect(total).to.equal(ACCOUNTS * OPENING_BALANCE)
  })
})
