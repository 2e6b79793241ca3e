import { expect } from 'chai'
import { Key, Record, type Database } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'trunc_thing' })
class Thing {
  @Key() id!: number
}

for (const mode of MODES) {
  describe(`db.truncate (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Thing], (opened) => ({ db } = opened))

    it('removes what was acknowledged just before it, and keeps what is stored after it', async () => {
      for (let round = 0; round < 20; round++) {
        await db.session().save(Object.assign(new Thing(), { id: round }))
        await db.truncate(Thing)
        expect(await db.session().find(Thing, round), `round ${round}`).to.equal(null)
      }
      await new Promise((resolve) => setTimeout(resolve, 5))
      await db.session().save(Object.assign(new Thing(), { id: 1 }))
      expect((await db.session().load(Thing, 1)).id).to.equal(1)
    })
  })
}
