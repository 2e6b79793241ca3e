import { SkeinError, type Collection, type Database, type EntityClass } from 'skein'
import { IDS, classOf, collectionsOf, type Kind } from './graph-models.js'
import { isOnDemand } from './in-companions.js'

export const any = <T>(of: readonly T[]): T => of[Math.floor(Math.random() * of.length)]

interface Owner {
  collection(name: string): Collection<object>
}

/** Errors of a collection that cannot be split, and of an owner that is gone. */
const HARMLESS = ['SKEIN_2432', 'SKEIN_3003']

/** Class, key and collection that may be split. */
export type Choice = () => readonly [EntityClass, number | string, string]

/** Does the work while collections are split and merged, where they are sharded on demand. */
export async function besideSplits(db: Database, work: () => Promise<void>, choose: Choice = ofGraph): Promise<void> {
  if (!isOnDemand) return work()
  const splits = Array.from({ length: 3 }, () => splitSome(db, choose))
  try {
    await work()
  } finally {
    await Promise.all(splits)
  }
}

const ofGraph: Choice = () => {
  const kind = any<Kind>(['Person', 'Task'])
  const children = kind === 'Person' ? ['notes', 'notes', 'notes'] : []
  return [classOf(kind), any(IDS), any([...collectionsOf(kind), ...children])]
}

async function splitSome(db: Database, choose: Choice): Promise<void> {
  const [of, key, name] = choose()
  const owner = db.session().at(of, key as never) as unknown as Owner
  const members = owner.collection(name)
  const shards = any([0, 1, 2, 3])
  try {
    await (shards === 0 ? members.merge() : members.shard(shards))
  } catch (error) {
    if (!(error instanceof SkeinError) || !HARMLESS.includes(error.code)) throw error
  }
}
