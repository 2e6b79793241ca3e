import { expect } from 'chai'
import { AfterSave, BeforeSave, Bin, collection, Counter, Embeddable, Key, OneToMany, Record, type Database } from 'skein' // prettier-ignore
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Remark {
  @Key() id!: string
}

const called: string[] = []

@Record({ set: 'hooked_note' })
class Note {
  @Key() id!: string
  @Bin() text: string = ''
  @Bin({ type: { list: 'string' } }) tags: string[] = []
  @Counter() views = 0
  @OneToMany(() => Remark, { strategy: 'consolidate', eager: false }) remarks = collection<Remark>()

  @BeforeSave() trim(): void {
    this.text = this.text.trim()
    called.push(`before ${this.id}`)
  }

  @AfterSave() done(): void {
    called.push(`after ${this.id}`)
  }
}

for (const mode of MODES) {
  describe(`hooks of a class whose record a handle changes (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Note], (opened) => ({ db } = opened))
    beforeEach(() => called.splice(0))

    it('are not called, because there is no entity', async () => {
      await db.session().save(Object.assign(new Note(), { id: 'a', text: ' x ' }))
      called.splice(0)
      await db.withSession((session) => {
        const note = session.at(Note, 'a')
        note.counter('views').add(1)
        note.list('tags').append('t')
        note.collection('remarks').add(Object.assign(new Remark(), { id: 'r' }))
        const made = session.at(Note, 'b', { create: true })
        made.counter('views').add(2)
      })
      expect(called).to.deep.equal([])
      const { text, tags, views } = await db.session().load(Note, 'a')
      expect([text, tags, views]).to.deep.equal(['x', ['t'], 1])
      expect((await db.session().load(Note, 'b')).views).to.equal(2)
    })

    it('are called where the entity is loaded, before or after the change', async () => {
      await db.session().save(Object.assign(new Note(), { id: 'a' }))
      called.splice(0)
      for (const isFirst of [true, false])
        await db.withSession(async (session) => {
          if (isFirst) await session.load(Note, 'a')
          session.at(Note, 'a').counter('views').add(1)
          if (!isFirst) await session.load(Note, 'a')
        })
      expect(called).to.deep.equal(['before a', 'after a', 'before a', 'after a'])
      expect((await db.session().load(Note, 'a')).views).to.equal(2)
    })
  })
}
