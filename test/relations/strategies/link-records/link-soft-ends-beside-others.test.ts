import { expect } from 'chai'
import { Bin, collection, DeletedAt, Key, ManyToMany, ManyToOne, Record, ref, type Database } from 'skein'
import { MODES, type TestServer } from '../../../server.js'
import { addFault, untilHit } from '../../../until-hit.js'
import { useDatabase } from '../../../use-database.js'

@Record({ set: 'lsb_user' })
class User {
  @Key() id!: number
  @DeletedAt() deletedAt?: Date
  @ManyToMany(() => User, { through: () => Follow }) follows = collection<User, Follow>()
  @ManyToMany(() => User, { through: () => Follow, strategy: 'secondaryIndex' }) followers = collection<User, Follow>()
}

@Record({ set: 'lsb_follow', key: '{from}:{to}' })
class Follow {
  @ManyToOne(() => User, 'follows') from = ref<User>()
  @ManyToOne(() => User, 'followers') to = ref<User>()
  @DeletedAt() deletedAt?: Date
  @Bin() note?: string
}

/** What is stored of the link before. */
const BEFORE = ['nothing', 'a link', 'an ended link'] as const

for (const mode of MODES) {
  describe(`a link record that is made while another session deletes an end softly (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, [User, Follow], (opened) => ({ db, server, namespace } = opened))
    afterEach(() => server.embedded?.faults.clear())

    const change = (id: number, work: (follows: User['follows']) => unknown): Promise<void> =>
      db.withSession(async (session) => void (await work((await session.load(User, id)).follows)))

    async function prepare(before: (typeof BEFORE)[number]): Promise<void> {
      await db.withSession((session) => {
        const [one, two] = [1, 2].map((id) => session.create(User, { id }))
        if (before !== 'nothing') one.follows.link(two, { note: 'old' })
      })
      if (before === 'an ended link') await change(1, (follows) => follows.unlink(2))
    }

    for (const before of BEFORE)
      for (const end of [1, 2])
        for (const after of [false, true])
          it(`comes back with end ${end}, or is as it was, where there was ${before} and the delete comes ${after ? 'after' : 'before'} its record is written`, async function () {
            await prepare(before)
            const met = await addFault(this, server, { kind: 'write', namespace, set: 'lsb_follow', delay: 400, after })
            const began = performance.now()
            const linking = change(1, (follows) => follows.link(2, { note: 'new' })).then(
              () => true,
              () => false,
            )
            await untilHit(met, linking)
            await db.session().delete(User, end)
            // A delete that takes longer than the pause comes beside the write, which is another story.
            if (performance.now() - began > 350) return void (await linking)
            const isLinked = await linking
            const hidden = await db
              .session()
              .at(User, 3 - end)
              .collection(end === 1 ? 'followers' : 'follows')
              .keys()
            expect(hidden).to.deep.equal([])
            await db.session().restore(User, end)
            const session = db.session()
            const isThere = isLinked || before === 'a link'
            expect(await session.at(User, 1).collection('follows').keys()).to.deep.equal(isThere ? [2] : [])
            expect(await session.at(User, 2).collection('followers').keys()).to.deep.equal(isThere ? [1] : [])
            const links = await db.scan(Follow, { deleted: 'include' }).toArray()
            expect(links.map(({ deletedAt }) => deletedAt === undefined)).to.deep.equal(
              isThere ? [true] : before === 'nothing' ? [] : [false],
            )
            for await (const { message } of db.verify([User, Follow], { settle: 0 })) expect.fail(message)
          })

    it('comes back with an end whose delete met another link that was ended meanwhile', async function () {
      await db.withSession((session) => {
        const [one, two, three] = [1, 2, 3].map((id) => session.create(User, { id }))
        one.follows.add(two)
        one.follows.add(three)
      })
      const deleting = db.session()
      const user = await deleting.load(User, 1, { with: ['follows'] })
      await change(1, (follows) => follows.unlink(3))
      await addFault(this, server, { kind: 'write', namespace, set: 'lsb_follow', delay: 5, times: 9 })
      const isDeleted = await deleting.delete(user)
      await server.embedded!.faults.clear()
      expect(isDeleted).to.equal(true)
      expect(await db.session().restore(User, 1)).to.equal(true)
      expect(await db.session().at(User, 1).collection('follows').keys()).to.deep.equal([2])
      expect(await db.session().at(User, 1).collection('follows').keys({ deleted: 'only' })).to.deep.equal([3])
    })
  })
}
