import 'reflect-metadata'
import { open } from 'skein'
import { PATIENT } from '../../server.js'
import { GROWING_CLASSES, Post } from '../growing-models.js'

// Moves members as it is told, in all namespaces at once, and says which it is done with, until it is killed.

/** Number of shards that the readers of a post are to have in each namespace; -1 is the record of the post. */
export interface Task {
  readonly hosts: string
  readonly splits: readonly { readonly namespace: string; readonly to: number }[]
}

const [{ hosts, splits }] = (await message()) as [Task]
const databases = await Promise.all(
  splits.map(({ namespace }) => open({ hosts, namespace, entities: GROWING_CLASSES, ...PATIENT })),
)
process.send!('ready')
await message()
splits.forEach(({ to }, i) => {
  const readers = databases[i].session().at(Post, 'p').collection('readers')
  const done = (): void => void process.send!(i)
  ;(to < 0 ? readers.merge() : readers.shard(to)).then(done, done)
})

function message(): Promise<unknown[]> {
  return new Promise((resolve) => process.once('message', (...received) => resolve(received)))
}
