import { expect } from 'chai'
import {
  Bin,
  collection,
  Companion,
  DeletedAt,
  Embeddable,
  EntityGoneError,
  fromPlain,
  Key,
  OneToMany,
  Record,
  Sharded,
  toPlain,
  type Database,
} from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { rejection } from '../rejection.js'

@Embeddable()
class Remark {
  @Key() id!: string
  @Bin() at!: Date
}

/** Stays when it is deleted, with children in each kind of record beside its own. */
@Record({ set: 'sdc_post' })
class Post {
  @Key() id!: number
  @DeletedAt() deletedAt?: Date
  @Sharded({ by: 'hash', shards: 3 })
  @OneToMany(() => Remark, { strategy: 'consolidate' })
  sharded = collection<Remark>()
  @Companion({ subkeys: 'apartIn' }) @OneToMany(() => Remark, { strategy: 'consolidate' }) apart = collection<Remark>()
  @Sharded({ by: 'day', on: 'at', subkeys: 'datedIn' })
  @OneToMany(() => Remark, { strategy: 'consolidate' })
  dated = collection<Remark>()
  @Sharded({ by: 'hash', shards: 2, when: { members: 3 }, subkeys: 'growingIn' })
  @OneToMany(() => Remark, { strategy: 'consolidate' })
  growing = collection<Remark>()
  @Companion({ subkeys: 'notesIn' }) @OneToMany(() => Note, { onDelete: 'cascade' }) notes = collection<Note>()
  @OneToMany(() => Note, { onDelete: 'cascade' }) listed = collection<Note>()
}

@Record({ set: 'sdc_note' })
class Note {
  @Key() id!: string
  @DeletedAt() deletedAt?: Date
}

const KINDS = ['sharded', 'apart', 'dated', 'growing'] as const
const SETS = ['sdc_post_sharded', 'sdc_post_apart', 'sdc_post_dated', 'sdc_post_growing', 'sdc_post_notes'] as const
const IDS = ['a', 'b', 'c', 'd', 'e']
const DAY = 86_400_000

const remark = (id: string, i = 0): Remark => Object.assign(new Remark(), { id, at: new Date(1.7e12 + i * DAY) })
const post = (id: number): Post => {
  const made = Object.assign(new Post(), { id })
  for (const kind of KINDS) made[kind].add(...IDS.map(remark))
  made.notes.add(...IDS.map((each) => Object.assign(new Note(), { id: `${id}${each}` })))
  return made
}

