import 'reflect-metadata'
import { openStalls, STALLS } from '../stall.js'
import { World } from '../world.js'

// Does what it is told, all at once, and says what it is done with, until it is killed.

/** Operations to do, each on the world of that number. */
export interface Task {
  readonly hosts: readonly string[]
  readonly operations: readonly { readonly index: number; readonly world: number }[]
}

const [task] = (await message()) as [Task]
const stalls = task.operations.map(({ index }) => STALLS[index])
const databases = await openStalls(task.hosts, stalls)
const sessions = stalls.map(async (stall, i) => {
  const db = databases.get(stall)!
  const session = db.session()
  await stall.operation.change(session, new World(db, stall.family, task.operations[i].world))
  return session
})
const changed = await Promise.all(sessions)
process.send!('changed')
await message()
changed.forEach((session, i) => {
  const done = (): void => void process.send!(i)
  session.flush().then(done, done)
})

function message(): Promise<unknown[]> {
  return new Promise((resolve) => process.once('message', (...received) => resolve(received)))
}
