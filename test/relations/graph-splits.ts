import { SkeinError, type Collection, type Database } from 'skein'
import { IDS, classOf, collectionsOf, type Kind } from './graph-models.js'
import { isOnDemand } from './in-companions.js'

const any = <T>(of: readonly T[]): T => of[Math.floor(Math.random() * of.length)]

interface Owner {
  collection(name: string): Collection<object>
}

/** Errors of a collection that cannot be split, and of an owner that is gone. */
const HARMLESS = ['SKEIN_2432', 'SKEIN_3003']

/** Does the work while collections are split and merged, where they are sharded on demand. */
export async function besideSplits(db: Database, work: () => Promise<void>): Promise<void> {
  if (!isOnDemand) return work()
  const splits = Array.from({ length: 3 }, () => splitSome(db))
  try {
    await work()
  } finally {
    await Promise.all(splits)
  }
}

async function splitSome(db: Database): Promise<void> {
  const kind = any<Kind>(['Person', 'Task'])
  const owner = db.session().at(classOf(kind), any(IDS) as never) as unknown as Owner
  const members = owner.collection(any(collectionsOf(kind)))
  const shards = any([0, 1, 2, 3])
  try {
    await (shards === 0 ? members.merge() : members.shard(shards))
  } catch (error) {
    if (!(error instanceof SkeinError) || !HARMLESS.includes(error.code)) throw error
  }
}
