import { expect } from 'chai'
import { Companion, Embeddable, Key, ManyToOne, OneToMany, Record, collection, ref, type Database } from 'skein'
import type { TestServer } from '../../../server.js'
import { addFault, untilHit } from '../../../until-hit.js'
import { useDatabase } from '../../../use-database.js'

@Record({ set: 'awd-author' })
class Author {
  @Key() id!: number
}

@Embeddable()
class Quote {
  @Key() id!: string
  @ManyToOne(() => Author) author = ref<Author>()
}

const INDEX = { strategy: 'consolidate', inverseIndex: { author: { onTargetDelete: 'delete' } } } as const

@Record({ set: 'awd-book' })
class Book {
  @Key() id!: number
  @OneToMany(() => Quote, INDEX) quotes = collection<Quote>()
  @Companion() @OneToMany(() => Quote, INDEX) apart = collection<Quote>()
}

// A delete looks for the children that refer to its record once, and adding one asks nobody: that would be a read for each of them.
describe('a consolidated child that is added while the record it refers to is deleted (ap)', () => {
  let db: Database
  let server: TestServer
  useDatabase('ap', [Author, Book], (opened) => ({ db, server } = opened))
  afterEach(() => server.embedded?.faults.clear())

  const findings = async (repair = false): Promise<string[]> => {
    const found: string[] = []
    for await (const { kind, state } of db.verify([Author, Book], { settle: 0, repair })) found.push(`${kind} ${state}`)
    return found
  }
  const quote = (id: string): Quote => {
    const made = Object.assign(new Quote(), { id })
    made.author.set(1)
    return made
  }

  for (const relation of ['quotes', 'apart'] as const) {
    it(`keeps a reference that verify finds and clears, in ${relation}`, async function () {
      await db.withSession((session) => {
        session.create(Author, { id: 1 })
        session.create(Book, { id: 1 })[relation].add(quote('first'))
      })
      const fault = await addFault(this, server, { kind: 'delete', set: 'awd-author', delay: 200 })
      const deleting = db.session().delete(Author, 1)
      await untilHit(fault, deleting)
      await db.withSession(async (session) => {
        const book = await session.load(Book, 1, { with: [relation] })
        expect(book[relation].items).to.deep.equal([])
        book[relation].add(quote('late'))
      })
      expect(await deleting).to.equal(true)
      expect(await findings()).to.deep.equal(['danglingKey found'])
      expect(await findings(true)).to.deep.equal(['danglingKey repaired'])
      expect(await findings()).to.deep.equal([])
      const { items } = (await db.session().load(Book, 1, { with: [relation] }))[relation]
      expect(items.map(({ id, author }) => [id, author.key])).to.deep.equal([['late', null]])
    })
  }
})
