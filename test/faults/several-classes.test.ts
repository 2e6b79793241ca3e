import type { Database } from 'skein'
import { Article, Label, OWNED, Picture, Remark, Vote } from '../relations/strategies/key-bin/several-owners.js'
import { MODES } from '../server.js'
import { testFaults, type Works } from './completed-after-faults.js'

const CHANGES: Works = {
  'moving from an article to a picture': async (session) => {
    const remark = await session.load(Remark, 1)
    remark.subject.set('picture:1')
  },
  'moving what an index finds, and an orphan, to owners of the other class': async (session) => {
    const [vote, label] = [await session.load(Vote, 1), await session.load(Label, 1)]
    vote.subject.set('picture:1')
    label.on.set('picture:1')
  },
  'taking in by key what belongs to the other class': (session) => session.at(Article, 1).collection('remarks').add(3),
}

const DELETES: Works = {
  'deleting an owner': (session) => session.delete(Picture, '1'),
}

async function prepare(db: Database): Promise<void> {
  await db.withSession((session) => {
    const [article, picture] = [session.create(Article, { id: 1 }), session.create(Picture, { id: '1' })]
    article.remarks.add(session.create(Remark, { id: 1 }))
    picture.remarks.add(session.create(Remark, { id: 3 }))
    session.create(Vote, { id: 1, subject: article })
    session.create(Vote, { id: 2, subject: picture })
    article.labels.add(session.create(Label, { id: 1 }))
    picture.labels.add(session.create(Label, { id: 2 }))
  })
}

/** Lists all references as people see them, from both ends. */
async function seen(db: Database): Promise<string[]> {
  const session = db.session()
  const lines: string[] = []
  for (const Class of [Article, Picture])
    for (const { id, remarks, votes, labels } of await session.query<Article | Picture>(Class).scan().toArray())
      for (const each of [remarks, votes, labels])
        lines.push(`${Class.name} ${id}: ${[...(await each.keys())].sort().join(' ')}`)
  for (const { id, subject } of await session.query(Remark).scan().toArray()) lines.push(`remark ${id} ${subject.key}`)
  for (const { id, subject } of await session.query(Vote).scan().toArray()) lines.push(`vote ${id} ${subject.key}`)
  for (const { id, on } of await session.query(Label).scan().toArray()) lines.push(`label ${id} ${on.key}`)
  return lines.sort()
}

for (const mode of MODES) {
  describe(`a fault at every command of references to several classes (${mode})`, function () {
    this.timeout(120_000)
    // A delete in a transaction takes long to disturb everywhere.
    const inTransactions = process.env.SKEIN_FAULTS === 'all' ? DELETES : {}
    const byAnother = mode === 'sc' ? inTransactions : { ...CHANGES, ...DELETES }
    testFaults(mode, { classes: OWNED, prepare, seen, changes: CHANGES, byAnother })
  })
}
