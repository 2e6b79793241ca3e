import { expect } from 'chai'
import { BeforeDelete, Embeddable, Key, ManyToOne, OneToMany, Record, collection, ref, type Database } from 'skein'
import type { Fault } from 'skein/embedded'
import { MODES, type TestServer } from '../../../server.js'
import { addFault, untilHit } from '../../../until-hit.js'
import { useDatabase } from '../../../use-database.js'

/** Changes by other sessions after a delete has looked for children that point to it, and before it has sent anything. */
let meanwhile: () => Promise<unknown> = () => Promise.resolve()

@Record({ set: 'beside-author' })
class Author {
  @Key() id!: number
  @OneToMany(() => Letter, 'author', { strategy: 'keyList', onDelete: 'detach' }) letters = collection<Letter>()

  @BeforeDelete() async wait(): Promise<void> {
    await meanwhile()
  }
}

@Record({ set: 'beside-letter' })
class Letter {
  @Key() id!: number
  @ManyToOne(() => Author, 'letters') author = ref<Author>()
}

@Embeddable()
class Note {
  @Key() id!: string
  @ManyToOne(() => Author) author = ref<Author>()
}

@Record({ set: 'beside-page' })
class Page {
  @Key() id!: number
  @OneToMany(() => Note, { strategy: 'consolidate', inverseIndex: { author: { name: 'a', onTargetDelete: 'delete' } } })
  notes = collection<Note>()
}

const note = (id: string, author: number): Note => {
  const made = Object.assign(new Note(), { id })
  made.author.set(author)
  return made
}

for (const mode of MODES) {
  describe(`deleting what consolidated children of an entity point to that the same flush saves (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Author, Letter, Page], (opened) => ({ db, server } = opened))
    afterEach(() => server.embedded?.faults.clear())
    beforeEach(async () => {
      meanwhile = () => Promise.resolve()
      await db.withSession((session) => {
        session.create(Author, { id: 1 }).letters.add(session.create(Letter, { id: 1 }))
        session.create(Author, { id: 2 })
        session.create(Page, { id: 1 }).notes.add(note('x', 2))
      })
    })

    it('leaves nothing to send where its transaction is tried again, and others have taken such a child out since', async function () {
      if (mode === 'ap') this.skip()
      const session = db.session()
      const [author, page] = [await session.load(Author, 1), await session.load(Page, 1)]
      session.remove(author)
      page.notes.remove('x')
      const theirs = (change: (notes: Page['notes']) => void): Promise<void> =>
        db.withSession(async (other) => change((await other.load(Page, 1)).notes))
      const fault = new Promise<Fault>((resolve) => {
        meanwhile = async () => {
          meanwhile = () => Promise.resolve()
          await theirs((notes) => notes.add(note('y', 1)))
          // The write of the page itself comes before that of the transaction which deletes the author.
          resolve(await addFault(this, server, { kind: 'write', set: 'beside-page', key: 1, skip: 1, delay: 300 }))
        }
      })
      const flushing = session.flush()
      await untilHit(await fault, flushing)
      await theirs((notes) => notes.remove('y'))
      await flushing
      expect(session.isDirty()).to.equal(false)
      expect((await db.session().load(Page, 1)).notes.items.map(({ id }) => id)).to.deep.equal([])
    })
  })
}
