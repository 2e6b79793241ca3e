import { expect } from 'chai'
import {
  Companion,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  Sharded,
  SkeinError,
  Version,
  collection,
  ref,
  type Database,
  type Session,
} from 'skein'
import type { TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { addFault, untilHit } from '../../until-hit.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'twice-parent' })
class Parent {
  @Key() id!: number
  @OneToMany(() => Child, 'plain') plains = collection<Child>()
  @OneToMany(() => Child, 'indexed', { strategy: 'secondaryIndex' }) indexeds = collection<Child>()
  @Companion({ subkeys: 'inOne' }) @OneToMany(() => Child, 'apart') aparts = collection<Child>()
  @Sharded({ by: 'hash', shards: 2, subkeys: 'inMany' }) @OneToMany(() => Child, 'sharded') shardeds =
    collection<Child>()
  @Sharded({ by: 'hash', shards: 2, when: { members: 1 }, subkeys: 'inMore' })
  @OneToMany(() => Child, 'growing')
  growings = collection<Child>()
  @OneToMany(() => Versioned, 'parent') versioneds = collection<Versioned>()
}

@Record({ set: 'twice-child' })
class Child {
  @Key() id!: number
  @ManyToOne(() => Parent, 'plains') plain = ref<Parent>()
  @ManyToOne(() => Parent, 'indexeds') indexed = ref<Parent>()
  @ManyToOne(() => Parent, 'aparts') apart = ref<Parent>()
  @ManyToOne(() => Parent, 'shardeds') sharded = ref<Parent>()
  @ManyToOne(() => Parent, 'growings') growing = ref<Parent>()
}

@Record({ set: 'twice-versioned' })
class Versioned {
  @Key() id!: number
  @Version() version?: number
  @ManyToOne(() => Parent, 'versioneds') parent = ref<Parent>()
}

const CLASSES = [Parent, Child, Versioned]
const SIDES = {
  plain: 'plains',
  indexed: 'indexeds',
  apart: 'aparts',
  sharded: 'shardeds',
  growing: 'growings',
} as const
const REFS = Object.keys(SIDES) as (keyof typeof SIDES)[]
/** The parent that the child has, and two that are deleted before it is given to them. */
const [HOME, GONE, GONE_TOO] = [1, 2, 3]
/** Commands that ask for a parent, or write to it. */
const AT_PARENT = { kind: ['write', 'read'], set: 'twice-parent', delay: 100 } as const

describe('a child given to a parent that is gone (ap)', () => {
  let db: Database
  let server: TestServer
  useDatabase('ap', CLASSES, (opened) => ({ db, server } = opened))
  afterEach(() => server.embedded?.faults.clear())
  beforeEach(() =>
    db.withSession((session) => {
      for (const id of [HOME, GONE, GONE_TOO]) session.create(Parent, { id })
      const child = session.create(Child, { id: 1 })
      for (const name of REFS) child[name].set(HOME)
      session.create(Versioned, { id: 1 }).parent.set(HOME)
    }),
  )

  type Give = (session: Session, name: keyof typeof SIDES, to: number) => Promise<void>
  const WAYS: { readonly [title: string]: Give } = {
    'by its reference': async (session, name, to) => {
      ;(await session.load(Child, 1))[name].set(await session.load(Parent, to))
    },
    'by its key': async (session, name, to) => {
      ;(await session.load(Parent, to))[SIDES[name]].add(1)
    },
  }
  const deleteParents = async (): Promise<void> => {
    for (const id of [GONE, GONE_TOO]) await db.session().delete(Parent, id)
  }
  const expectAt = async (name: keyof typeof SIDES, parent: number | null): Promise<void> => {
    const session = db.session()
    expect((await session.load(Child, 1))[name].key).to.equal(parent)
    expect(await session.at(Parent, HOME).collection(SIDES[name]).keys()).to.deep.equal(parent === HOME ? [1] : [])
    await expectSound()
  }
  const expectSound = async (): Promise<void> => {
    for await (const { message } of db.verify(CLASSES, { settle: 0 })) expect.fail(message)
  }
  const expectRefused = async (session: Session): Promise<void> => {
    expect(await rejection(() => session.flush())).to.be.instanceOf(SkeinError)
    expect(session.isDirty()).to.equal(true)
  }

  for (const name of REFS)
    for (const [way, give] of Object.entries(WAYS)) {
      it(`stays with its own, also when two sessions do so at once: ${name}, ${way}`, async function () {
        const [first, second] = [db.session(), db.session()]
        for (const session of [first, second]) await give(session, name, GONE)
        await deleteParents()
        const fault = await addFault(this, server, AT_PARENT)
        const flushing = expectRefused(first)
        await untilHit(fault, flushing)
        await expectRefused(second)
        await flushing
        await expectAt(name, HOME)
        for (const session of [first, second]) await expectRefused(session)
        await expectAt(name, HOME)
      })

      it(`is on no list that it does not name when two sessions give it to two such parents: ${name}, ${way}`, async function () {
        const [first, second] = [db.session(), db.session()]
        await give(first, name, GONE)
        await give(second, name, GONE_TOO)
        await deleteParents()
        const fault = await addFault(this, server, AT_PARENT)
        const flushing = expectRefused(first)
        await untilHit(fault, flushing)
        await expectRefused(second)
        await flushing
        await expectSound()
        for (const session of [first, second]) await expectRefused(session)
        await expectSound()
      })
    }

  for (const name of REFS)
    for (const after of [true, false])
      for (const skip of [0, 1])
        it(`stays with its own when the answer to its ${skip === 0 ? 'write' : 'rollback'} is lost ${after ? 'after' : 'before'} it took effect: ${name}`, async function () {
          const session = db.session()
          await WAYS['by its reference'](session, name, GONE)
          await deleteParents()
          await addFault(this, server, { kind: 'write', set: 'twice-child', skip, drop: true, after })
          await expectRefused(session)
          await expectRefused(session)
          await expectAt(name, HOME)
        })

  for (const name of REFS)
    for (const [way, give] of Object.entries(WAYS))
      for (const after of [true, false])
        it(`stays with its own when no rollback is answered, until the next flush: ${name}, ${way}, lost ${after ? 'after' : 'before'} it took effect`, async function () {
          const session = db.session()
          await give(session, name, GONE)
          await deleteParents()
          // A server's own time-out: lost connections would make the client refuse all commands for a while.
          const lost = { kind: ['write', 'read'], set: 'twice-child', skip: 1, answer: 9, after, times: 100 } as const
          const fault = await addFault(this, server, lost)
          await expectRefused(session)
          expect(await fault.hits()).to.be.above(0)
          await server.embedded!.faults.clear()
          await expectRefused(session)
          await expectAt(name, HOME)
        })

  it('stays with its own when the answer to the write of its version is lost', async function () {
    const session = db.session()
    ;(await session.load(Versioned, 1)).parent.set(await session.load(Parent, GONE))
    await deleteParents()
    await addFault(this, server, { kind: 'write', set: 'twice-versioned', drop: true, after: true })
    await expectRefused(session)
    await expectRefused(session)
    expect((await db.session().load(Versioned, 1)).parent.key).to.equal(HOME)
    await expectSound()
  })

  for (const name of REFS)
    it(`may be given elsewhere by whoever was refused: ${name}`, async function () {
      const [first, second] = [db.session(), db.session()]
      for (const session of [first, second]) await WAYS['by its reference'](session, name, GONE)
      await deleteParents()
      const fault = await addFault(this, server, AT_PARENT)
      const flushing = expectRefused(first)
      await untilHit(fault, flushing)
      await expectRefused(second)
      await flushing
      const child = await second.load(Child, 1)
      child[name].set(null)
      await second.flush()
      expect(second.isDirty()).to.equal(false)
      await expectAt(name, null)
    })
})
