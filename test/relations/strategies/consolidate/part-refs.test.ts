import { expect } from 'chai'
import { Bin, Embeddable, Key, ManyToOne, OneToMany, Record, SkeinError, collection, ref } from 'skein'
import type { Database } from 'skein'
import { expectRoundTrips } from '../../../expect-round-trips.js'
import { MODES, need, type TestServer } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { useDatabase } from '../../../use-database.js'

@Record({ set: 'ref-house' })
class House {
  @Key() id!: string
  @Bin() city!: string
}

@Record({ set: 'ref-author' })
class Author {
  @Key() id!: number
  @Bin() name!: string
  @ManyToOne(() => House) house = ref<House>()
  @OneToMany(() => Note) notes = collection<Note>()
}

@Embeddable()
class Remark {
  @Key() id!: string
  @Bin() text!: string
  @ManyToOne(() => Author) author = ref<Author>()
  @ManyToOne(() => Author) answerTo = ref<Author>()
}

@Record({ set: 'ref-note' })
class Note {
  @Key() id!: number
  @Bin() title!: string
  @OneToMany(() => Remark, { strategy: 'consolidate' }) remarks = collection<Remark>()
}

@Embeddable()
class Vote {
  @Key() id!: string
  @ManyToOne(() => Author, { eager: true }) voter = ref<Author>()
}

@Record({ set: 'ref-poll' })
class Poll {
  @Key() id!: number
  @Bin() title!: string
  @OneToMany(() => Vote, { strategy: 'consolidate' }) votes = collection<Vote>()
}

@Record({ set: 'ref-ballot' })
class Ballot {
  @Key() id!: number
  @OneToMany(() => Vote, { strategy: 'consolidate', eager: false }) votes = collection<Vote>()
}

const WRITERS = [1, 2, 3, 4]

for (const mode of MODES) {
  describe(`what parts point to (${mode})`, () => {
    let server: TestServer
    let db: Database
    useDatabase(mode, [House, Author, Note], (opened) => ({ db, server } = opened), { emptied: 'once' })
    before(async () => {
      await db.withSession(async (session) => {
        const houses = ['north', 'south'].map((id) => session.create(House, { id, city: `city of ${id}` }))
        const authors = WRITERS.map((id) => session.create(Author, { id, name: `author ${id}` }))
        authors.forEach((author, i) => author.house.set(houses[i % 2]))
        for (const id of [1, 2, 3]) {
          const note = session.create(Note, { id, title: `note ${id}` })
          authors.forEach((author, i) => {
            const remark = Object.assign(new Remark(), { id: `r${i}`, text: 'so' })
            remark.author.set(author)
            if (i > 0) remark.answerTo.set(authors[i - 1])
            note.remarks.add(remark)
          })
          authors[id - 1].notes.add(note)
        }
      })
    })

    async function commandsOf(context: Mocha.Context, work: () => Promise<unknown>): Promise<number> {
      const embedded = need(context, server.embedded, 'only the embedded server counts commands')
      return (await embedded.commands.during(work)).commands
    }

    it('is loaded along in one batch read for each level, whatever the number of parents and parts', async function () {
      let notes: Note[] = []
      const commands = await commandsOf(this, async () => {
        notes = await db.session().loadMany(Note, [1, 2, 3], { with: ['remarks.author.house'] })
      })
      expectRoundTrips(commands, 3)
      for (const { remarks } of notes) {
        expect(remarks.items.map(({ author }) => author.value!.house.value!.city)).to.deep.equal(
          WRITERS.map((id) => `city of ${id % 2 === 1 ? 'north' : 'south'}`),
        )
      }
      expect(notes[0].remarks.items[0].author.value).to.equal(notes[1].remarks.items[0].author.value)
    })

    it('is read once where several references of parts lead to the same records', async function () {
      let note!: Note
      const commands = await commandsOf(this, async () => {
        note = await db.session().load(Note, 1, { with: ['remarks.author', 'remarks.answerTo.house'] })
      })
      expectRoundTrips(commands, 3)
      const [, second] = note.remarks.items
      expect(second.author.value!.name).to.equal('author 2')
      expect(second.answerTo.value!.house.value!.id).to.equal('north')
    })

    it('is followed through the records to the parts of others and further', async () => {
      const note = await db.session().load(Note, 1, { with: ['remarks.author.notes.remarks.author.house'] as never })
      const [first] = note.remarks.items
      const [same] = first.author.value!.notes.items
      expect(same).to.equal(note)
      const third = note.remarks.items[2].author.value!.notes.items[0]
      expect(third.id).to.equal(3)
      expect(third.remarks.items.map(({ author }) => author.value!.house.isLoaded)).to.deep.equal(
        WRITERS.map(() => true),
      )
    })

    it('is checked before anything is read: a path that leads nowhere names the class it ends in', async () => {
      for (const [path, className, property] of [
        ['remarks.writer', 'Remark', 'writer'],
        ['remarks.author.city', 'Author', 'city'],
        ['remarks.author.notes.remark', 'Note', 'remark'],
      ]) {
        const error = await rejection(() => db.session().find(Note, 999, { with: [path] as never }))
        expect(error).to.be.instanceOf(SkeinError)
        expect((error as SkeinError).code).to.equal('SKEIN_2312')
        expect((error as SkeinError).details).to.include({ className, property })
      }
    })
  })

  describe(`eager references of parts (${mode})`, () => {
    let server: TestServer
    let db: Database
    useDatabase(mode, [House, Author, Note, Poll, Ballot], (opened) => ({ db, server } = opened), { emptied: 'once' })
    before(async () => {
      await db.withSession(async (session) => {
        const poll = session.create(Poll, { id: 1, title: 'poll' })
        const ballot = session.create(Ballot, { id: 1 })
        for (const id of WRITERS) {
          const voter = session.create(Author, { id, name: `author ${id}` })
          for (const { votes } of [poll, ballot]) {
            const vote = Object.assign(new Vote(), { id: `v${id}` })
            vote.voter.set(voter)
            votes.add(vote)
          }
        }
      })
    })

    const names = (votes: Iterable<Vote>) => [...votes].map(({ voter }) => voter.value!.name)
    const NAMES = WRITERS.map((id) => `author ${id}`)

    it('come with the record, in one batch read', async function () {
      const embedded = need(this, server.embedded, 'only the embedded server counts commands')
      let poll!: Poll
      const read = await embedded.commands.during(async () => (poll = await db.session().load(Poll, 1)))
      expectRoundTrips(read.commands, 2)
      expect(names(poll.votes)).to.deep.equal(NAMES)
    })

    it('come with parts that are asked for one by one, page by page or all at once', async () => {
      const fresh = async () => (await db.session().load(Ballot, 1)).votes
      expect((await (await fresh()).get('v2'))!.voter.value!.name).to.equal('author 2')
      expect(names(await (await fresh()).page({ offset: 1, count: 2 }))).to.deep.equal(NAMES.slice(1, 3))
      expect(names(await (await fresh()).last(1))).to.deep.equal(NAMES.slice(3))
      expect(names(await (await fresh()).range({ from: 'v3' }))).to.deep.equal(NAMES.slice(2))
      expect(names(await (await fresh()).load())).to.deep.equal(NAMES)
      expect(names((await db.session().load(Ballot, 1, { with: ['votes'] })).votes)).to.deep.equal(NAMES)
    })
  })
}
