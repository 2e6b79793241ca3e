import { expect } from 'chai'
import { Bin, Key, ManyToOne, OneToMany, Record, collection, ref, type Database, type Session } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'once_memo' })
class Memo {
  @Key() id!: number
  @Bin() text?: string
}

@Record({ set: 'once_crew' })
class Crew {
  @Key() id!: number
  @Bin() text?: string
  @OneToMany(() => Sailor, 'crew') sailors = collection<Sailor>()
}

@Record({ set: 'once_sailor' })
class Sailor {
  @Key() id!: number
  @Bin() text?: string
  @ManyToOne(() => Crew, 'sailors') crew = ref<Crew>()
}

const CALLS: { readonly [name: string]: (session: Session, entity: object) => Promise<unknown> } = {
  save: (session, entity) => session.save(entity),
  upsert: (session, entity) => session.upsert(entity),
  flush: (session) => session.flush(),
}

for (const mode of MODES) {
  describe(`a change right after the call that sends an entity (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Memo, Crew, Sailor], (opened) => ({ db } = opened))

    /** Changes one of two entities right after the call; returns what the call has stored. */
    async function changedAfter(
      Class: typeof Memo | typeof Sailor,
      send: (session: Session, entity: object) => Promise<unknown>,
    ): Promise<{ stored: string | undefined; isDirty: boolean; session: Session }> {
      await db.withSession((session) =>
        [1, 2].forEach((id) => session.create<Memo | Sailor>(Class, { id, text: 'before' })),
      )
      const session = db.session()
      const [one, two] = await session.loadMany<Memo | Sailor>(Class, [1, 2])
      one.text = 'sent'
      two.text = 'sent'
      const sending = send(session, one)
      one.text = 'later'
      await sending
      const [stored] = await db.read<Memo | Sailor>(Class, [1])
      return { stored: stored!.text, isDirty: session.isDirty(one), session }
    }

    for (const [name, send] of Object.entries(CALLS)) {
      it(`is not sent by ${name} where the class has no relations, and waits for the next`, async () => {
        const { stored, isDirty, session } = await changedAfter(Memo, send)
        expect([stored, isDirty]).to.deep.equal(['sent', true])
        await session.flush()
        expect((await db.read(Memo, [1]))[0]!.text).to.equal('later')
      })

      it(`is sent by ${name} or the next flush where relations are looked at first`, async () => {
        const { stored, isDirty, session } = await changedAfter(Sailor, send)
        expect(stored).to.equal(isDirty ? 'sent' : 'later')
        await session.flush()
        expect((await db.read(Sailor, [1]))[0]!.text).to.equal('later')
      })
    }
  })
}
