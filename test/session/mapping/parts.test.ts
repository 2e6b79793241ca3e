import { expect } from 'chai'
import { Bin, Embeddable, Embedded, Key, Record, type Database } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Embeddable()
class Address {
  @Bin() street?: string
  @Bin() city?: string
}

@Record({ set: 'parts_person' })
class Person {
  @Key() id!: number
  @Bin() name?: string
  @Embedded(() => Address, { layout: 'bins' }) home?: Address | null
}

@Embeddable()
class Box {
  @Bin() label?: string
  @Bin() note?: string
  @Embedded(() => Box) inner?: Box
}

@Record({ set: 'parts_store' })
class Store {
  @Key() id!: number
  @Embedded(() => Box) box!: Box
}

const DEPTH = 20

function nested(depth: number): Box {
  const box = Object.assign(new Box(), { label: `box ${depth}`, note: `note ${depth}` })
  if (depth > 1) box.inner = nested(depth - 1)
  return box
}

const boxesIn = (box: Box): Box[] => [box, ...(box.inner === undefined ? [] : boxesIn(box.inner))]

for (const mode of MODES) {
  describe(`parts in the record of their entity (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Person, Store], (opened) => ({ db } = opened))

    for (const [title, home] of [
      ['one without values', () => new Address()],
      ['one that has only nulls', () => Object.assign(new Address(), { street: null })],
      ['null', () => null],
    ] as const) {
      it(`whose fields are bins leave nothing to send where there was none and now is ${title}`, async () => {
        await db.withSession((session) => Promise.resolve(session.create(Person, { id: 1, name: 'a' })))
        const session = db.session()
        const person = await session.load(Person, 1)
        person.home = home()
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        person.name = 'b'
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect((await db.session().load(Person, 1)).name).to.equal('b')
      })
    }

    it('whose fields are bins leave nothing to send when one without values is taken away', async () => {
      const session = db.session()
      const person = session.create(Person, { id: 1, home: new Address() })
      await session.flush()
      person.home = undefined
      expect(session.isDirty()).to.equal(false)
      person.home = Object.assign(new Address(), { city: 'Bern' })
      await session.flush()
      person.home.city = undefined
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      expect((await db.session().load(Person, 1)).home).to.equal(undefined)
    })

    it('are changed at any depth, though the server follows paths of 15 steps only', async () => {
      await db.withSession((session) => Promise.resolve(session.create(Store, { id: 1, box: nested(DEPTH) })))
      for (let at = 0; at < DEPTH; at++) {
        const session = db.session()
        const store = await session.load(Store, 1)
        boxesIn(store.box)[at].note = `changed ${at}`
        const [command] = (await session.explain()).commands
        const operations = command.kind === 'write' ? command.operations : []
        const paths = operations.map((operation) => ('path' in operation ? (operation.path?.length ?? 0) : 0))
        expect(Math.max(...paths)).to.equal(Math.min(at, 15))
        await session.flush()
      }
      const boxes = boxesIn((await db.session().load(Store, 1)).box)
      expect(boxes.map(({ note }) => note)).to.deep.equal(boxes.map((_, at) => `changed ${at}`))
      expect(boxes.map(({ label }) => label)).to.deep.equal(boxes.map((_, at) => `box ${DEPTH - at}`))
    })
  })
}
