import 'reflect-metadata'
import { subscribe } from 'node:diagnostics_channel'
import { open, type CommandEvent } from 'skein'
import { PARENTS } from '../parents.js'

// Deletes a parent, says each of its commands that is answered, and dies at command number `last` (0: never).
const [hosts, namespace, kind, id, step, last] = process.argv.slice(2)
const { entities, parent } = PARENTS[kind]
const db = await open({ hosts, namespace, entities, limits: { queryRecords: Number(step) } })
const answered = new Set<number>()
subscribe('skein:command', (event) => {
  const { roundTrip } = event as CommandEvent
  if (answered.has(roundTrip)) return
  answered.add(roundTrip)
  if (answered.size === Number(last)) process.kill(process.pid, 'SIGKILL')
  process.send?.(answered.size)
})
/** Memory in use, in KiB; after a collection all of it is reachable. */
function memory(): number {
  global.gc?.()
  return Math.round(process.memoryUsage().heapUsed / 1024)
}
const began = performance.now()
const before = memory()
let [steps, peak] = [0, 0]
const onProgress = (): void => {
  if (steps++ % 8 === 4) peak = Math.max(peak, memory())
}
await db.session().delete(parent, Number(id), { step: Number(step), onProgress })
await db.close()
console.log(JSON.stringify({ before, peak, ms: Math.round(performance.now() - began) }))
process.disconnect?.()
