import { expect } from 'chai'
import { Bin, Key, ManyToOne, OneToMany, OneToOne, Record, collection, ref, type Database } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'largeAlbum' })
class Album {
  @Key() id!: number
  @Bin() title!: string
  @OneToMany(() => Photo, 'album', { strategy: 'keyList', onDelete: 'cascade' }) photos = collection<Photo>()
}

@Record({ set: 'largePhoto' })
class Photo {
  @Key() id!: number
  @ManyToOne(() => Album, 'photos') album = ref<Album>()
  @OneToOne(() => Album, { onDelete: 'cascade' }) cover = ref<Album>()
}

for (const mode of MODES) {
  describe(`a delete in steps (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Album, Photo], (opened) => ({ db } = opened))

    it('deletes each member once where members cascade to their owner, too', async () => {
      const album = Object.assign(new Album(), { id: 1, title: 'Bern' })
      for (let id = 1; id <= 7; id++) album.photos.add(Object.assign(new Photo(), { id }))
      album.photos.items[0].cover.set(album)
      await db.session().save(album)
      const done: number[] = []
      expect(await db.session().delete(Album, 1, { step: 4, onProgress: (each) => done.push(each.done) })).to.equal(
        true,
      )
      expect(done).to.deep.equal([2, 4, 6, 7])
      expect(await db.session().find(Album, 1)).to.equal(null)
      expect(await db.session().findMany(Photo, [1, 2, 3, 4, 5, 6, 7])).to.deep.equal(Array(7).fill(null))
    })
  })
}
