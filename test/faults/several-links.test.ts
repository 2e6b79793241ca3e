import type { Database } from 'skein'
import { Fan, Film, LINKED, Song } from '../relations/strategies/link-lists/several-link-models.js'
import { MODES } from '../server.js'
import { testFaults, type Works } from './completed-after-faults.js'

const CHANGES: Works = {
  'linking a song and a film on both sides': async (session) => {
    const bob = await session.load(Fan, 'bob')
    bob.loved.link('song:1', { stars: 3 })
    bob.liked.link('film:1', { stars: 2 })
    session.at(Film, '1').collection('listedBy').add('bob')
  },
  'unlinking and ending what leads to one of them': async (session) => {
    const ann = await session.load(Fan, 'ann')
    ann.loved.unlink('film:1')
    ann.rented.unlink('film:1')
    ann.listed.remove('song:1')
  },
}

const DELETES: Works = {
  'deleting a film with links': (session) => session.delete(Film, '1'),
}

async function prepare(db: Database): Promise<void> {
  await db.withSession((session) => {
    const [song, film] = [session.create(Song, { id: 1 }), session.create(Film, { id: '1' })]
    const ann = session.create(Fan, { id: 'ann' })
    session.create(Fan, { id: 'bob' })
    ann.loved.link(film, { stars: 1 })
    ann.rented.link(film, { since: 1 })
    ann.listed.add(song, film)
  })
}

/** Lists all links as people see them, from both ends. */
async function seen(db: Database): Promise<string[]> {
  const session = db.session()
  const lines: string[] = []
  for (const { id, liked, loved, listed, rented } of await session.query(Fan).scan().toArray()) {
    for (const each of [liked, loved, listed, rented]) lines.push(`fan ${id}: ${(await each.keys()).join(' ')}`)
    lines.push(`fan ${id} ended: ${(await rented.keys({ deleted: 'only' })).join(' ')}`)
  }
  for (const Class of [Song, Film])
    for (const { id, lovers, listedBy, renters } of await session.query<Song | Film>(Class).scan().toArray()) {
      for (const each of [lovers, listedBy, renters])
        lines.push(`${Class.name} ${id}: ${(await each.keys()).join(' ')}`)
      lines.push(`${Class.name} ${id} ended: ${(await renters.keys({ deleted: 'only' })).join(' ')}`)
    }
  return lines.sort()
}

for (const mode of MODES) {
  describe(`a fault at every command of many-to-many links to several classes (${mode})`, function () {
    this.timeout(120_000)
    // A delete in a transaction takes long to disturb everywhere.
    const inTransactions = process.env.SKEIN_FAULTS === 'all' ? DELETES : {}
    const byAnother = mode === 'sc' ? inTransactions : { ...CHANGES, ...DELETES }
    testFaults(mode, { classes: LINKED, prepare, seen, changes: CHANGES, byAnother })
  })
}
