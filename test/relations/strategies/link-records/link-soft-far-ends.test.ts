import { expect } from 'chai'
import { DeletedAt, Key, ManyToMany, ManyToOne, Record, collection, ref, type Database } from 'skein'
import { MODES } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'

@Record({ set: 'lsf_user' })
class User {
  @Key() id!: number
  @ManyToMany(() => Tag, { through: () => Tagged }) tags = collection<Tag, Tagged>()
  @ManyToMany(() => Tag, { through: () => Found, strategy: 'secondaryIndex' }) found = collection<Tag, Found>()
  @ManyToMany(() => Tag, { through: () => Plain }) plain = collection<Tag, Plain>()
}

@Record({ set: 'lsf_tag' })
class Tag {
  @Key() id!: number
  @DeletedAt() deletedAt?: Date
}

@Record({ set: 'lsf_tagged', key: '{user}:{tag}' })
class Tagged {
  @ManyToOne(() => User, 'tags') user = ref<User>()
  @ManyToOne(() => Tag) tag = ref<Tag>()
  @DeletedAt() deletedAt?: Date
}

@Record({ set: 'lsf_found', key: '{user}:{tag}' })
class Found {
  @ManyToOne(() => User, 'found') user = ref<User>()
  @ManyToOne(() => Tag) tag = ref<Tag>()
  @DeletedAt() deletedAt?: Date
}

@Record({ set: 'lsf_plain', key: '{user}:{tag}' })
class Plain {
  @ManyToOne(() => User, 'plain') user = ref<User>()
  @ManyToOne(() => Tag) tag = ref<Tag>()
}

for (const mode of MODES)
  for (const name of ['tags', 'found', 'plain'] as const)
    describe(`link records in ${name} to ends without a collection that are deleted softly (${mode})`, () => {
      let db: Database
      useDatabase(mode, [User, Tag, Tagged, Found, Plain], (opened) => ({ db } = opened))
      beforeEach(() =>
        db.withSession((session) => {
          const user = session.create(User, { id: 1 })
          for (const id of [5, 6, 7]) user[name].link(session.create(Tag, { id }), {})
        }),
      )

      /** Answers to every question about members. */
      const answers = async (deleted?: 'include' | 'only'): Promise<unknown> => {
        const options = deleted && { deleted }
        const members = db.session().at(User, 1).collection(name)
        const ids = (tags: readonly Tag[]): number[] => tags.map(({ id }) => id).sort()
        const has: number[] = []
        const links: number[] = []
        for (const id of [5, 6, 7]) if (await members.contains(id, options)) has.push(id)
        for (const id of [5, 6, 7]) if ((await members.linkOf(id, options)) !== null) links.push(id)
        const streamed: Tag[] = []
        for await (const tag of members.stream(options)) streamed.push(tag)
        const page =
          name === 'found' ? members.page({ count: 9, ...options }) : members.page({ offset: 0, count: 9, ...options })
        return {
          keys: [...(await members.keys(options))].sort(),
          count: await members.count(options),
          has,
          links,
          load: ids(await members.load(options)),
          page: ids(await page),
          streamed: ids(streamed),
        }
      }
      const all = (...ids: number[]): unknown => ({
        keys: ids,
        count: ids.length,
        has: ids,
        links: ids,
        load: ids,
        page: ids,
        streamed: ids,
      })

      it('are left out of every answer until the end is restored', async () => {
        await db.session().delete(Tag, 5)
        expect(await answers()).to.deep.equal(all(6, 7))
        const user = await db.session().load(User, 1, { with: [name] })
        expect(user[name].items.map(({ id }) => id)).to.have.members([6, 7])
        expect(await db.session().walk(User, 1).out(name).keys()).to.have.members([6, 7])
        expect(await db.session().walk(User, 1).out(name).count()).to.equal(2)
        await db.session().restore(Tag, 5)
        expect(await answers()).to.deep.equal(all(5, 6, 7))
      })

      it('are shown on request, with links that were ended', async () => {
        await db.session().delete(Tag, 5)
        await db.withSession((session) => session.at(User, 1).collection(name).unlink(6))
        const isKept = name !== 'plain'
        expect(await answers('include')).to.deep.equal(isKept ? all(5, 6, 7) : all(5, 7))
        expect(await answers('only')).to.deep.equal(isKept ? all(5, 6) : all(5))
        expect(await answers()).to.deep.equal(all(7))
      })
    })
