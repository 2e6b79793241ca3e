import { expect } from 'chai'
import { Bin, Embeddable, Key, OneToMany, Record, Sharded, collection, type Database, type Session } from 'skein'
import { MODES, need, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'uw_reader' })
class Reader {
  @Key() id!: string
}

@Embeddable()
class Note {
  @Key() id!: string
  @Bin() text!: string
}

/** Keeps its members in its own record. */
@Record({ set: 'uw_a' })
class Plain {
  @Key() id!: string
  @OneToMany(() => Reader) readers = collection<Reader>()
  @OneToMany(() => Note, { strategy: 'consolidate', eager: false }) notes = collection<Note>()
}

/** Keeps them there until it is split. */
@Record({ set: 'uw_b' })
class Grown {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: 4, when: { bytes: 100_000 }, subkeys: 'readersIn' })
  @OneToMany(() => Reader)
  readers = collection<Reader>()
  @Sharded({ by: 'hash', shards: 4, when: { bytes: 100_000 }, subkeys: 'notesIn' })
  @OneToMany(() => Note, { strategy: 'consolidate' })
  notes = collection<Note>()
}

const note = (id: string): Note => Object.assign(new Note(), { id, text: 'text' })

type Owner = typeof Plain | typeof Grown
const CHANGES: { readonly [title: string]: (session: Session, owner: Owner) => void } = {
  'an add of a key': (session, owner) => session.at(owner, 'o').collection('readers').add('r2'),
  'a removal of a key': (session, owner) => session.at(owner, 'o').collection('readers').remove('r1'),
  'an add of a child': (session, owner) => session.at(owner, 'o').collection('notes').add(note('n2')),
  'a removal of a child': (session, owner) => session.at(owner, 'o').collection('notes').remove('n1'),
}

for (const mode of MODES) {
  describe(`a write of a collection that is sharded on demand, until it is split (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Plain, Grown, Reader], (opened) => ({ db, server } = opened))
    beforeEach(() =>
      db.withSession((session) => {
        for (const id of ['r1', 'r2']) session.create(Reader, { id })
        for (const owner of [Plain, Grown]) {
          const { readers, notes } = session.persist(Object.assign(new owner(), { id: 'o' }))
          readers.add('r1')
          notes.add(note('n1'))
        }
      }),
    )

    for (const [title, change] of Object.entries(CHANGES))
      it(`is the one command that it would be in its owner record, with one condition more: ${title}`, async function () {
        const { commands } = need(this, server.embedded, 'only the embedded server counts bytes')
        /** Words of the one command, and its bytes. */
        const sent = async (owner: Owner): Promise<{ readonly words: readonly string[]; readonly bytes: number }> => {
          const session = db.session()
          change(session, owner)
          const lines = String(await session.explain()).split('\n')
          const [command, ...others] = lines.filter(
            (line) => /^ +(write|read|delete) /.test(line) && line.includes('uw_'),
          )
          expect(others).to.deep.equal([])
          const { rows, bytesIn } = await commands.during(() => session.flush())
          expect(rows).to.equal(1)
          return { words: command.split(' · ').slice(1, -1), bytes: bytesIn }
        }
        const [plain, grown] = [await sent(Plain), await sent(Grown)]
        const condition = `if ${title.endsWith('child') ? 'notesIn' : 'readersIn'} is absent`
        expect(grown.words).to.include(condition)
        expect(plain.words).to.include.members(grown.words.filter((each) => each !== condition))
        // The condition, and the name of its bin.
        expect(grown.bytes - plain.bytes).to.be.below(40)
      })
  })
}
