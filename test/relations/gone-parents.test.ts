import { expect } from 'chai'
import { Companion, Key, ManyToOne, OneToMany, Record, Sharded, collection, ref, type Database } from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

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
    useDatabase(mode, [Parent, Child], (opened) => ({ db } = opened))
    beforeEach(() =>
      db.withSession((session) => {
        for (const id of [1, 2]) session.create(Parent, { id })
        for (const id of [1, 2, 3]) {
          const child = session.create(Child, { id })
          for (const name of REFS) child[name].set(1)
        }
      }),
    )

    for (const inTransaction of [false, true]) {
      for (const to of [null, 2]) {
        it(`leave it ${to === null ? '' : 'for another one '}with one flush, ${inTransaction ? 'in' : 'outside'} a transaction`, async function () {
          if (inTransaction && mode === 'ap') return this.skip()
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
