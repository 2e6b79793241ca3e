import { expect } from 'chai'
import type { Database, Session } from 'skein'
import { emptySets } from '../empty-sets.js'
import { Article, Label, OWNED, Picture, Remark, Vote } from '../relations/several-owners.js'
import { MODES } from '../server.js'
import { FaultyServer } from './at-each-command.js'

/** Changes that are sent by the flush that follows. They may be made again after a failure, by the same or by another process. */
const CHANGES: { readonly [title: string]: (session: Session) => Promise<unknown> | void } = {
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

const DELETES: { readonly [title: string]: (session: Session) => Promise<unknown> } = {
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

/** What people see of all references, from both ends. */
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

async function findings(db: Database, repair: boolean): Promise<string[]> {
  const found: string[] = []
  for await (const { kind, state, message } of db.verify(OWNED, { settle: 0, repair }))
    found.push(`${kind} ${state}: ${message}`)
  return found
}

for (const mode of MODES) {
  describe(`a fault at every command of references to several classes (${mode})`, function () {
    this.timeout(120_000)
    const server = FaultyServer.use(mode, OWNED)

    /** Prepares, and the first time finds out what the work makes of it. */
    const preparing = (work: (db: Database) => Promise<void>): { wanted: string[]; prepare: typeof prepare } => {
      const found = {
        wanted: [] as string[],
        prepare: async (db: Database): Promise<void> => {
          if (found.wanted.length === 0) {
            await prepare(db)
            await work(db)
            found.wanted = await seen(db)
            await emptySets(db, OWNED)
          }
          await prepare(db)
        },
      }
      return found
    }

    for (const [title, change] of Object.entries(CHANGES)) {
      it(`${title}: the same session completes it`, async () => {
        let session: Session
        let isChanged = false
        const work = async (db: Database): Promise<void> => {
          session = db.session()
          isChanged = false
          await change(session)
          isChanged = true
          await session.flush()
        }
        const prepared = preparing(work)
        await server.disturb({
          prepare: prepared.prepare,
          work,
          check: async (db, error, where) => {
            // A load has failed, and nothing was changed.
            if (!isChanged) return
            if (error !== undefined) await session.flush()
            expect(session.isDirty(), where).to.equal(false)
            await findings(db, true)
            expect(await seen(db), where).to.deep.equal(prepared.wanted)
            expect(await findings(db, false), where).to.deep.equal([])
          },
        })
      })
    }

    // A transaction that was cut off leaves nothing to complete, and a delete in one takes long to disturb everywhere.
    const inTransactions = process.env.SKEIN_FAULTS === 'all' ? DELETES : {}
    for (const [title, change] of Object.entries(mode === 'sc' ? inTransactions : { ...CHANGES, ...DELETES })) {
      it(`${title}: another process completes it`, async () => {
        const work = async (db: Database): Promise<void> => {
          const session = db.session()
          await change(session)
          await session.flush()
        }
        const prepared = preparing(work)
        await server.disturb({
          prepare: prepared.prepare,
          work,
          check: async (db, _error, where) => {
            await findings(db, true)
            await work(db)
            expect(await seen(db), where).to.deep.equal(prepared.wanted)
            expect(await findings(db, false), where).to.deep.equal([])
          },
        })
      })
    }
  })
}
