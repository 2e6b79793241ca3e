import { expect } from 'chai'
import {
  Bin,
  collection,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  type Collection,
  type Database,
  type Ref,
} from 'skein'
import { isNamedServer, MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { expectProblem } from '../../model/problems-of.js'

@Record({ set: 'as_post' })
class Post {
  @Key() id!: number
}

@Record({ set: 'as_photo' })
class Photo {
  @Key() id!: number
}

interface Entry {
  id: number
  subject: Ref<Post | Photo>
  seen: Collection<Post | Photo>
}

/** An archived class that leads to several. */
function entryIn(archive: string): new () => Entry {
  @Record({ set: 'as_entry', name: 'Entry', archive })
  class ArchivedEntry implements Entry {
    @Key() id!: number
    @Bin() text?: string
    @ManyToOne(() => [Post, Photo]) subject = ref<Post | Photo>()
    @OneToMany(() => [Post, Photo], { strategy: 'keyList' }) seen = collection<Post | Photo>()
  }
  return ArchivedEntry
}

for (const mode of MODES) {
  describe(`archives of records that lead to several classes (${mode})`, () => {
    if (isNamedServer) return
    const Entry = entryIn(mode === 'ap' ? 'test' : 'more')
    let db: Database
    useDatabase(mode, [Entry, Post, Photo], (opened) => ({ db } = opened))

    it('keep the keys with their sets, and load what they lead to from where it stays', async () => {
      await db.withSession((session) => {
        const [post, photo] = [session.create(Post, { id: 1 }), session.create(Photo, { id: 1 })]
        const entry = session.create(Entry, { id: 1 })
        entry.subject.set(photo)
        entry.seen.add(post, photo)
      })
      expect(await db.session().archive(Entry, 1)).to.equal(true)
      const shown = async (from?: 'archive'): Promise<unknown> => {
        const options = { with: ['subject', 'seen'] as never, ...(from && { from }) }
        const { subject, seen } = await db.session().load<Entry>(Entry, 1, options)
        return [subject.key, subject.value instanceof Photo, seen.items.map(({ constructor: { name } }) => name)]
      }
      const there = await shown('archive')
      expect(there).to.deep.equal(['as_photo:1', true, ['Photo', 'Post']])
      expect(await db.session().unarchive(Entry, 1)).to.equal(true)
      expect(await shown()).to.deep.equal(there)
    })
  })
}

describe('a reference to several classes of which one has an archive', () => {
  it('is refused: what it leads to may be elsewhere', () => {
    @Record({ set: 'as_old', archive: 'cold' })
    class Old {
      @Key() id!: number
    }
    @Record({ set: 'as_note' })
    class Note {
      @Key() id!: number
      @ManyToOne(() => [Old, Post]) about = ref<Old | Post>()
    }
    expectProblem([Old, Post, Note], 'SKEIN_1063', 'Note.about', /Old/, /@Bin/)
  })
})
