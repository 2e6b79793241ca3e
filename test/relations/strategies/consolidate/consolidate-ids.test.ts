import { expect } from 'chai'
import { NotFoundError, type Database } from 'skein'
import { MODES, type TestServer } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { useDatabase } from '../../../use-database.js'
import { CLASSES, Line, Region, Store } from './consolidate-models.js'

const store = (storeId: string, city: string): Store => Object.assign(new Store(), { storeId, city })

for (const mode of MODES) {
  describe(`children whose id holds the key of their record (${mode})`, () => {
    let server: TestServer
    let db: Database
    useDatabase(mode, CLASSES, (opened) => ({ db, server } = opened), { emptied: 'once' })
    before(async () => {
      const session = db.session()
      const region = session.create(Region, { id: 'r1' })
      region.stores.add(store('s7', 'Bern'), store('s8', 'Thun'))
      await session.flush()
    })

    it('get the key of their record when they are added', async () => {
      const region = await db.session().load(Region, 'r1')
      expect(region.stores.items.map(({ regionId }) => regionId)).to.deep.equal(['r1', 'r1'])
      expect(await region.stores.keys()).to.deep.equal(['r1:s7', 'r1:s8'])
    })

    it('are found and changed by their own id, without the others', async () => {
      const session = db.session()
      const found = await session.loadPart(Store, 'r1:s7')
      expect(found).to.be.instanceOf(Store)
      expect(found.city).to.equal('Bern')
      found.city = 'Biel'
      const sent = await server.commands.during(() => session.flush())
      expect(sent.commands).to.equal(1)
      expect((await db.session().loadPart(Store, 'r1:s7')).city).to.equal('Biel')
      expect((await db.session().loadPart(Store, 'r1:s8')).city).to.equal('Thun')
    })

    it('are null, or not found, where there is no such part or no such record', async () => {
      expect(await db.session().findPart(Store, 'r1:s9')).to.equal(null)
      expect(await db.session().findPart(Store, 'r2:s7')).to.equal(null)
      expect(await rejection(() => db.session().loadPart(Store, 'r1:s9'))).to.be.instanceOf(NotFoundError)
    })

    it('must hold it: other parts cannot be found in this way', async () => {
      expect(await rejection(() => db.session().findPart(Line, 'a'))).to.have.property('code', 'SKEIN_2422')
    })
  })
}
