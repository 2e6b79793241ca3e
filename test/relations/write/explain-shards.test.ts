import { expect } from 'chai'
import { Bin, Embeddable, Key, ManyToMany, OneToMany, Record, Sharded, collection, type Database } from 'skein'
import { hashShard } from '#src/keys/index.js'
import { MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'

const SHARDS = 4
const DAY = 86_400_000
const AT = Date.parse('2024-05-01T10:00:00Z')

@Record({ set: 'xs_item' })
class Item {
  @Key() id!: string
}

@Embeddable()
class Note {
  @Key() id!: string
  @Bin() text?: string
  @Bin() at!: Date
}

/** Spreads keys, links and children in each way. */
@Record({ set: 'xs_owner' })
class Owner {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: SHARDS, subkeys: 'keysIn' }) @OneToMany(() => Item) keys = collection<Item>()
  @Sharded({ by: 'hash', shards: SHARDS, subkeys: 'linksIn' }) @ManyToMany(() => Item) links = collection<Item>()
  @Sharded({ by: 'hash', shards: SHARDS, subkeys: 'notesIn' })
  @OneToMany(() => Note, { strategy: 'consolidate' })
  notes = collection<Note>()
  @Sharded({ by: 'day', on: 'at', subkeys: 'daysIn' }) @OneToMany(() => Note, { strategy: 'consolidate' }) days =
    collection<Note>()
  @Sharded({ by: 'hash', shards: SHARDS, when: {}, subkeys: 'grownIn' }) @OneToMany(() => Item) grown =
    collection<Item>()
  @Sharded({ by: 'hash', shards: SHARDS, when: {}, subkeys: 'talkIn' })
  @OneToMany(() => Note, { strategy: 'consolidate' })
  talk = collection<Note>()
}

const OF_KEYS = ['keys', 'links', 'grown'] as const
const OF_CHILDREN = ['notes', 'talk'] as const
const note = (id: string, at = AT): Note => Object.assign(new Note(), { id, at: new Date(at) })
const ELSEWHERE = 'Owner xs_owner/"o" has another number of shards, the write is routed again'
const SPLIT = 'if the members of Owner xs_owner/"o" are in companion records, the write is routed there'

for (const mode of MODES) {
  describe(`the plan of a change in several records (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Owner, Item], (opened) => ({ db, server } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        for (const id of ['a', 'b']) session.create(Item, { id })
        const owner = session.create(Owner, { id: 'o' })
        for (const name of OF_KEYS) owner[name].add('a')
        for (const name of OF_CHILDREN) owner[name].add(note('a'))
        owner.days.add(note('a'))
      })
    })

    const planOf = async (name: 'keys' | 'links' | 'grown' | 'notes' | 'days' | 'talk', isAdd: boolean) => {
      const session = db.session()
      const members = session.at(Owner, 'o').collection(name)
      if (!isAdd) members.remove('a')
      else if (name === 'notes' || name === 'days' || name === 'talk') members.add(note('b', AT + DAY))
      else members.add('b')
      let text = ''
      const { rows } = await server.commands.during(async () => (text = String(await session.explain())))
      return { text, rows }
    }

    for (const isAdd of [true, false]) {
      const member = isAdd ? 'b' : 'a'
      const change = isAdd ? 'an add' : 'a removal'

      it(`names the shard of ${change}, and says that it may be routed again`, async () => {
        for (const name of ['keys', 'links', 'notes'] as const) {
          const { text, rows } = await planOf(name, isAdd)
          expect(text, name).to.include(`xs_owner_${name}/"o:${hashShard(member, SHARDS)}"`)
          expect(text, name).to.include(ELSEWHERE)
          expect(text.includes('does not exist yet, it is created and noted in Owner'), name).to.equal(isAdd)
          expect(rows, name).to.equal(0)
        }
      })

      it(`names the record of the owner for ${change} until it is split, and the shard afterwards`, async () => {
        for (const name of ['grown', 'talk'] as const) {
          // An earlier owner under this key was split.
          await db.session().at(Owner, 'o').collection(name).count()
          const before = await planOf(name, isAdd)
          expect(before.text, name).to.include('xs_owner/"o"').and.to.include(SPLIT)
          await db.session().at(Owner, 'o').collection(name).shard(SHARDS)
          const { text } = await planOf(name, isAdd)
          expect(text, name).to.include(`xs_owner_${name}/"o:${hashShard(member, SHARDS)}"`)
          expect(text, name).to.include(ELSEWHERE).and.not.to.include(SPLIT)
        }
      })
    }

    it('names the bucket of an add, and says that it may be made or routed again', async () => {
      const { text } = await planOf('days', true)
      expect(text).to.include('xs_owner_days/"o:2024-05-02"')
      expect(text).to.include('does not exist yet, it is listed in Owner xs_owner/"o" and created')
      expect(text).to.include('has buckets of another length, the write is routed again')
    })
  })
}
