import { expect } from 'chai'
import {
  collection,
  Counter,
  Embeddable,
  Embedded,
  Key,
  ModelError,
  OneToMany,
  open,
  Record,
  Sharded,
  SkeinError,
  toPlain,
  type Database,
} from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

const GIGA = 2n ** 60n

@Embeddable()
class Totals {
  @Counter({ type: 'bigint' }) bytes = 0n
}

@Embeddable()
class Drive {
  @Key() id!: string
  @Counter({ type: 'bigint' }) bytes = 0n
}

@Record({ set: 'big_host' })
class Host {
  @Key() id!: string
  @Counter({ type: 'bigint' }) sent = 0n
  @Counter() received: bigint = 0n
  @Sharded({ by: 'hash', shards: 2 }) @Counter({ type: 'bigint', name: 'lost' }) lost = 0n
  @Embedded(() => Totals) totals = new Totals()
  @OneToMany(() => Drive, { strategy: 'consolidate' }) drives = collection<Drive>()
}

for (const mode of MODES) {
  describe(`a counter of type bigint (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Host], (opened) => ({ db } = opened))
    beforeEach(async () => {
      const session = db.session()
      session.create(Host, { id: 'a' }).drives.add(Object.assign(new Drive(), { id: 'd' }))
      await session.flush()
    })

    it('counts past 2^53 in records, shards, parts and children, by handles and by loaded entities', async () => {
      const session = db.session()
      const host = session.at(Host, 'a')
      host.counter('sent').add(GIGA)
      host.counter('received').add(1)
      host.counter('lost').add(GIGA)
      host.map('totals').increment('bytes', GIGA)
      host.child('drives', 'd').increment('bytes', GIGA)
      expect(await host.counter('sent').value()).to.equal(GIGA)
      await session.flush()
      const other = db.session()
      const loaded = await other.load(Host, 'a')
      loaded.sent += GIGA
      loaded.lost += GIGA
      loaded.totals.bytes += 1n
      loaded.drives.items[0].bytes += GIGA
      await other.flush()
      const { sent, received, lost, totals, drives } = await db.session().load(Host, 'a')
      expect([sent, received, lost]).to.deep.equal([2n * GIGA, 1n, 2n * GIGA])
      expect([totals.bytes, drives.items[0].bytes]).to.deep.equal([GIGA + 1n, 2n * GIGA])
      expect(toPlain(await db.session().load(Host, 'a'))).to.have.property('sent')
      expect(await db.query(Host).scan().sum('sent')).to.equal(2n * GIGA)
    })

    it('refuses what 64 bits cannot hold before anything is sent', async () => {
      const add = (): void =>
        db
          .session()
          .at(Host, 'a')
          .counter('sent')
          .add(2n ** 63n)
      expect(add).to.throw(SkeinError, /sent/).with.property('code', 'SKEIN_2331')
      const session = db.session()
      const host = await session.load(Host, 'a')
      host.sent = 2n ** 63n
      expect(await session.flush().catch((error: unknown) => error)).to.have.property('code', 'SKEIN_2201')
    })
  })
}

/** Options that the compiler does not look at. */
const [DOUBLE, INT]: readonly object[] = [{ type: 'double' }, { type: 'int' }]

describe('the type of a counter', () => {
  it('is refused where it is neither int nor bigint, or not that of its property', async () => {
    @Record({ set: 'big_wrong' })
    class Wrong {
      @Key() id!: string
      @Counter(DOUBLE) a = 0
      @Counter(INT) b: bigint = 0n
    }
    const error: unknown = await open({ embedded: true, namespace: 'test', entities: [Wrong] }).catch(
      (caught: unknown) => caught,
    )
    expect(error).to.be.instanceOf(ModelError)
    expect((error as ModelError).message)
      .to.match(/Wrong\.a.*type/s)
      .and.match(/Wrong\.b.*is on a BigInt/s)
  })
})
