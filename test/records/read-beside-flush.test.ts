import { expect } from 'chai'
import {
  Bin,
  collection,
  Counter,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  Version,
  type Collection,
  type Database,
  type Ref,
  type Session,
} from 'skein'
import { MODES, type TestServer } from '../server.js'
import { addFault, untilHit } from '../until-hit.js'
import { useDatabase } from '../use-database.js'

class Fields {
  @Key() id!: number
  @Counter() n = 0
  @Bin({ type: { list: 'int' } }) log: number[] = []
}

@Record({ set: 'rec_beside' })
class Plain extends Fields {}

@Record({ set: 'rec_beside_v' })
class Versioned extends Fields {
  @Version() version!: number
}

@Record({ set: 'rec_beside_o' })
class Owned extends Fields {
  @Version() version!: number
  @ManyToOne(() => Holder, 'byIndex') owner = ref<Holder>()
}

@Record({ set: 'rec_beside_h' })
class Holder {
  @Key() id!: number
  @ManyToOne(() => Plain) onePlain = ref<Plain>()
  @ManyToOne(() => Versioned) oneVersioned = ref<Versioned>()
  @ManyToOne(() => Owned) oneOwned = ref<Owned>()
  @OneToMany(() => Plain, { strategy: 'keyList' }) manyPlain = collection<Plain>()
  @OneToMany(() => Versioned, { strategy: 'keyList' }) manyVersioned = collection<Versioned>()
  @OneToMany(() => Owned, { strategy: 'keyList' }) manyOwned = collection<Owned>()
  @OneToMany(() => Owned, 'owner', { strategy: 'secondaryIndex' }) byIndex = collection<Owned>()
}

const SETS = new Map<typeof Plain, string>([
  [Plain, 'rec_beside'],
  [Versioned, 'rec_beside_v'],
  [Owned, 'rec_beside_o'],
])

const first = async (found: AsyncIterable<Plain>): Promise<Plain> => {
  for await (const one of found) return one
  throw new Error('nothing was found')
}
const holderOf = (session: Session): Promise<Holder> => session.load(Holder, 1)
const refTo = (holder: Holder, { name }: typeof Plain): Ref<Plain> =>
  holder[`one${name}` as keyof Holder] as unknown as Ref<Plain>
const listOf = (holder: Holder, { name }: typeof Plain): Collection<Plain> =>
  holder[`many${name}` as keyof Holder] as unknown as Collection<Plain>

type Read = () => Promise<Plain>

/** Each reads what is not read yet; what it needs before that is ready when it is called. */
const READS: { readonly [how: string]: (session: Session, Class: typeof Plain) => Promise<Read> | Read } = {
  load: (session, Class) => () => session.load(Class, 1),
  'load of some properties': (session, Class) => () => session.load(Class, 1, { only: ['n', 'log'] }),
  find: (session, Class) => async () => (await session.find(Class, 1))!,
  loadMany: (session, Class) => async () => (await session.loadMany(Class, [2, 1]))[1],
  'a load with its reference': (session, Class) => async () =>
    refTo(await session.load(Holder, 1, { with: [`one${Class.name}`] as never }), Class).value!,
  'a load with its collection': (session, Class) => async () =>
    [...listOf(await session.load(Holder, 1, { with: [`many${Class.name}`] as never }), Class)][0],
  'ref.load': async (session, Class) => {
    const target = refTo(await holderOf(session), Class)
    return async () => (await target.load())!
  },
  'collection.load': async (session, Class) => {
    const list = listOf(await holderOf(session), Class)
    return async () => [...(await list.load())][0]
  },
  'collection.page': async (session, Class) => {
    const list = listOf(await holderOf(session), Class)
    return async () => (await list.page({ count: 1 }))[0]
  },
  query: (session, Class) => () => first(session.query(Class).where({ id: 1 }).scan()),
  'query of some properties': (session, Class) => () =>
    first(session.query(Class).where({ id: 1 }).scan().only('n', 'log')),
  walk: async (session, Class) => {
    const walk = session.walk(await holderOf(session)).out(`one${Class.name}` as never)
    return async () => (await walk.entities())[0] as Plain
  },
  refresh: (session, Class) => async () => {
    await session.load(Class, 1)
    return session.refresh(await session.load(Class, 1))
  },
}

const INDEX: typeof READS = {
  'a collection by an index': async (session) => {
    const { byIndex } = await holderOf(session)
    return async () => [...(await byIndex.load())][0]
  },
  'pages of a collection by an index': async (session) => {
    const { byIndex } = await holderOf(session)
    return async () => (await byIndex.page({ count: 1 }))[0]
  },
}

for (const mode of MODES)
  for (const Class of SETS.keys())
    describe(`a ${Class.name} whose handle's changes are flushed while it is read (${mode})`, () => {
      let db: Database
      let server: TestServer
      useDatabase(mode, [Plain, Versioned, Owned, Holder], (opened) => ({ db, server } = opened))
      afterEach(() => server.embedded?.faults.clear())

      const store = async (): Promise<void> => {
        const session = db.session()
        const holder = session.persist(Object.assign(new Holder(), { id: 1 }))
        for (const id of [1, 2]) {
          const one = session.persist(Object.assign(new Class(), { id, log: [1] }))
          if (id > 1) continue
          refTo(holder, Class).set(one)
          listOf(holder, Class).add(one)
          if (one instanceof Owned) one.owner.set(holder)
        }
        await session.flush()
      }

      for (const [how, prepare] of Object.entries(Class === Owned ? { ...READS, ...INDEX } : READS))
        for (const after of [true, false])
          it(`shows them once and can be changed: by ${how}, ${after ? 'read before' : 'read after'} the write`, async function () {
            await store()
            const session = db.session()
            const read = await prepare(session, Class)
            const handle = session.at(Class, 1)
            handle.counter('n').add(3)
            handle.list('log').append(2)
            const set = SETS.get(Class)!
            const met = await addFault(this, server, { kind: ['read', 'query'], set, times: 1, delay: 15, after })
            const reading = read()
            await untilHit(met, reading)
            await session.flush()
            const entity = await reading
            expect([entity.n, entity.log]).to.deep.equal([3, [1, 2]])
            entity.n += 10
            entity.log.push(3)
            handle.counter('n').add(100)
            await session.flush()
            expect([entity.n, entity.log]).to.deep.equal([113, [1, 2, 3]])
            const stored = await db.session().load(Class, 1)
            expect([stored.n, stored.log]).to.deep.equal([113, [1, 2, 3]])
          })
    })
