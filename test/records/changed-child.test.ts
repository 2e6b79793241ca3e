import { expect } from 'chai'
import { Bin, Counter, Embeddable, Key, OneToMany, Record, Sharded, collection, type Database } from 'skein'
import { MODES } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Note {
  @Key() id!: string
  @Bin() rank!: number
  @Bin() at!: number
  @Bin() text?: string
  @Counter() likes = 0
}

const KEPT = { strategy: 'consolidate', sortKey: ['rank'], orders: { recent: ['at'] } } as const

@Record({ set: 'chc_page' })
class Page {
  @Key() id!: number
  @OneToMany(() => Note, KEPT) notes = collection<Note>()
}

@Record({ set: 'chc_apart' })
class ApartPage {
  @Key() id!: number
  @Sharded({ by: 'hash', shards: 2 })
  @OneToMany(() => Note, KEPT)
  notes = collection<Note>()
}

const note = (id: string, rank: number): Note => Object.assign(new Note(), { id, rank, at: rank, text: id })

for (const mode of MODES)
  for (const Class of [Page, ApartPage]) {
    describe(`a handle on a loaded child that was changed (${Class.name}, ${mode})`, () => {
      let db: Database
      useDatabase(mode, [Class], (opened) => ({ db } = opened))
      beforeEach(async () => {
        await db.withSession((session) => session.create(Class, { id: 1 }).notes.add(note('a', 1), note('b', 2)))
      })
      const faults = async (): Promise<string[]> => {
        const found: string[] = []
        for await (const { message } of db.verify(Class, { settle: 0 })) found.push(message)
        return found
      }

      it('leaves changes of other fields to be sent with the orders that they belong to', async () => {
        const session = db.session()
        const { notes } = await session.load(Class, 1, { with: ['notes'] })
        Object.assign(notes.items[0], { rank: 5, at: 7, text: 'in memory' })
        const handle = session.at(Class, 1).child('notes', 'a')
        handle.increment('likes', 2)
        handle.put('text', 'by handle')
        await session.flush()
        const stored = (await db.session().load(Class, 1, { with: ['notes'] })).notes
        expect(stored.items.map(({ id, rank, at, text, likes }) => [id, rank, at, text, likes])).to.deep.equal([
          ['b', 2, 2, 'b', 0],
          ['a', 5, 7, 'by handle', 2],
        ])
        expect((await stored.by('recent').last(1)).map(({ id }) => id)).to.deep.equal(['a'])
        expect(session.isDirty()).to.equal(false)
        expect(await faults()).to.deep.equal([])
      })

      it('rejects a change of a field that an order is made of, which would leave the child at its old place', async () => {
        const session = db.session()
        await session.load(Class, 1, { with: ['notes'] })
        const error = await rejection(() => session.at(Class, 1).child('notes', 'a').put('at', 9))
        expect(error).to.have.property('code', 'SKEIN_2331')
      })
    })
  }
