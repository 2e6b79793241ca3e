import { expect } from 'chai'
import type { Database, EntityClass } from 'skein'
import { FaultyServer } from '../../faults/at-each-command.js'
import { MODES } from '../../server.js'

/** A place where a record of some kind may be looked for. */
export type From = 'archive' | 'any' | undefined

/** A kind of record that is archived with what belongs to it, under the key 1. */
export interface ArchivedKind {
  readonly title: string
  readonly classes: readonly EntityClass[]
  readonly owner: EntityClass
  /** Sets of all records that move. */
  readonly sets: readonly string[]
  /** States in which it may be when it is moved. */
  readonly states: readonly { readonly title: string; readonly store: (db: Database) => Promise<unknown> }[]
  /** All that belongs to it. */
  readonly shown: (db: Database, from?: From) => Promise<unknown>
  readonly all: unknown
  /** Changes it, in ways that a record which is being moved does not allow. */
  readonly change: (db: Database) => Promise<unknown>
  readonly changed: unknown
}

/** What a suite can use beside the tests of its course. */
export interface Course {
  readonly server: FaultyServer
  readonly mode: string
  /** Stores the record anew, whatever has become of the one before. */
  readonly store: (db: Database, state: number) => Promise<unknown>
  readonly countIn: (db: Database, namespace: string) => Promise<number>
}

const isAll = process.env.SKEIN_FAULTS === 'all'

/** A scan after every fault takes a minute: unless asked for, it is one after every third. */
let turn = 0
const isScanned = (): boolean => isAll || turn++ % 3 === 0

/** Tests moves of a record to the archive and back with a fault at each command. */
export function testArchiveFaults(kind: ArchivedKind, more?: (course: Course) => void): void {
  const { owner, shown } = kind
  // A move between namespaces is never a transaction, so both modes do the same.
  for (const mode of isAll ? MODES : (['ap'] as const)) {
    describe(`${kind.title}, with a fault at each command (${mode})`, function () {
      this.timeout(120_000)
      const server = FaultyServer.use(mode, kind.classes)

      const store = async (db: Database, state: number): Promise<void> => {
        await db.session().unarchive(owner, 1)
        await db.session().delete(owner, 1)
        await kind.states[state].store(db)
      }
      const countIn = async (db: Database, namespace: string): Promise<number> => {
        const found = kind.sets.map(async (set) => (await db.client.query(namespace, set).results()).length)
        return (await Promise.all(found)).reduce((sum, each) => sum + each)
      }
      /** It is somewhere, with all that belongs to it. */
      const check = async (db: Database, where: string): Promise<void> =>
        void expect(await shown(db, 'any'), where).to.deep.equal(kind.all)
      const change = async (db: Database, where: string): Promise<void> => {
        expect(await shown(db), where).to.deep.equal(kind.all)
        await kind.change(db)
        expect(await shown(db), where).to.deep.equal(kind.changed)
      }
      const repair = async (db: Database, where: string): Promise<void> => {
        for (const from of [undefined, 'archive'] as const)
          for await (const { kind, state, message } of db.verify(owner, {
            settle: 0,
            repair: true,
            ...(from && { from }),
          }))
            expect([kind, state], `${where}: ${message}`).to.deep.equal(['unfinishedArchive', 'found'])
        await check(db, where)
      }
      const whole = async (db: Database, where: string): Promise<void> => {
        for (const from of [undefined, 'archive'] as const)
          for await (const { message } of db.verify(owner, { settle: 0, ...(from && { from }) }))
            expect.fail(`${where}: ${message}`)
      }

      for (const [state, { title }] of kind.states.entries()) {
        const place = title === '' ? '' : `, ${title}`

        it(`lose nothing when they are archived, and complete it when that is repeated${place}`, async () => {
          await server.disturb({
            prepare: (db) => store(db, state),
            work: (db) => db.session().archive(owner, 1),
            isLearning: true,
            check: async (db, _error, where) => {
              await check(db, where)
              if (isScanned()) await repair(db, where)
              await db.session().archive(owner, 1)
              expect(await db.session().find(owner, 1), where).to.equal(null)
              expect(await countIn(db, mode), where).to.equal(0)
              await check(db, where)
              if (isScanned()) await whole(db, where)
            },
          })
        })

        it(`can be called off after a fault: the record takes changes again${place}`, async () => {
          await server.disturb({
            prepare: (db) => store(db, state),
            work: (db) => db.session().archive(owner, 1),
            isLearning: true,
            check: async (db, _error, where) => {
              await db.session().unarchive(owner, 1)
              await change(db, where)
              await db.session().archive(owner, 1)
              expect(await shown(db, 'archive'), where).to.deep.equal(kind.changed)
              expect(await countIn(db, mode), where).to.equal(0)
            },
          })
        })

        it(`lose nothing when they are brought back, and complete it when that is repeated${place}`, async () => {
          await server.disturb({
            prepare: async (db) => {
              await store(db, state)
              await db.session().archive(owner, 1)
            },
            work: (db) => db.session().unarchive(owner, 1),
            isLearning: true,
            check: async (db, _error, where) => {
              await check(db, where)
              if (isScanned()) await repair(db, where)
              await db.session().unarchive(owner, 1)
              expect(await countIn(db, 'cold'), where).to.equal(0)
              await change(db, where)
            },
          })
        })

        it(`are deleted in both places after a fault${place}`, async () => {
          await server.disturb({
            prepare: (db) => store(db, state),
            work: (db) => db.session().archive(owner, 1),
            isLearning: true,
            check: async (db, _error, where) => {
              if (!(await db.session().delete(owner, 1))) return check(db, where)
              expect([await countIn(db, mode), await countIn(db, 'cold')], where).to.deep.equal([0, 0])
            },
          })
        })
      }
      more?.({ server, mode, store, countIn })
    })
  }
}
