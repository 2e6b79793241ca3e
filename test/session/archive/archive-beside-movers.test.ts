import { expect } from 'chai'
import { Bin, Key, Record, SkeinError, type Database, type EntityClass } from 'skein'
import { isNamedServer, MODES, type TestServer } from '../../server.js'
import { addFault, untilHit } from '../../until-hit.js'
import { useDatabase } from '../../use-database.js'
import { movedFamilies } from './archive-families.js'

interface Stored {
  id: number
  title?: string
}

function noteIn(archive: string): EntityClass<Stored> {
  @Record({ set: 'am_note', name: 'Note', archive })
  class Note implements Stored {
    @Key() id!: number
    @Bin() title?: string
  }
  return Note
}

type Move = 'archive' | 'unarchive'
/** Steps that others take while a command of the first mover is late. */
type Step = Move | 'change'
const BESIDE: readonly (readonly [Move, readonly Step[]])[] = [
  ['unarchive', ['unarchive']],
  ['unarchive', ['archive']],
  ['unarchive', ['unarchive', 'change', 'archive']],
  ['archive', ['archive']],
  ['archive', ['unarchive', 'change']],
  ['archive', ['archive', 'unarchive', 'change', 'archive']],
]

for (const mode of MODES) {
  describe(`a record that several movers archive and bring back (${mode})`, function () {
    if (isNamedServer) return
    const cold = mode === 'ap' ? 'test' : 'more'
    const Note = noteIn(cold)
    const families = movedFamilies(cold)
    let db: Database
    let server: TestServer
    useDatabase(mode, [Note, ...families.flatMap(({ all }) => all)], (opened) => ({ db, server } = opened))

    const settled = (work: Promise<unknown>): Promise<void> =>
      work.then(
        () => undefined,
        (error: unknown) => expect(error).to.be.instanceOf(SkeinError) && undefined,
      )
    const move = (type: EntityClass<Stored>, id: number, step: Move): Promise<void> =>
      settled(step === 'archive' ? db.session().archive(type, id) : db.session().unarchive(type, id))
    /** Runs the steps of others while each command of the first mover is late; returns the last title that was stored. */
    const beside = async (
      context: Mocha.Context,
      type: EntityClass<Stored>,
      id: number,
      [first, others]: (typeof BESIDE)[number],
      skip: number,
      changed?: (db: Database, id: number) => Promise<unknown>,
    ): Promise<{ readonly isHit: boolean; readonly title: string }> => {
      if (first === 'unarchive') await db.session().archive(type, id)
      const fault = await addFault(context, server, { skip, delay: 40 })
      const work = move(type, id, first)
      await untilHit(fault, work)
      const isHit = (await fault.hits()) > 0
      let title = 'first'
      for (const step of others) {
        if (step !== 'change') await move(type, id, step)
        else {
          const session = db.session()
          const found = await session.find(type, id)
          if (found === null) continue
          found.title = 'second'
          await settled(session.flush().then(() => (title = 'second')))
          if (changed !== undefined) await settled(changed(db, id))
        }
      }
      await work
      await server.embedded!.faults.clear()
      await db.session().unarchive(type, id)
      return { isHit, title }
    }

    for (const [turn, each] of BESIDE.entries()) {
      const title = `${each[0]} beside ${each[1].join(', ')}`

      it(`is never lost, whichever command is late: ${title}`, async function () {
        for (let id = 1, isHit = true; isHit; id++) {
          await db.withSession((session) => void session.create(Note, { id, title: 'first' }))
          const stored = await beside(this, Note, id, each, id - 1)
          isHit = stored.isHit
          const found = await db.session().find(Note, id)
          expect(found?.title, `command ${id - 1}`).to.equal(stored.title)
        }
      })

      for (const { title: family, type, every, store, change, shown, expected } of families)
        it(`keeps ${family}, whichever command is late: ${title}`, async function () {
          const step = process.env.SKEIN_FAULTS === 'all' ? 1 : every
          for (let id = 1 + (turn % step), isHit = true; isHit; id += step) {
            await store(db, id)
            const stored = await beside(this, type, id, each, id - 1, change)
            isHit = stored.isHit
            const where = `command ${id - 1}`
            expect(await shown(db, id), where).to.deep.equal([stored.title, ...expected(id)])
            expect(await db.session().archive(type, id), where).to.equal(true)
            expect(await db.session().unarchive(type, id), where).to.equal(true)
            if (stored.title === 'second') await change?.(db, id)
            expect(await shown(db, id), `${where}, moved again`).to.deep.equal([stored.title, ...expected(id)])
          }
        })
    }
  })
}
