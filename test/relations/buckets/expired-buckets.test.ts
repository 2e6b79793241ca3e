import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  Bin,
  Embeddable,
  Key,
  ManyToMany,
  OneToMany,
  PartialFailureError,
  Record,
  Sharded,
  VersionConflictError,
  collection,
  type Database,
  type Session,
} from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { HOUR } from './dated-models.js'

@Embeddable()
class Reading {
  @Key() id!: string
  @Bin() at!: Date
  @Bin() text?: string
}

@Embeddable()
class Visit {
  @Bin() at!: Date
  @Bin() how?: string
}

@Record({ set: 'xb_guest' })
class Guest {
  @Key() id!: string
  @Bin() name?: string
}

/** Has children and links in buckets of one hour that expire. */
@Record({ set: 'xb_house' })
class House {
  @Key() id!: string
  @Bin() title?: string
  @Sharded({ by: 'hour', on: 'at', ttl: 2 * 86_400, subkeys: 'readingsIn' })
  @OneToMany(() => Reading, { strategy: 'consolidate', sortKey: ['at'] })
  readings = collection<Reading>()
  @Sharded({ by: 'hour', on: 'at', ttl: 2 * 86_400, subkeys: 'guestsIn' })
  @ManyToMany(() => Guest, { attributes: () => Visit })
  guests = collection<Guest, Visit>()
}

const NOW = Math.floor(Date.now() / HOUR) * HOUR
const OLD = NOW - 10 * HOUR
const reading = (id: string, at: number): Reading => Object.assign(new Reading(), { id, at: new Date(at) })

for (const mode of MODES) {
  describe(`a bucket that has expired (${mode})`, () => {
    let db: Database
    let namespace: string
    let session: Session
    let house: House
    useDatabase(mode, [House, Guest], (opened) => ({ db, namespace } = opened))

    beforeEach(async () => {
      await db.withSession((first) => {
        for (const id of ['old', 'new', 'late']) first.create(Guest, { id })
        const made = first.create(House, { id: 'h', title: 'before' })
        made.readings.add(reading('old', OLD), reading('new', NOW))
        made.guests.link('old', { at: new Date(OLD) })
        made.guests.link('new', { at: new Date(NOW) })
      })
      session = db.session()
      house = await session.load(House, 'h')
    })

    /** Changes other things of the house, and another record, after the bucket is gone. */
    const flush = async (): Promise<unknown> => {
      const name = new Date(OLD).toISOString().slice(0, 13).replace('T', '-')
      const policy = new Aerospike.RemovePolicy({ durableDelete: mode === 'sc' })
      for (const set of ['xb_house_readings', 'xb_house_guests'])
        await db.client.remove(new Aerospike.Key(namespace, set, `h:${name}`), policy)
      const guest = await session.load(Guest, 'new')
      guest.name = house.title = 'after'
      ;(await house.readings.get('new'))!.text = 'after'
      ;(await house.guests.attributesOf('new'))!.how = 'after'
      house.readings.add(reading('more', NOW))
      return session.flush().then(
        () => undefined,
        (error: unknown) => error,
      )
    }
    const expectOthersWritten = async (readings: string[], guests: string[]): Promise<void> => {
      const read = await db.session().load(House, 'h')
      expect([read.title, (await db.session().load(Guest, 'new')).name]).to.deep.equal(['after', 'after'])
      expect((await read.readings.get('new'))?.text).to.equal('after')
      expect((await read.guests.attributesOf('new'))?.how).to.equal('after')
      expect([await read.readings.keys(), await read.guests.keys()]).to.deep.equal([readings, guests])
    }
    const expectReported = (error: unknown, what: RegExp): void => {
      const { records, cause } = error as PartialFailureError
      expect(error).to.be.instanceOf(PartialFailureError)
      expect(cause).to.be.instanceOf(VersionConflictError)
      expect((cause as Error).message).to.match(what)
      const failed = records.filter(({ outcome }) => outcome !== 'written')
      expect(failed.map(({ key, outcome }) => [key, outcome])).to.deep.equal([['h', 'partlyWritten']])
    }

    it('keeps a child that was in it from being changed, and nothing else', async () => {
      ;(await house.readings.get('old'))!.text = 'changed'
      expectReported(await flush(), /^Reading "old" is no longer in readings of House "h"\./)
      await expectOthersWritten(['more', 'new'], ['new'])
    })

    it('keeps a link that was in it from being changed, and nothing else', async () => {
      ;(await house.guests.attributesOf('old'))!.how = 'changed'
      expectReported(await flush(), /^The link of House "h" to "old" in guests is no longer there/)
      await expectOthersWritten(['more', 'new'], ['new'])
      house.guests.remove('old')
      await session.flush()
      expect(session.isDirty()).to.equal(false)
    })

    it('has nothing to remove', async () => {
      house.readings.remove('old')
      house.guests.remove('old')
      expect(await flush()).to.equal(undefined)
      expect(session.isDirty()).to.equal(false)
      await expectOthersWritten(['more', 'new'], ['new'])
    })

    it('is made anew where members of its time come before their ttl is over', async () => {
      house.readings.add(reading('late', OLD + 1))
      house.guests.link('late', { at: new Date(OLD + 1) })
      expect(await flush()).to.equal(undefined)
      await expectOthersWritten(['late', 'more', 'new'], ['late', 'new'])
    })
  })
}
