import { expect } from 'chai'
import {
  Companion,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  Sharded,
  SkeinError,
  collection,
  ref,
  type Database,
} from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { addFault, untilHit } from '../../until-hit.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'gone-parent' })
class Parent {
  @Key() id!: number
  @OneToMany(() => Child, 'plain', { strategy: 'keyList' }) plains = collection<Child>()
  @OneToMany(() => Child, 'indexed', { strategy: 'secondaryIndex' }) indexeds = collection<Child>()
  @Companion({ subkeys: 'inOne' }) @OneToMany(() => Child, 'apart') aparts = collection<Child>()
  @Sharded({ by: 'hash', shards: 2, subkeys: 'inMany' }) @OneToMany(() => Child, 'sharded') shardeds =
    collection<Child>()
  @Sharded({ by: 'hash', shards: 2, when: { members: 1 }, subkeys: 'inMore' })
  @OneToMany(() => Child, 'growing')
  growings = collection<Child>()
}

@Record({ set: 'gone-child' })
class Child {
  @Key() id!: number
  @ManyToOne(() => Parent, 'plains') plain = ref<Parent>()
  @ManyToOne(() => Parent, 'indexeds') indexed = ref<Parent>()
  @ManyToOne(() => Parent, 'aparts') apart = ref<Parent>()
  @ManyToOne(() => Parent, 'shardeds') sharded = ref<Parent>()
  @ManyToOne(() => Parent, 'growings') growing = ref<Parent>()
}

const REFS = ['plain', 'indexed', 'apart', 'sharded', 'growing'] as const

for (const mode of MODES) {
  describe(`children of a parent that another session has deleted (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Parent, Child], (opened) => ({ db, server } = opened))
    afterEach(() => server.embedded?.faults.clear())
    beforeEach(() =>
      db.withSession((session) => {
        for (const id of [1, 2]) session.create(Parent, { id })
        for (const id of [1, 2, 3]) {
          const child = session.create(Child, { id })
          for (const name of REFS) child[name].set(1)
        }
      }),
    )

    // A transaction is undone as a whole.
    for (const name of mode === 'ap' ? REFS : []) {
      it(`are as dirty as before when they are deleted, too, before they are taken back from it: ${name}`, async function () {
        const session = db.session()
        const [child, parent] = [await session.load(Child, 1), await session.load(Parent, 2)]
        await db.session().delete(Parent, 2)
        child[name].set(parent)
        const hit = { kind: ['write', 'read'], set: 'gone-parent', delay: 300 } as const
        const fault = await addFault(this, server, hit)
        const flushing = rejection(() => session.flush())
        await untilHit(fault, flushing)
        await db.session().delete(Child, 1)
        expect(await flushing).to.be.instanceOf(SkeinError)
        expect(await rejection(() => session.flush())).to.be.instanceOf(SkeinError)
        for (const gone of [child, parent]) await session.delete(gone)
        await session.flush()
        expect(session.isDirty()).to.equal(false)
      })
    }

    for (const inTransaction of mode === 'sc' ? [false, true] : [false]) {
      for (const to of [null, 2]) {
        it(`leave it ${to === null ? '' : 'for another one '}with one flush, ${inTransaction ? 'in' : 'outside'} a transaction`, async () => {
          const session = db.session()
          const child = await session.load(Child, 1)
          await db.session().delete(Parent, 1)
          for (const name of REFS) child[name].set(to)
          if (inTransaction)
            await db.transaction(async (inside) => {
              const same = await inside.load(Child, 1)
              for (const name of REFS) same[name].set(to)
              await inside.flush()
              expect(inside.isDirty()).to.equal(false)
            })
          await session.flush()
          expect(session.isDirty()).to.equal(false)
          const stored = await db.session().load(Child, 1)
          expect(REFS.map((name) => stored[name].key)).to.deep.equal(REFS.map(() => to))
        })
      }
    }
  })
}
