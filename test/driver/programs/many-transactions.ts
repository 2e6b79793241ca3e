import Aerospike from 'aerospike'
import { read, write } from '#src/plan/command.js'
import { addToBin, writeBin } from '#src/plan/operations.js'
import { recordKey } from '#src/plan/record-key.js'
import { connect } from '#src/driver/connect.js'

// Runs many transactions at once, some of them in conflict, and reports what is left of them.
const [hosts, namespace, set, rounds, atOnce] = process.argv.slice(2)
const driver = await connect({ hosts, namespaces: [namespace] })
let committed = 0

async function transact(number: number): Promise<void> {
  const transaction = await driver.begin()
  const at = (key: string | number) => recordKey(namespace, set, key)
  const own = write('Own', at(number), [writeBin('x', number)], { exists: 'upsert' })
  const shared = write('Shared', at(`s${number % 50}`), [addToBin('n', 1)], { exists: 'upsert' })
  await driver.readOne(read('Own', at(number)), { transaction })
  const outcomes = await driver.run([own, shared], { transaction })
  if (outcomes.some((one) => one.state !== 'written') || number % 7 === 0) return void (await driver.abort(transaction))
  if ((await driver.commit(transaction)).state === 'committed') committed++
}

for (let round = 0; round < Number(rounds); round++) {
  await Promise.all(Array.from({ length: Number(atOnce) }, (_, i) => transact(round * Number(atOnce) + i)))
}
const shared = await driver.read(
  Array.from({ length: 50 }, (_, i) => read('Shared', recordKey(namespace, set, `s${i}`))),
)
const counted = shared.reduce((sum, one) => sum + Number(one?.bins.n ?? 0), 0)
await new Promise((resolve) => setImmediate(resolve))
const pool = Aerospike._transactionPool as { transactions: unknown[]; totalReadsAndWrites: number }
console.log(
  JSON.stringify({ committed, counted, pooled: pool.transactions.length, reserved: pool.totalReadsAndWrites }),
)
await driver.close()
process.disconnect?.()
