import { expect } from 'chai'
import {
  Bin,
  collection,
  Companion,
  Embeddable,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  Sharded,
  type Database,
} from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Embeddable()
class Tie {
  @Bin() kind!: string
}

@Embeddable()
class Comment {
  @Key() id!: string
  @ManyToOne(() => Person) by = ref<Person>()
}

/** Relations whose members are in records of their own: in one, in several, and in several once there are some. */
@Record({ set: 'sw_person' })
class Person {
  @Key() id!: string
  @Companion({ subkeys: 'followsIn' })
  @ManyToMany(() => Person, 'followers', { owner: true })
  follows = collection<Person>()
  @Sharded({ by: 'hash', shards: 3, subkeys: 'followersIn' })
  @ManyToMany(() => Person, 'follows')
  followers = collection<Person>()
  @Sharded({ by: 'hash', shards: 2, subkeys: 'tiesIn' })
  @ManyToMany(() => Person, { attributes: () => Tie })
  ties = collection<Person, Tie>()
  @Sharded({ by: 'hash', shards: 2, when: { members: 1 }, subkeys: 'notesIn' })
  @OneToMany(() => Note, 'author')
  notes = collection<Note>()
}

@Record({ set: 'sw_note' })
class Note {
  @Key() id!: string
  @ManyToOne(() => Person, 'notes') author = ref<Person>()
  @Sharded({ by: 'hash', shards: 2, subkeys: 'commentsIn' })
  @OneToMany(() => Comment, { strategy: 'consolidate' })
  comments = collection<Comment>()
}

for (const mode of MODES) {
  describe(`a walk along relations in companions and shards (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Person, Note], (opened) => ({ db, server } = opened))
    beforeEach(() =>
      db.withSession((session) => {
        const [ann, bob, cem, dora] = ['ann', 'bob', 'cem', 'dora'].map((id) => session.create(Person, { id }))
        ann.follows.add(bob, cem)
        bob.follows.add(dora, ann)
        cem.follows.add(dora)
        ann.ties.link(bob, { kind: 'friend' })
        ann.ties.link(cem, { kind: 'work' })
        for (const [author, ids] of [
          [bob, ['b1', 'b2', 'b3']],
          [dora, ['d1']],
        ] as const)
          for (const id of ids) {
            const note = session.create(Note, { id })
            const comment = Object.assign(new Comment(), { id: `${id}c` })
            comment.by.set('cem')
            note.comments.add(comment)
            author.notes.add(note)
          }
      }),
    )
    const from = (id: string) => db.session().walk(Person, id)
    const sorted = async (keys: Promise<readonly string[]>): Promise<string[]> => [...(await keys)].sort()

    it('reaches what the same relations in one record would lead to', async () => {
      expect(await sorted(from('ann').out('follows').keys())).to.deep.equal(['bob', 'cem'])
      expect(await sorted(from('ann').out('follows').out('follows').keys())).to.deep.equal(['dora'])
      expect(await sorted(from('dora').out('followers').out('followers').keys())).to.deep.equal(['ann'])
      expect(await from('ann').out('follows').out('follows').paths()).to.have.length(2)
      expect(await sorted(from('ann').out('follows').out('notes').keys())).to.deep.equal(['b1', 'b2', 'b3'])
      expect(await from('ann').out('follows').out('notes').out('comments').out('by').keys()).to.deep.equal([])
      expect(await from('dora').out('notes').out('comments').out('by').keys()).to.deep.equal(['cem'])
      expect(
        await from('ann')
          .out('ties', { where: { kind: 'work' } })
          .keys(),
      ).to.deep.equal(['cem'])
    })

    it('costs as many round trips whatever the number of entities that it goes on from', async () => {
      const cost = async (ids: string[]): Promise<number> =>
        (await server.commands.during(() => db.session().walk(Person, ids).out('followers').keys())).commands
      // Knowledge of the shards of an owner saves a process a look.
      await cost(['ann', 'bob', 'cem', 'dora'])
      const [one, four] = [await cost(['dora']), await cost(['ann', 'bob', 'cem', 'dora'])]
      expect(four).to.be.at.most(one)
    })

    it('refuses first and last, because members in several records have no order', () => {
      expect(() => from('ann').out('followers', { first: 1 })).to.throw(/no order/)
    })
  })
}
