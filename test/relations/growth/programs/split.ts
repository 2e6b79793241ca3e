import 'reflect-metadata'
import { open } from 'skein'
import { PATIENT } from '../../../server.js'
import { KILLED_CLASSES, move, type Task } from '../killed-splits.js'

// Moves members as it is told, in all namespaces at once, and says which it is done with, until it is killed.

const [{ hosts, splits }] = (await message()) as [Task]
const databases = await Promise.all(
  splits.map(({ namespace }) => open({ hosts, namespace, entities: KILLED_CLASSES, ...PATIENT })),
)
process.send!('ready')
await message()
splits.forEach(({ kind, to }, i) => {
  const done = (): void => void process.send!(i)
  move(databases[i], kind, to).then(done, done)
})

function message(): Promise<unknown[]> {
  return new Promise((resolve) => process.once('message', (...received) => resolve(received)))
}
