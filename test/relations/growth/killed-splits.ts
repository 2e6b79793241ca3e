import type { Database } from 'skein'
import { GROWING_CLASSES, Post, make } from './growing-models.js'
import { GROWING_PART_CLASSES, Match, match, score, scoredBy } from '../strategies/growing-parts/growing-part-models.js'

/** Members that are moved: keys, or consolidated children. */
export type Kind = 'readers' | 'scores'

/** Number of shards that the collection is to have in each namespace; -1 is the record of its owner. */
export interface Task {
  readonly hosts: string
  readonly splits: readonly { readonly namespace: string; readonly kind: Kind; readonly to: number }[]
}

export const KILLED_CLASSES = [...GROWING_CLASSES, ...GROWING_PART_CLASSES]

export const move = (db: Database, kind: Kind, to: number): Promise<void> => {
  const session = db.session()
  const members = kind === 'readers' ? session.at(Post, 'p').collection(kind) : session.at(Match, 'p').collection(kind)
  return to < 0 ? members.merge() : members.shard(to)
}

const IDS = Array.from({ length: 14 }, (_, i) => i)

/** Makes the owner with its members in so many shards. */
export async function prepare(db: Database, kind: Kind, from: number): Promise<void> {
  if (kind === 'readers') {
    await db.session().delete(Post, 'p')
    await db.session().save(make(Post, { id: 'p' }))
    await db.withSession((session) => {
      session
        .at(Post, 'p')
        .collection('readers')
        .add(...IDS.map((id) => `r${id}`))
    })
  } else {
    await db.session().delete(Match, 'p')
    await db.session().save(match('p', ...IDS.map((id) => score(id, 100 - id, `name ${id}`, id % 3))))
  }
  if (from > 0) await move(db, kind, from)
}

/** Takes one out and adds one. */
export async function change(db: Database, kind: Kind): Promise<void> {
  await db.withSession((session) => {
    if (kind === 'readers') {
      const readers = session.at(Post, 'p').collection('readers')
      readers.remove('r3')
      readers.add('new')
    } else {
      const scores = session.at(Match, 'p').collection('scores')
      scores.remove(3)
      scores.add(score(14, 1, 'new', 7))
    }
  })
}

/** Members as they are shown, with the values of children. */
export async function shown(db: Database, kind: Kind): Promise<readonly unknown[]> {
  const session = db.session()
  if (kind === 'readers') return session.at(Post, 'p').collection('readers').keys()
  const scores = session.at(Match, 'p').collection('scores')
  const all = (await scores.page({ count: 100 })).map(({ player, points, name }) => `${player} ${points} ${name}`)
  const { scoreCount } = await session.load(Match, 'p')
  const pointing = await Promise.all([0, 1, 2, 7].map((writer) => scoredBy(db, Match, writer)))
  return [...all, await scores.by('named').count(), scoreCount, pointing.map(({ length }) => length)]
}

/** Members as shown before and after the change. */
export function expected(kind: Kind, isChanged: boolean): readonly unknown[] {
  const ids = IDS.filter((id) => !isChanged || id !== 3)
  if (kind === 'readers') return [...ids.map((id) => `r${id}`), ...(isChanged ? ['new'] : [])].sort()
  const all = ids.map((id) => `${id} ${100 - id} name ${id}`).reverse()
  const count = ids.length + Number(isChanged)
  return [...(isChanged ? ['14 1 new'] : []), ...all, count, count, [1, 1, 1, Number(isChanged)]]
}