for (const mode of MODES) {
  describe(`soft deletes of owners with children in companion records (${mode})`, () => {
    let db: Database
    let namespace: string
    useDatabase(mode, [Post, Note], (opened) => ({ db, namespace } = opened))

    const recordsOf = async (set: string): Promise<number> => (await db.client.query(namespace, set).results()).length
    const companions = (): Promise<number[]> => Promise.all(SETS.map(recordsOf))
    const idsOf = (made: Post): string[][] => KINDS.map((kind) => made[kind].items.map(({ id }) => id).sort())
    const all = KINDS.map(() => IDS)

    beforeEach(() => db.session().save(post(1)))

    it('keep the children, show them on request and restore them with their owner', async () => {
      const before = await companions()
      expect(await db.session().delete(Post, 1)).to.equal(true)
      expect(await companions()).to.deep.equal(before)
      expect(await db.session().find(Post, 1, { with: [...KINDS, 'notes'] })).to.equal(null)
      const kept = await db.session().load(Post, 1, { with: [...KINDS, 'notes'], deleted: 'include' })
      expect(idsOf(kept)).to.deep.equal(all)
      expect(kept.notes.items).to.have.length(IDS.length)
      expect(await db.session().restore(Post, 1)).to.equal(true)
      const back = await db.session().load(Post, 1, { with: [...KINDS, 'notes'] })
      expect(idsOf(back)).to.deep.equal(all)
      expect(back.notes.items).to.have.length(IDS.length)
      for await (const { message } of db.verify(Post)) throw new Error(message)
    })

    it('purge their companion records with them, and what somebody restores keeps all', async () => {
      await db.session().save(post(2))
      for (const id of [1, 2]) await db.session().delete(Post, id)
      await db.session().restore(Post, 2)
      const olderThan = new Date(Date.now() + 1000)
      expect(await db.purge(Post, { olderThan })).to.equal(1)
      const roots = await Promise.all(
        SETS.map(async (set) => {
          const found = await db.client.query(namespace, set).results()
          return found.every(({ bins }) => bins['_sk.root'] === 2) && found.length > 0
        }),
      )
      expect(roots).to.deep.equal(SETS.map(() => true))
      expect(idsOf(await db.session().load(Post, 2, { with: [...KINDS] }))).to.deep.equal(all)
      for await (const { message } of db.verify(Post)) throw new Error(message)
    })

    it('refuse children of a session that has loaded the owner before, or keep them for a restore', async () => {
      const late = db.session()
      const loaded = await late.load(Post, 1)
      await db.session().delete(Post, 1)
      loaded.growing.add(remark('late'))
      loaded.dated.add(remark('late', 9))
      const error = (await rejection(() => late.flush())) as Error
      expect(error.cause).to.be.instanceOf(EntityGoneError)
      await db.session().restore(Post, 1)
      const { growing, dated } = await db.session().load(Post, 1, { with: ['growing', 'dated'] })
      expect(dated.items.map(({ id }) => id).sort()).to.deep.equal(IDS)
      expect(growing.items.map(({ id }) => id)).to.include.members(IDS)
      for await (const { message } of db.verify(Post)) throw new Error(message)
    })

    it('are changed as ever while they are deleted, by who has loaded them as such', async () => {
      await db.session().delete(Post, 1)
      const session = db.session()
      const kept = await session.load(Post, 1, { with: [...KINDS], deleted: 'include' })
      for (const kind of KINDS) kept[kind].items.find(({ id }) => id === 'c')!.at = new Date(1.7e12 + 2 * DAY + 5)
      for (const kind of KINDS) kept[kind].remove(kept[kind].items.find(({ id }) => id === 'd')!)
      await session.flush()
      await db.session().restore(Post, 1)
      const back = await db.session().load(Post, 1, { with: [...KINDS] })
      expect(idsOf(back)).to.deep.equal(KINDS.map(() => ['a', 'b', 'c', 'e']))
      for (const kind of KINDS)
        expect(back[kind].items.find(({ id }) => id === 'c')!.at).to.deep.equal(new Date(1.7e12 + 2 * DAY + 5))
    })

    it('come back from plain data as they are: deleted, with their children', async () => {
      await db.session().delete(Post, 1)
      const kept = await db.session().load(Post, 1, { with: [...KINDS], deleted: 'include' })
      const plain = JSON.parse(JSON.stringify({ ...toPlain(kept), id: 7 })) as object
      const copy = fromPlain(Post, plain, { relations: 'keys', only: ['id', 'deletedAt', 'listed', 'notes', ...KINDS] })
      copy.listed.add(...IDS.map((id) => Object.assign(new Note(), { id })))
      copy.notes.add(...copy.listed.items)
      expect(copy.deletedAt).to.deep.equal(kept.deletedAt)
      await db.session().save(copy)
      expect(await db.session().find(Post, 7)).to.equal(null)
      const again = await db.session().load(Post, 7, { with: [...KINDS, 'notes', 'listed'], deleted: 'include' })
      expect([again.notes.items.length, again.listed.items.length]).to.deep.equal([IDS.length, IDS.length])
      expect([again.deletedAt, idsOf(again)]).to.deep.equal([kept.deletedAt, all])
      expect(await db.session().restore(Post, 7)).to.equal(true)
      expect(idsOf(await db.session().load(Post, 7, { with: [...KINDS] }))).to.deep.equal(all)
    })
  })
}
