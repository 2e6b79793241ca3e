import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  Bin,
  collection,
  Counter,
  Embeddable,
  Embedded,
  EntityGoneError,
  Key,
  OneToMany,
  Record,
  Sharded,
  SkeinError,
  VersionConflictError,
  type Database,
} from 'skein'
import { MODES } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Part {
  @Counter() hits = 0
}

@Embeddable()
class Reply {
  @Key() id!: string
  @Counter() likes = 0
  @OneToMany(() => Reply, { strategy: 'consolidate' }) replies = collection<Reply>()
}

@Record({ set: 'mis_page' })
class Page {
  @Key() id!: string
  @Bin({ type: { map: { map: 'int' } } }) nested?: Map<string, Map<string, number>>
  @Embedded(() => Part, { as: 'map' }) parts?: Map<string, Part>
  @OneToMany(() => Reply, { strategy: 'consolidate' }) replies = collection<Reply>()
}

@Record({ set: 'mis_sharded' })
class Visits {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: 3 }) @Counter() total = 0
}

@Record({ set: 'mis_pet', discriminator: 'kind' })
class Pet {
  @Key() id!: string
  @Counter() age = 0
}

@Record({ discriminatorValue: 'dog' })
class Dog extends Pet {}

@Record({ discriminatorValue: 'cat' })
class Cat extends Pet {}

for (const mode of MODES) {
  describe(`an error about what a handle did not find (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Page, Visits, Pet, Dog, Cat], (opened) => ({ db } = opened))
    beforeEach(async () => {
      const page = Object.assign(new Page(), { id: 'a', parts: new Map([['yes', new Part()]]) })
      const reply = Object.assign(new Reply(), { id: 'c1' })
      reply.replies.add(Object.assign(new Reply(), { id: 'r1' }))
      page.replies.add(reply)
      await db.session().upsert(page)
    })

    it('says that an unread part does not exist, also beside changes that make their own way', async () => {
      for (const [id, create] of [
        ['a', false],
        ['new', true],
      ] as const) {
        const session = db.session()
        const page = session.at(Page, id, { create })
        page.map('nested').at('z').increment('q')
        page.map('parts').at('no').increment('hits')
        const error = (await rejection(() => session.flush())) as EntityGoneError
        expect(error).to.be.instanceOf(EntityGoneError)
        expect(error.message).to.include('parts["no"] does not exist').and.not.include('nested')
      }
    })

    it('says that a part which was read is no longer there, also beside such changes', async () => {
      const session = db.session()
      const page = await session.load(Page, 'a')
      const other = db.session()
      other.at(Page, 'a').map('parts').remove('yes')
      await other.flush()
      session.at(page).map('nested').at('z').increment('q')
      page.parts!.get('yes')!.hits++
      const error = (await rejection(() => session.flush())) as VersionConflictError
      expect(error).to.be.instanceOf(VersionConflictError)
      expect(error.message).to.include('parts["yes"]').and.not.include('nested')
    })

    it('names the missing child of a child, and not its parent, which is there', async () => {
      const session = db.session()
      session.at(Page, 'a').child('replies', 'c1').child('replies', 'nope').increment('likes')
      const error = (await rejection(() => session.flush())) as EntityGoneError
      expect(error).to.be.instanceOf(EntityGoneError)
      expect(error.message).to.include('replies["c1"]["replies/nope"] does not exist')
    })

    it('tells how to go on with a record that was never loaded, or is of another class', async () => {
      const session = db.session()
      session.at(Visits, 'none').counter('total').add(1)
      const error = (await rejection(() => session.flush())) as SkeinError
      expect(error.details.fix).to.include('store it first').and.not.include('only a part')
      await db.session().save(Object.assign(new Dog(), { id: 'rex' }))
      const touch = [Aerospike.operations.incr('age', 1)]
      const wrong = (await rejection(() => db.session().operate(Cat, 'rex', touch))) as SkeinError
      expect([wrong.code, wrong.details.fix]).to.deep.equal(['SKEIN_3102', 'Use its own class or a base class.'])
    })
  })
}
