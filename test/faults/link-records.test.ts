import type { Database } from 'skein'
import {
  Access,
  Doc,
  Feed,
  Follow,
  LINKED,
  Person,
  Reader,
  SOFT,
  Subscription,
  User,
} from '../relations/strategies/link-records/link-models.js'
import { MODES } from '../server.js'
import { testFaults, type Works } from './completed-after-faults.js'

const CHANGES: Works = {
  'linking two entities': async (session) => {
    const [ann, bob] = await session.loadMany(Person, ['ann', 'bob'])
    ann.follows.link(bob, { kind: 'friend' })
  },
  'linking by key, where there is a link already': (session) =>
    session.at(Person, 'ann').collection('follows').link('cem', { kind: 'new' }),
  'linking where an index finds the links': (session) =>
    session.at(Doc, 'x').collection('users').link(2, { role: 'reader' }),
  'unlinking by key': (session) => session.at(Person, 'cem').collection('followers').unlink('ann'),
  'unlinking softly': (session) => session.at(Reader, 'ann').collection('feeds').unlink('news'),
  'unlinking softly what an index finds': (session) => session.at(Feed, 'news').collection('readers').unlink('ann'),
  'linking again what was unlinked softly': (session) =>
    session.at(Feed, 'jazz').collection('readers').link('ann', { plan: 'new' }),
}

const DELETES: Works = {
  'deleting an end': (session) => session.delete(Person, 'ann'),
  'deleting an end that lists links which others find by an index': (session) => session.delete(User, 1),
  'deleting a link': (session) => session.delete(Follow, 'cem:ann'),
  'restoring a link': (session) => session.restore(Subscription, 'ann:jazz').catch(isRestored),
}

/** A restore that was made, and whose answer was lost, finds nothing deleted. */
const isRestored = (error: Error): void => {
  if (error.name !== 'NotFoundError') throw error
}

async function prepare(db: Database): Promise<void> {
  await db.withSession(async (session) => {
    const [ann, bob, cem] = ['ann', 'bob', 'cem'].map((id) => session.create(Person, { id }))
    ann.follows.link(cem, { kind: 'old' })
    cem.follows.add(ann, bob)
    const [one] = [1, 2].map((id) => session.create(User, { id }))
    one.docs.link(session.create(Doc, { id: 'x' }), { role: 'owner' })
    const reader = session.create(Reader, { id: 'ann' })
    reader.feeds.add(session.create(Feed, { id: 'news' }), session.create(Feed, { id: 'jazz' }))
  })
  await db.withSession(async (session) => session.at(Reader, 'ann').collection('feeds').unlink('jazz'))
}

/** Lists all links as people see them, from both ends, and the records of links. */
async function seen(db: Database): Promise<string[]> {
  const session = db.session()
  const lines: string[] = []
  const note = (...parts: unknown[]): void => void lines.push(parts.join(' '))
  for (const { id, follows, followers } of await session.query(Person).scan().toArray()) {
    note(id, 'follows', ...(await follows.keys()))
    note(id, 'is followed by', ...(await followers.keys()))
  }
  for (const { id, docs } of await session.query(User).scan().toArray()) note(id, 'opens', ...(await docs.keys()))
  for (const { id, users } of await session.query(Doc).scan().toArray())
    note(id, 'is open to', ...[...(await users.keys())].sort())
  for (const { id, feeds } of await session.query(Reader).scan().toArray()) note(id, 'reads', ...(await feeds.keys()))
  for (const { id, readers } of await session.query(Feed).scan().toArray())
    note(id, 'is read by', ...(await readers.keys()))
  for (const { from, to, kind } of await session.query(Follow).scan().toArray()) note(from.key, to.key, kind)
  for (const { user, doc, role } of await session.query(Access).scan().toArray()) note(user.key, doc.key, role)
  for (const { reader, feed, plan, endedAt } of await session
    .query(Subscription, { deleted: 'include' })
    .scan()
    .toArray())
    note(reader.key, feed.key, plan, endedAt === undefined ? 'runs' : 'ended')
  return lines.sort()
}

for (const mode of MODES) {
  describe(`a fault at every command of link records (${mode})`, function () {
    this.timeout(120_000)
    const byAnother = mode === 'sc' ? DELETES : { ...CHANGES, ...DELETES }
    testFaults(mode, { classes: [...LINKED, ...SOFT], prepare, seen, changes: CHANGES, byAnother })
  })
}
