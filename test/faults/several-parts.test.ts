import type { Database } from 'skein'
import { Author, Form, Note, Page, Photo, Post } from '../relations/strategies/key-bin/several-models.js'
import { answer, Board, Hall, mention } from '../relations/strategies/consolidate/several-part-models.js'
import { MODES } from '../server.js'
import { testFaults, type Works } from './completed-after-faults.js'

type Holder = Board | Hall

const changesOf = (classes: readonly (typeof Board)[]): Works => ({
  'pointing mentions to the same key of another class': async (session) => {
    for (const Class of classes) {
      const { mentions } = await session.load(Class, 1, { with: ['mentions'] })
      const [a, b] = [(await mentions.get('a'))!, (await mentions.get('b'))!]
      a.subject.set('photo:1')
      b.subject.set('post:1')
      a.answers.items[0].about.set('post:1')
    }
  },
  'adding mentions of new entities of both classes': async (session) => {
    const photo = Object.assign(new Photo(), { id: 2, file: 'two.jpg' })
    const post = Object.assign(new Post(), { id: 2, title: 'Two' })
    for (const Class of classes) {
      const { mentions } = await session.load(Class, 2)
      mentions.add(mention('d', photo, answer('v', post)), mention('e', post))
    }
  },
})

const DELETES: Works = {
  'deleting what mentions lead to': (session) => session.delete(Photo, 1),
}

async function prepare(db: Database): Promise<void> {
  await db.withSession((session) => {
    const [post, photo] = [
      session.create(Post, { id: 1, title: 'One' }),
      session.create(Photo, { id: 1, file: '1.jpg' }),
    ]
    for (const Class of [Board, Hall]) {
      const first = session.create<Holder>(Class, { id: 1 })
      first.mentions.add(mention('a', post, answer('x', photo), answer('y', post)), mention('b', photo))
      session.create<Holder>(Class, { id: 2 }).mentions.add(mention('c', post, answer('z', photo)))
    }
  })
}

/** Lists all mentions as people see them, in their records and by the index. */
async function seen(db: Database): Promise<string[]> {
  const session = db.session()
  const lines: string[] = []
  for (const Class of [Board, Hall]) {
    for (const { id, mentions } of await session.query(Class).scan().with('mentions').toArray())
      for (const { id: own, subject, answers } of mentions) {
        const inside = [...answers].map((each) => `${each.id} ${each.about.key}`).sort()
        lines.push(`${Class.name} ${id}: ${own} ${subject.key} (${inside.join(', ')})`)
      }
    for (const path of ['mentions.subject', 'mentions.answers.about'] as const)
      for (const key of ['post:1', 'post:2', 'photo:1', 'photo:2'])
        for await (const { id } of session.pointingTo(Class, path, key))
          lines.push(`${path} ${key}: ${Class.name} ${id}`)
  }
  for (const Class of [Post, Photo])
    lines.push(`${Class.name}: ${(await db.scan<Post | Photo>(Class).keys()).sort().join(' ')}`)
  return lines.sort()
}

for (const mode of MODES) {
  describe(`a fault at every command of references of parts to several classes (${mode})`, function () {
    this.timeout(120_000)
    // A delete in a transaction takes long to disturb everywhere.
    const inTransactions = process.env.SKEIN_FAULTS === 'all' ? DELETES : {}
    const byAnother = mode === 'sc' ? inTransactions : DELETES
    // So do changes of many records.
    const changes = changesOf(mode === 'sc' ? [Board] : [Board, Hall])
    const classes = [Author, Post, Photo, Page, Note, Form, Board, Hall]
    testFaults(mode, { classes, prepare, seen, changes, byAnother })
  })
}
