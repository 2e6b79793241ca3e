import { read, write } from '#src/plan/command.js'
import { addToBin, writeBin } from '#src/plan/operations.js'
import { recordKey } from '#src/plan/record-key.js'
import { connect } from '#src/driver/connect.js'

// Closes a database with thousands of commands waiting, in flight, and sent past Skein on the raw client.
const [hosts, namespace] = process.argv.slice(2)
const driver = await connect({ hosts, namespaces: [namespace] })
const key = (i: number) => recordKey(namespace, 'closing', i)
const work: Promise<unknown>[] = []
for (let i = 0; i < 2000; i++) {
  work.push(driver.run([write('Thing', key(i), [writeBin('x', i)], { exists: 'upsert' })]))
  work.push(driver.run([write('Thing', key(-1), [addToBin('n', 1)], { exists: 'upsert' })]))
  work.push(driver.readOne(read('Thing', key(i))))
}
for (let i = 0; i < 20; i++) work.push(driver.client.put({ ns: namespace, set: 'closing', key: `raw${i}` }, { x: i }))
const closing = Promise.all([driver.close(), driver.close()])
const late = await driver.readOne(read('Thing', key(1))).catch((error: { code: string }) => error.code)
const settled = await Promise.allSettled(work)
await closing
console.log(JSON.stringify({ done: settled.filter((one) => one.status === 'fulfilled').length, late }))
process.disconnect?.()
