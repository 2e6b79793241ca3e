import { expect } from 'chai'
import {
  Bin,
  CountOf,
  Embeddable,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  Sharded,
  collection,
  ref,
  type Database,
} from 'skein'
import { isNamedServer, MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Embeddable()
class Role {
  @Bin() name!: string
}

@Embeddable()
class Minute {
  @Key() id!: number
  @Bin() text?: string
}

const minute = (id: number): Minute => Object.assign(new Minute(), { id })

/** Counts collections that are split on demand: links on both sides, links with attributes, children that say whose they are. Some counts are in shards. */
@Record({ set: 'ngroup' })
class Group {
  @Key() id!: string
  @Bin() title?: string
  @Sharded({ by: 'hash', shards: 3, when: {}, subkeys: 'usersIn' })
  @ManyToMany(() => User, 'groups')
  users = collection<User>()
  @CountOf('users') userCount = 0
  @Sharded({ by: 'hash', shards: 2 }) @CountOf('users') userShards = 0
  @Sharded({ by: 'hash', shards: 3, when: {}, subkeys: 'staffIn' })
  @ManyToMany(() => User, { attributes: () => Role })
  staff = collection<User, Role>()
  @CountOf('staff') staffCount = 0
  @Sharded({ by: 'hash', shards: 2, when: { members: 8 } }) @OneToMany(() => Task, 'group') tasks = collection<Task>()
  @CountOf('tasks') taskCount = 0
  @Sharded({ by: 'hash', shards: 2 }) @CountOf('tasks') taskShards = 0
  @Sharded({ by: 'hash', shards: 2, when: {}, subkeys: 'minutesIn' })
  @OneToMany(() => Minute, { strategy: 'consolidate' })
  minutes = collection<Minute>()
  @Sharded({ by: 'hash', shards: 3 }) @CountOf('minutes') minuteCount = 0
}

@Record({ set: 'nuser' })
class User {
  @Key() id!: string
  @ManyToMany(() => Group, 'users', { owner: true }) groups = collection<Group>()
  @CountOf('groups') groupCount = 0
}

@Record({ set: 'ntask' })
class Task {
  @Key() id!: number
  @ManyToOne(() => Group, 'tasks') group = ref<Group>()
}

const CLASSES = [Group, User, Task]
const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `u${i}`)

