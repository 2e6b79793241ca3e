import 'reflect-metadata'
import { subscribe } from 'node:diagnostics_channel'
import { open, type CommandEvent } from 'skein'
import { PARENTS } from '../parents.js'

// Deletes a parent, says each of its commands that is answered, and dies at command number `last` (0: never).
const [hosts, kind, id, step, last] = process.argv.slice(2)
const { entities, parent } = PARENTS[kind]
const db = await open({ hosts, namespace: 'test', entities, limits: { queryRecords: Number(step) } })
const answered = new Set<number>()
subscribe('skein:command', (event) => {
  const { roundTrip } = event as CommandEvent
  if (answered.has(roundTrip)) return
  answered.add(roundTrip)
  if (answered.size === Number(last)) process.kill(process.pid, 'SIGKILL')
  process.send?.(answered.size)
})
let peak = 0
const began = performance.now()
const watch = (): void => void (peak = Math.max(peak, process.memoryUsage().heapUsed))
await db.session().delete(parent, Number(id), { step: Number(step), onProgress: watch })
await db.close()
console.log(`${Math.round(peak / 2 ** 20)} MiB at most, in ${Math.round(performance.now() - began)} ms`)
process.disconnect?.()
