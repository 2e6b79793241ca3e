import { expect } from 'chai'
import { collection, Key, ManyToMany, Record, Sharded, type Collection, type Database } from 'skein'
import { isNamedServer, MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { Watch } from './archive-link-models.js'
import { rejection } from '../rejection.js'

@Record({ set: 'alm_fan' })
class Fan {
  @Key() id!: number
}

interface Band {
  id: string
  fans: Collection<Fan, Watch>
  crowd: Collection<Fan, Watch>
}

function bandIn(archive: string): new () => Band {
  @Record({ set: 'alm_band', name: 'Band', archive })
  class ABand implements Band {
    @Key() id!: string
    @ManyToMany(() => Fan, { attributes: () => Watch }) fans = collection<Fan, Watch>()
    @Sharded({ by: 'hash', shards: 2 })
    @ManyToMany(() => Fan, { attributes: () => Watch })
    crowd = collection<Fan, Watch>()
  }
  return ABand
}

for (const mode of MODES) {
  describe(`archives of a record with links that only it has (${mode})`, function () {
    if (isNamedServer) return
    const Band = bandIn(mode === 'ap' ? 'test' : 'more')
    let db: Database
    useDatabase(mode, [Fan, Band], (opened) => ({ db } = opened))

    it('take their attributes along, in the record and in shards, and bring them back', async () => {
      await db.withSession((session) => {
        const band = session.create(Band, { id: 'b' })
        for (const id of [1, 2, 3]) {
          const fan = session.create(Fan, { id })
          for (const each of [band.fans, band.crowd]) each.link(fan, Object.assign(new Watch(), { why: `w${id}` }))
        }
      })
      const shown = async ({ fans, crowd }: Band): Promise<unknown[]> =>
        Promise.all(
          [fans, crowd].map(async (each) => [
            each.items.map(({ id }) => id).sort(),
            ...(await Promise.all([1, 2, 3].map(async (id) => ({ ...(await each.attributesOf(id)) })))),
          ]),
        )
      const load = (from?: 'archive'): Promise<Band> =>
        db.session().load<Band>(Band, 'b', { with: ['fans', 'crowd'] as never, ...(from && { from }) })
      const before = await shown(await load())
      const stale = await db.session().load<Band>(Band, 'b')
      expect(await db.session().archive(Band, 'b')).to.equal(true)
      const archived = await load('archive')
      expect([archived.fans.items.length, archived.crowd.items.length]).to.deep.equal([3, 3])
      for await (const { message } of db.verify(Band, { settle: 0, from: 'archive' })) expect.fail(message)
      stale.fans.remove(1)
      expect(await rejection(() => db.session().save(stale))).to.be.instanceOf(Error)
      expect(await db.session().unarchive(Band, 'b')).to.equal(true)
      expect(await shown(await load())).to.deep.equal(before)
      const session = db.session()
      const band = await session.load<Band>(Band, 'b', { with: ['fans', 'crowd'] as never })
      for (const each of [band.fans, band.crowd]) {
        expect((await each.attributesOf(2))!.weight).to.equal(2)
        ;(await each.attributesOf(2))!.weight = 2.5
        each.remove(1)
      }
      await session.flush()
      expect((await load()).crowd.items.map(({ id }) => id).sort()).to.deep.equal([2, 3])
    })
  })
}