for (const mode of MODES) {
  describe(`counts of collections that are split on demand (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, CLASSES, (opened) => ({ db, server, namespace } = opened))
    beforeEach(() =>
      db.withSession((session) => {
        session.create(Group, { id: 'g' })
        for (const id of names(20)) session.create(User, { id })
      }),
    )

    const at = (name: 'users' | 'staff' | 'tasks') => db.session().at(Group, 'g').collection(name)
    const change = (work: (users: ReturnType<typeof at>) => void, name: 'users' | 'staff' | 'tasks' = 'users') =>
      db.withSession((session) => work(session.at(Group, 'g').collection(name) as never))
    const counts = async (): Promise<number[]> => {
      const { userCount, staffCount, taskCount, userShards, taskShards } = await db.session().load(Group, 'g')
      expect([userShards, taskShards], 'in shards').to.deep.equal([userCount, taskCount])
      return [userCount, staffCount, taskCount]
    }
    const verify = async (repair = false): Promise<string[]> => {
      const found: string[] = []
      for await (const { kind, property, state } of db.verify(CLASSES, { repair, settle: 0 }))
        found.push(`${kind} ${property} ${state}`)
      return found
    }

    it('are kept before a split, after it, after another one, and when all is merged', async () => {
      await change((users) => users.add(...names(6)))
      await change((users) => users.add('u5', 'u6'))
      expect(await counts()).to.deep.equal([7, 0, 0])
      const steps = [() => at('users').shard(3), () => at('users').shard(5), () => at('users').merge()]
      let expected = 7
      for (const [i, step] of steps.entries()) {
        await step()
        expect(await counts()).to.deep.equal([expected, 0, 0])
        await change((users) => users.add('u0', `u${10 + i}`))
        await change((users) => users.remove(`u${i + 1}`, 'u19'))
        expect(await counts()).to.deep.equal([expected, 0, 0])
        await change((users) => users.add('u19'))
        expect(await counts()).to.deep.equal([++expected, 0, 0])
        await change((users) => users.remove('u19'))
        expect(await counts()).to.deep.equal([--expected, 0, 0])
      }
      expect(await at('users').count()).to.equal(expected)
      expect((await db.session().load(User, 'u0')).groupCount).to.equal(1)
      expect(await verify()).to.deep.equal([])
    })

    it('are kept in shards of their own, of children in the record of their owner and in companions', async () => {
      const minutes = () => db.session().at(Group, 'g').collection('minutes')
      const write = (work: (own: ReturnType<typeof minutes>) => void) =>
        db.withSession((session) => work(session.at(Group, 'g').collection('minutes')))
      const count = async (): Promise<number> => (await db.session().load(Group, 'g')).minuteCount
      let expected = 4
      await write((own) => void own.add(minute(1), minute(2), minute(3), minute(4)))
      for (const [i, to] of [0, 3, 5, 0, 2].entries()) {
        if (to > 0) await minutes().shard(to)
        else await minutes().merge()
        await write((own) => void own.add(minute(2), minute(10 + i), minute(20 + i)))
        await write((own) => void own.remove(10 + i, 99))
        await db.withSession(async (session) => {
          const { minutes: own } = await session.load(Group, 'g', { with: ['minutes'] })
          own.items[0].text = `step ${i}`
          own.add(minute(30 + i))
        })
        expected += 2
        expect([await count(), await minutes().count()], `${to}`).to.deep.equal([expected, expected])
        expect(await verify()).to.deep.equal([])
      }
      await db.client.put({ ns: namespace, set: 'ngroup', key: 'g' }, { minuteCount: 70 })
      expect(await verify(true)).to.deep.equal(['wrongCount minuteCount repaired'])
      expect(await count()).to.equal(expected)
    })

    it('take no command more while members are in the record of their owner, and one once they are split', async () => {
      await db.withSession((session) => {
        const group = session.create(Group, { id: 'h' })
        group.staff.link('u0', { name: 'boss' })
      })
      const link = (id: string): Promise<unknown> =>
        db.withSession((session) => void session.at(Group, 'h').collection('staff').link(id, { name: 'staff' }))
      expect((await server.commands.during(() => link('u1'))).rows).to.equal(1)
      await db.session().at(Group, 'h').collection('staff').shard(3)
      if (mode === 'ap') expect((await server.commands.during(() => link('u2'))).rows).to.equal(2)
      else await link('u2')
      expect((await db.session().load(Group, 'h')).staffCount).to.equal(3)
    })

    it('are exact where changes meet a split that was left in the middle', async function () {
      if (isNamedServer) this.skip()
      const { faults } = server.embedded!
      const steps = await server.open({ namespace, entities: CLASSES, transactions: 'off', retry: { attempts: 1 } })
      const link = (...ids: string[]): Promise<unknown> =>
        db.withSession((session) => {
          for (const id of ids) session.at(Group, 'g').collection('staff').link(id, { name: 'staff' })
        })
      await link('u0', 'u1', 'u2', 'u3', 'u4')
      // The third write of the owner takes out what was copied.
      await faults.add({ namespace, set: 'ngroup', kind: 'write', skip: 2, answer: 4, times: Infinity })
      await steps
        .session()
        .at(Group, 'g')
        .collection('staff')
        .shard(3)
        .catch(() => undefined)
      await faults.clear()
      await steps.close()
      await link('u0', 'u5')
      await db.withSession((session) => void session.at(Group, 'g').collection('staff').remove('u1', 'u2', 'u9'))
      expect(await counts()).to.deep.equal([0, 4, 0])
      expect(await at('staff').keys()).to.deep.equal(['u0', 'u3', 'u4', 'u5'])
      expect(await verify()).to.deep.equal([])
    })

    it('follow a split that a flush begins, children that move, and deletes', async () => {
      await db.withSession((session) => {
        for (let i = 0; i < 12; i++) session.create(Task, { id: i }).group.set('g')
        session.create(Group, { id: 'h' })
      })
      expect(await counts()).to.deep.equal([0, 0, 12])
      await db.withSession(async (session) => {
        ;(await session.load(Task, 3)).group.set('h')
        ;(await session.load(Task, 4)).group.set(null)
        session.remove(await session.load(Task, 5))
      })
      expect(await counts()).to.deep.equal([0, 0, 9])
      expect((await db.session().load(Group, 'h')).taskCount).to.equal(1)
      await change((users) => users.add('u1', 'u2'))
      await at('users').shard(2)
      await db.session().delete(User, 'u1')
      expect(await counts()).to.deep.equal([1, 0, 9])
      expect(await verify()).to.deep.equal([])
    })

    it('are exact after many have added and removed while the collection is split and merged', async function () {
      this.timeout(60_000)
      const before = names(10)
      await change((users) => users.add(...before))
      const moves = (async () => {
        for (const shards of [3, 2, -1, 4]) await (shards < 0 ? at('users').merge() : at('users').shard(shards))
      })()
      // Each change is a transaction with the owner there, and few can meet at once.
      const writers = Array.from({ length: mode === 'ap' ? 20 : 3 }, async (_, i) => {
        for (let turn = 0; turn < 4; turn++) {
          await change((users) => users.add(`u${i}`))
          if ((turn + i) % 2 === 0) await change((users) => users.remove(`u${i}`))
        }
      })
      await Promise.all([moves, ...writers])
      const [userCount] = await counts()
      expect(userCount).to.equal(await at('users').count())
      expect(userCount).to.equal((await at('users').keys()).length)
    })

    it('are found and put right by verify, wherever the members are', async () => {
      await change((users) => users.add('u1', 'u2'))
      for (const step of [() => Promise.resolve(), () => at('users').shard(2)]) {
        await step()
        await db.client.put({ ns: namespace, set: 'ngroup', key: 'g' }, { userCount: 7, userShards: 5 })
        for (const [repair, state] of [
          [false, 'found'],
          [true, 'repaired'],
        ] as const)
          expect(await verify(repair)).to.have.members([
            `wrongCount userCount ${state}`,
            `wrongCount userShards ${state}`,
          ])
        expect(await counts()).to.deep.equal([2, 0, 0])
      }
    })
  })
}
