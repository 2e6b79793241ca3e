import { expect } from 'chai'
import type { Database, EntityClass, Session } from 'skein'
import { emptySets } from '../empty-sets.js'
import type { Mode } from '../server.js'
import { FaultyServer } from './at-each-command.js'

/** Works by title. */
export interface Works {
  readonly [title: string]: (session: Session) => Promise<unknown> | void
}

/** Works on one way to store relations, which a fault at any command must not leave half done. */
export interface FaultyWorks {
  readonly classes: readonly EntityClass[]
  /** Stores the records that each work starts from. */
  readonly prepare: (db: Database) => Promise<void>
  /** Lists all relations as people see them, from both ends. */
  readonly seen: (db: Database) => Promise<string[]>
  /** Changes that the flush after them sends. They may be made again after a failure, by the same or by another process. */
  readonly changes: Works
  /** Works that another process repeats: of changes in a transaction nothing is left to complete. */
  readonly byAnother: Works
}

/** Tests each work with a fault at each of its commands: the same session, or another process, completes it. */
export function testFaults(mode: Mode, { classes, prepare, seen, changes, byAnother }: FaultyWorks): void {
  const server = FaultyServer.use(mode, classes)

  /** Prepares, and the first time finds out what the work makes of it. */
  const preparing = (work: (db: Database) => Promise<void>): { wanted: string[]; prepare: typeof prepare } => {
    const found = {
      wanted: [] as string[],
      prepare: async (db: Database): Promise<void> => {
        if (found.wanted.length === 0) {
          await prepare(db)
          await work(db)
          found.wanted = await seen(db)
          await emptySets(db, classes)
        }
        await prepare(db)
      },
    }
    return found
  }

  const findings = async (db: Database, repair: boolean): Promise<string[]> => {
    const found: string[] = []
    for await (const { kind, state, message } of db.verify(classes, { settle: 0, repair }))
      found.push(`${kind} ${state}: ${message}`)
    return found
  }

  const expectWhole = async (db: Database, wanted: readonly string[], where: string): Promise<void> => {
    expect(await seen(db), where).to.deep.equal(wanted)
    expect(await findings(db, false), where).to.deep.equal([])
  }

  for (const [title, change] of Object.entries(changes)) {
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
          await expectWhole(db, prepared.wanted, where)
        },
      })
    })
  }

  for (const [title, change] of Object.entries(byAnother)) {
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
          await expectWhole(db, prepared.wanted, where)
        },
      })
    })
  }
}
