import { expect } from 'chai'
import { open, type Database, type EntityClass, type Finding, type SkeinError } from 'skein'
import { startEmbedded, type EmbeddedServer } from 'skein/embedded'
import { ALL_FAULTS, FAULTS } from '../../faults/faults.js'
import { isNamedServer, MODES, patient, type Mode } from '../../server.js'

/** Way in which moves are disturbed: in steps, and where the namespace has transactions, in one. */
interface Variant {
  readonly mode: Mode
  readonly title: string
  readonly transactions?: 'off'
}

/** By default, moves in steps are disturbed only where there are no transactions. */
const VARIANTS: readonly Variant[] = [
  ...MODES.map((mode) => ({ mode, title: mode })),
  ...(ALL_FAULTS ? [{ mode: 'sc', title: 'sc, without transactions', transactions: 'off' } as const] : []),
]

const CUT_OFF = Object.keys(FAULTS).filter((title) => title.startsWith('cut off'))
const PASSING = Object.keys(FAULTS).filter((title) => !CUT_OFF.includes(title))

/** Faults to try at a command: by default, at some of them; the process is cut off before or after it, and at every third of those one fault passes by. */
function faultsAt(command: number, every: number): readonly string[] {
  if (ALL_FAULTS) return [...CUT_OFF, ...PASSING]
  const turn = command / every
  if (!Number.isInteger(turn)) return []
  return [CUT_OFF[turn % CUT_OFF.length], ...(turn % 3 === 0 ? [PASSING[(turn / 3) % PASSING.length]] : [])]
}

/** Beginning of the bins of links that were ended. */
const ENDED = '_sk.end.'

/** Ways in which an unfinished split is finished. */
const FINISHERS = ['the next writer', 'verify', 'sweep'] as const

/** A change of the number of shards; -1 is the owner's own record. */
export interface Course {
  readonly from: number
  readonly to: number
}

/** Members that are moved: keys, or consolidated children. */
export interface MovedKind {
  readonly title: string
  readonly classes: readonly EntityClass[]
  readonly owner: EntityClass
  /** Set of the owners. */
  readonly set: string
  readonly courses: readonly Course[]
  /** Distance between disturbed commands, unless all faults are asked for. */
  readonly every: number
  /** Stores what all owners share. */
  readonly begin?: (db: Database) => Promise<unknown>
  /** Stores an owner with its members, in its own record. */
  readonly prepare: (db: Database, id: string) => Promise<unknown>
  readonly split: (db: Database, id: string, shards: number) => Promise<void>
  /** Members as all questions show them, in their order. */
  readonly shown: (db: Database, id: string) => Promise<readonly unknown[]>
  readonly before: readonly unknown[]
  /** Adds, changes and removes members, by a process that does not know of the split and by one that does. */
  readonly change: (fresh: Database, db: Database, id: string) => Promise<unknown>
  readonly after: readonly unknown[]
}

/** Tests each course with faults at its commands: nothing is lost, and the split is finished. */
export function testSplitFaults(kind: MovedKind): void {
  for (const { mode, title: variant, transactions } of VARIANTS) {
    const title = `${kind.title} with a fault at a command (${variant})`
    describe(isNamedServer ? `${title} (skipped: only the embedded server has faults)` : title, function () {
      this.timeout(240_000)
      let server: EmbeddedServer
      let db: Database
      /** Gives up at once. */
      let hasty: Database
      /** Does not know what the others have done. */
      let fresh: Database
      let turn = 0
      let round = 0
      before(async function () {
        if (isNamedServer) this.skip()
        server = await startEmbedded({ namespaces: [`${mode}:${mode}`] })
        ;[db, hasty, fresh] = await Promise.all([openOne(5), openOne(1), openOne(5)])
        await kind.begin?.(db)
      })
      after(async () => {
        for (const each of [db, hasty, fresh]) await each?.close()
        await server?.stop()
      })

      const openOne = (attempts: number): Promise<Database> =>
        open({
          hosts: server.hosts,
          ...patient({ namespace: mode, entities: kind.classes, retry: { attempts }, transactions }),
        })
      const prepare = async ({ from }: Course): Promise<string> => {
        const id = `s${turn++}`
        await kind.prepare(db, id)
        if (from > 0) await kind.split(db, id, from)
        return id
      }
      const findings = async (of: Database, repair: boolean): Promise<string[]> => {
        const found: Finding[] = []
        for await (const finding of of.verify(kind.owner, { repair, settle: 0 })) found.push(finding)
        return found.map(({ kind, state, key }) => `${kind} ${state} ${String(key)}`)
      }
      const finish = async (id: string, by: (typeof FINISHERS)[number]): Promise<void> => {
        if (by === 'sweep') await fresh.sweep(kind.owner)
        if (by !== 'verify') return
        const found = await findings(fresh, true)
        expect(found.filter((each) => each !== `unfinishedSplit repaired ${id}`)).to.deep.equal([])
      }
      /** Bins of the owner that say that members are on the move. */
      const marksOf = async (id: string): Promise<string[]> => {
        const { bins } = await db.client.get({ ns: mode, set: kind.set, key: id })
        return Object.keys(bins).filter((name) => name.startsWith('_sk.') && !name.startsWith(ENDED))
      }

      const disturb = async (course: Course, skip: number, fault: keyof typeof FAULTS): Promise<void> => {
        const id = await prepare(course)
        await server.faults.add({ ...FAULTS[fault], namespace: mode, skip })
        await kind.split(hasty, id, course.to).catch(() => undefined)
        await server.faults.clear()
        const where = `command ${skip}, ${fault}`
        // Where a commit has not reached all records, that is told: too few members are never shown.
        const seen = await kind.shown(fresh, id).catch((error: SkeinError) => error.code)
        if (seen !== 'SKEIN_3302') expect(seen, where).to.deep.equal(kind.before)
        // A transaction that was cut off holds its records until it expires.
        await server.clock.advance(30)
        expect(await kind.shown(fresh, id), where).to.deep.equal(kind.before)
        const by = FINISHERS[round++ % FINISHERS.length]
        await finish(id, by)
        if (by !== 'the next writer') expect(await marksOf(id), `${where}, ${by}`).to.deep.equal([])
        await kind.change(fresh, db, id)
        expect(await marksOf(id), where).to.deep.equal([])
        expect(await kind.shown(fresh, id), where).to.deep.equal(kind.after)
        expect(await kind.shown(db, id), where).to.deep.equal(kind.after)
        expect(await findings(db, false), where).to.deep.equal([])
        await db.session().delete(kind.owner, id)
      }

      for (const course of kind.courses) {
        const name = (shards: number): string => (shards < 0 ? 'the owner’s record' : `${shards} shards`)
        it(`from ${name(course.from)} to ${name(course.to)}, at any command, loses nothing and is finished`, async () => {
          const clean = await prepare(course)
          const counter = await server.faults.add({ namespace: mode, delay: 0, times: Infinity })
          await kind.split(db, clean, course.to)
          const count = await counter.hits()
          await server.faults.clear()
          expect(count).to.be.within(5, 80)
          for (let skip = 0; skip < count; skip++)
            for (const fault of faultsAt(skip, kind.every)) await disturb(course, skip, fault)
        })
      }
    })
  }
}
