import type { Database } from 'skein'
import {
  Bot,
  Fan,
  Keeping,
  Photo,
  Post,
  Reaction,
  REACTIONS,
} from '../relations/strategies/link-records/several-link-models.js'
import { MODES } from '../server.js'
import { testFaults, type Works } from './completed-after-faults.js'

const CHANGES: Works = {
  'linking two entities': async (session) => {
    const [bob, post] = [await session.load(Fan, 'bob'), await session.load(Post, 1)]
    bob.reacted.link(post, { emoji: 'new' })
  },
  'linking by key, where there is a link already': (session) =>
    session.at(Fan, 'ann').collection('reacted').link('rphoto:1', { emoji: 'changed' }),
  'unlinking by key what has an equal key in the other class': (session) =>
    session.at(Post, 1).collection('reactors').unlink('ann'),
  'linking softly what an index finds, with several classes at both ends': (session) =>
    session.at(Photo, 1).collection('keepers').link('rfan:bob', { note: 'new' }),
  'unlinking softly': (session) => session.at(Bot, 7).collection('kept').unlink('rphoto:1'),
}

const DELETES: Works = {
  'deleting an end that is one of several': (session) => session.delete(Photo, 1),
  'deleting an end that leads to several': (session) => session.delete(Fan, 'ann'),
}

async function prepare(db: Database): Promise<void> {
  await db.withSession((session) => {
    const [ann] = ['ann', 'bob'].map((id) => session.create(Fan, { id }))
    const bot = session.create(Bot, { id: 7 })
    const post = session.create(Post, { id: 1, title: 'One' })
    const photo = session.create(Photo, { id: 1, file: '1.jpg' })
    ann.reacted.link(post, { emoji: 'up' })
    ann.reacted.link(photo, { emoji: 'heart' })
    photo.keepers.add(bot, ann)
    bot.kept.add(post)
  })
}

/** Lists all links as people see them, from both ends, and the records of links. */
async function seen(db: Database): Promise<string[]> {
  const session = db.session()
  const lines: string[] = []
  const note = (...parts: unknown[]): void => void lines.push(parts.join(' '))
  for (const { id, reacted, kept } of await session.query(Fan).scan().toArray())
    note(id, ...(await reacted.keys()), 'keeps', ...[...(await kept.keys())].sort())
  for (const { id, kept } of await session.query(Bot).scan().toArray()) note(id, ...[...(await kept.keys())].sort())
  for (const Class of [Post, Photo])
    for (const { id, reactors, keepers } of await session.query<Post | Photo>(Class).scan().toArray())
      note(Class.name, id, ...(await reactors.keys()), 'is kept by', ...(await keepers.keys()))
  for (const { fan, subject, emoji } of await session.query(Reaction).scan().toArray())
    note(fan.key, subject.key, emoji)
  for (const { by, subject, endedAt } of await session.query(Keeping, { deleted: 'include' }).scan().toArray())
    note(by.key, subject.key, endedAt === undefined ? 'keeps' : 'kept')
  return lines.sort()
}

for (const mode of MODES) {
  describe(`a fault at every command of link records between several classes (${mode})`, function () {
    this.timeout(120_000)
    // Transactions take long to disturb everywhere.
    const inTransactions = process.env.SKEIN_FAULTS === 'all' ? DELETES : {}
    const byAnother = mode === 'sc' ? inTransactions : { ...CHANGES, ...DELETES }
    testFaults(mode, { classes: REACTIONS, prepare, seen, changes: CHANGES, byAnother })
  })
}
