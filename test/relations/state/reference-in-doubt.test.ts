import { expect } from 'chai'
import {
  Key,
  ManyToOne,
  OneToMany,
  Record,
  collection,
  ref,
  type Database,
  type PartialFailureError,
  type Session,
} from 'skein'
import { need, type TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'doubt_parent' })
class Parent {
  @Key() id!: number
  @OneToMany(() => Child, 'parent') kids = collection<Child>()
  @OneToMany(() => Child, 'indexed', { strategy: 'secondaryIndex' }) found = collection<Child>()
}

@Record({ set: 'doubt_child' })
class Child {
  @Key() id!: number
  @ManyToOne(() => Parent, 'kids') parent = ref<Parent>()
  @ManyToOne(() => Parent, 'found') indexed = ref<Parent>()
}

interface World {
  readonly session: Session
  readonly first: Parent
  readonly second: Parent
  readonly child: Child
}

const SIDES = { parent: 'kids', indexed: 'found' } as const

describe('a move from one parent to another whose answer was lost (ap)', () => {
  let db: Database
  let server: TestServer
  useDatabase('ap', [Parent, Child], (opened) => ({ db, server } = opened))
  afterEach(() => server.embedded?.faults.clear())

  const UNDONE: { readonly [title: string]: (world: World, name: keyof typeof SIDES) => Promise<unknown> | void } = {
    'is set back': ({ child, first }, name) => child[name].set(first),
    'is set back by the collection': ({ child, first }, name) => first[SIDES[name]].add(child),
    'is dropped by a refresh of the new parent': ({ session, second }) => session.refresh(second),
  }
  for (const [title, undo] of Object.entries(UNDONE))
    for (const name of ['parent', 'indexed'] as const)
      for (const after of [true, false])
        it(`is stored as shown when it ${title}: ${name}, lost ${after ? 'after' : 'before'} it took effect`, async function () {
          const { faults } = need(this, server.embedded, 'faults need the embedded server')
          await db.withSession((session) => {
            session.create(Parent, { id: 2 })
            session.create(Parent, { id: 1 })[SIDES[name]].add(session.create(Child, { id: 1 }))
          })
          const session = db.session()
          const [first, second] = await session.loadMany(Parent, [1, 2], { with: ['kids', 'found'] })
          const child = await session.load(Child, 1)
          child[name].set(second)
          await faults.add({ set: 'doubt_child', kind: ['write', 'read'], drop: true, after, times: 100 })
          const failed = (await rejection(() => session.flush())) as PartialFailureError
          expect(failed.records.find(({ key }) => key === 1)?.outcome).to.equal('inDoubt')
          await faults.clear()
          await undo({ session, first, second, child }, name)
          expect(child[name].key).to.equal(1)
          await session.flush()
          expect(session.isDirty()).to.equal(false)
          expect(child[name].key).to.equal(1)
          const stored = db.session()
          expect((await stored.load(Child, 1))[name].key).to.equal(1)
          const lists = [1, 2].map((id) => stored.at(Parent, id).collection(SIDES[name]).keys())
          expect(await Promise.all(lists)).to.deep.equal([[1], []])
        })
})
