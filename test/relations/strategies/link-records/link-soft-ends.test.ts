import { expect } from 'chai'
import { Bin, DeletedAt, Key, ManyToMany, ManyToOne, Record, collection, ref, type Database } from 'skein'
import { MODES } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { useDatabase } from '../../../use-database.js'

@Record({ set: 'lse_user' })
class User {
  @Key() id!: number
  @DeletedAt() deletedAt?: Date
  @ManyToMany(() => User, { through: () => Follow }) follows = collection<User, Follow>()
  @ManyToMany(() => User, { through: () => Follow, strategy: 'secondaryIndex' }) followers = collection<User, Follow>()
}

@Record({ set: 'lse_follow', key: '{from}:{to}' })
class Follow {
  @ManyToOne(() => User, 'follows') from = ref<User>()
  @ManyToOne(() => User, 'followers') to = ref<User>()
  @DeletedAt() deletedAt?: Date
  @Bin() note?: string
}

for (const mode of MODES) {
  describe(`link records between ends that are deleted softly (${mode})`, () => {
    let db: Database
    useDatabase(mode, [User, Follow], (opened) => ({ db } = opened))
    beforeEach(() =>
      db.withSession((session) =>
        session.create(User, { id: 1 }).follows.link(session.create(User, { id: 2 }), { note: 'old' }),
      ),
    )

    const remove = async (id: number): Promise<void> => {
      await db.session().delete(User, id)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    const restore = (id: number): Promise<boolean> => db.session().restore(User, id)
    /** Answers of both ends to every question about their members. */
    const answers = async (): Promise<unknown[]> => {
      const all: unknown[] = []
      for (const [id, name, other] of [
        [1, 'follows', 2],
        [2, 'followers', 1],
      ] as const) {
        const members = db.session().at(User, id).collection(name)
        const loaded = (await members.load()).map((user) => user.id)
        all.push([await members.keys(), await members.count(), await members.contains(other), loaded])
      }
      return all
    }
    const LINKED = [
      [[2], 1, true, [2]],
      [[1], 1, true, [1]],
    ]
    const NOT_LINKED = [
      [[], 0, false, []],
      [[], 0, false, []],
    ]

    for (const [first, second] of [
      [1, 2],
      [2, 1],
    ])
      for (const restored of [first, second])
        it(`come back with the last of both, deleted ${first} before ${second} and restored from ${restored}`, async () => {
          await remove(first)
          await remove(second)
          expect(await answers()).to.deep.equal(NOT_LINKED)
          expect(await restore(restored)).to.equal(true)
          expect(await answers()).to.deep.equal(NOT_LINKED)
          expect(await restore(restored === first ? second : first)).to.equal(true)
          expect(await answers()).to.deep.equal(LINKED)
        })

    it('are shown with an end that is deleted where that is asked for', async () => {
      await remove(2)
      const user = await db.session().load(User, 1, { with: ['follows'] })
      for (const deleted of ['include', 'only'] as const) {
        const { follows } = user
        const streamed: User[] = []
        for await (const other of follows.stream({ deleted })) streamed.push(other)
        const shown = [await follows.load({ deleted }), await follows.page({ count: 9, deleted }), streamed]
        expect(shown.map((users) => users.map(({ id }) => id))).to.deep.equal([[2], [2], [2]])
        expect([await follows.keys({ deleted }), await follows.count({ deleted })]).to.deep.equal([[2], 1])
      }
      expect([user.follows.items, await user.follows.load()]).to.deep.equal([[], []])
    })

    it('are not restored alone while an end is deleted', async () => {
      await remove(2)
      const error = await rejection(() => db.session().restore(Follow, { from: 1, to: 2 }))
      expect(error).to.include({ code: 'SKEIN_3003' })
      expect(String(error)).to.include('Follow "1:2"').and.include('User 2')
      expect(await answers()).to.deep.equal(NOT_LINKED)
      await restore(2)
      expect(await answers()).to.deep.equal(LINKED)
    })

    for (const deleted of [1, 2])
      it(`stay as they were when a link is made while end ${deleted} is deleted, and nothing is sent`, async () => {
        await remove(deleted)
        const session = db.session()
        session.at(User, 1).collection('follows').link(2, { note: 'new' })
        const error = await rejection(() => session.flush())
        expect(error).to.include({ code: mode === 'ap' ? 'SKEIN_3003' : 'SKEIN_4001' })
        expect(String(error)).to.match(new RegExp(`User ${mode === 'ap' ? '' : 'lse_user/'}${deleted}\\b`))
        const [link] = await db.scan(Follow, { deleted: 'include' }).toArray()
        expect(link).to.include({ note: 'old' })
        expect(await answers()).to.deep.equal(NOT_LINKED)
        await restore(deleted)
        expect(await answers()).to.deep.equal(LINKED)
        await session.flush()
        expect(await db.session().load(Follow, { from: 1, to: 2 })).to.include({ note: 'new' })
        expect(await answers()).to.deep.equal(LINKED)
      })

    it('stay ended where they were before an end was deleted', async () => {
      await db.withSession((session) => session.at(User, 1).collection('follows').unlink(2))
      await remove(2)
      await restore(2)
      expect(await answers()).to.deep.equal(NOT_LINKED)
      expect(await db.session().restore(Follow, { from: 1, to: 2 })).to.equal(true)
      expect(await answers()).to.deep.equal(LINKED)
    })
  })
}
