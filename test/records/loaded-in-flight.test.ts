import { expect } from 'chai'
import { Bin, Counter, Key, Record, Version, type Database, type Session } from 'skein'
import { MODES, need, type TestServer } from '../server.js'
import { useDatabase } from '../use-database.js'

class Fields {
  @Key() id!: number
  @Counter() n = 0
  @Bin({ type: { list: 'int' } }) log: number[] = []
}

@Record({ set: 'rec_late' })
class Plain extends Fields {}

@Record({ set: 'rec_late_v' })
class Versioned extends Fields {
  @Version() version!: number
}

const LOADS: { readonly [how: string]: (session: Session, Class: typeof Plain) => Promise<Plain> } = {
  load: (session, Class) => session.load(Class, 1),
  'load of some properties': (session, Class) => session.load(Class, 1, { only: ['n', 'log'] }),
  find: async (session, Class) => (await session.find(Class, 1))!,
  loadMany: async (session, Class) => (await session.loadMany(Class, [2, 1]))[1],
}

for (const mode of MODES)
  for (const Class of [Plain, Versioned] as (typeof Plain)[])
    describe(`a ${Class.name} that is loaded while a change of its handle is sent (${mode})`, () => {
      let db: Database
      let server: TestServer
      useDatabase(mode, [Plain, Versioned], (opened) => ({ db, server } = opened))
      afterEach(() => server.embedded?.faults.clear())

      for (const [how, load] of Object.entries(LOADS))
        for (const after of [false, true])
          for (const others of how === 'load' ? [0, 1] : [1])
            it(`shows the change once and can be changed: by ${how}, ${after ? 'before the answer comes' : 'before the write'}, ${others} other record(s)`, async function () {
              const { faults } = need(this, server.embedded, 'only the embedded server is slow on demand')
              for (const id of [1, 2]) await db.session().save(Object.assign(new Class(), { id, log: [1] }))
              const session = db.session()
              const handle = session.at(Class, 1)
              handle.counter('n').add(3)
              handle.list('log').append(2)
              if (others > 0) session.at(Class, 2).counter('n').add(1)
              await faults.add({ kind: 'write', times: 2, delay: 10, after })
              const flushed = session.flush()
              const loading = load(session, Class)
              handle.counter('n').add(100)
              const entity = await loading
              expect([entity.n, entity.log]).to.deep.equal([103, [1, 2]])
              await flushed
              entity.n += 10
              entity.log.push(3)
              await session.flush()
              const stored = await db.session().load(Class, 1)
              expect([stored.n, stored.log]).to.deep.equal([113, [1, 2, 3]])
              expect([entity.n, entity.log]).to.deep.equal([113, [1, 2, 3]])
            })
    })
