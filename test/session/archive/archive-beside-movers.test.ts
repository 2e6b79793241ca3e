import { expect } from 'chai'
import { Bin, Key, Record, SkeinError, type Database, type EntityClass } from 'skein'
import { isNamedServer, MODES, type TestServer } from '../../server.js'
import { addFault, untilHit } from '../../until-hit.js'
import { useDatabase } from '../../use-database.js'
import { ALONG, comment, idsIn, postIn, Reader, type Post } from './archive-companion-models.js'

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

/** Commands between two late ones of a record with companions, because each takes two more moves. */
const STEP = process.env.SKEIN_FAULTS === 'all' ? 1 : 7

for (const mode of MODES) {
  describe(`a record that several movers archive and bring back (${mode})`, function () {
    if (isNamedServer) return
    const cold = mode === 'ap' ? 'test' : 'more'
    const Note = noteIn(cold)
    const { Post: Archived, all } = postIn(cold)
    let db: Database
    let server: TestServer
    useDatabase(mode, [Note, ...all], (opened) => ({ db, server } = opened))

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

      it(`keeps its companions, whichever command is late: ${title}`, async function () {
        for (let id = 1 + (turn % STEP), isHit = true; isHit; id += STEP) {
          await db.withSession((session) => {
            const post = session.persist(Object.assign(new Archived(), { id, title: 'first' }))
            post.comments.add(comment('a'), comment('b', 1))
            post.dated.add(comment('x', 1))
            post.readers.add(session.create(Reader, { id }))
          })
          await db.withSession((session) => session.at<Post>(Archived, id).counter('views').add(3))
          const stored = await beside(this, Archived, id, each, id - 1)
          isHit = stored.isHit
          const load = (): Promise<Post | null> => db.session().find<Post>(Archived, id, { with: ALONG })
          const shown = (post: Post | null): unknown => post && [post.title, post.views, post.commentCount, idsIn(post)]
          const expected = [stored.title, 3, 2, [['a', 'b'], [], ['x'], [id]]]
          expect(shown(await load()), `command ${id - 1}`).to.deep.equal(expected)
          expect(await db.session().archive(Archived, id), `command ${id - 1}`).to.equal(true)
          expect(await db.session().unarchive(Archived, id), `command ${id - 1}`).to.equal(true)
          expect(shown(await load()), `command ${id - 1}, moved again`).to.deep.equal(expected)
        }
      })
    }
  })
}
