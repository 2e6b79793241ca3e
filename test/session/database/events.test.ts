import { expect } from 'chai'
import 'reflect-metadata'
import { inspect } from 'node:util'
import { Bin, Key, Record, type CommandEvent, type FlushEvent, type HiddenError, type WarningEvent } from 'skein'
import { Person } from '../models.js'
import { inEachMode } from '../modes.js'
import { rejection } from '../rejection.js'
import { heardEvents } from '../../heard-events.js'

@Record({ set: 'album' })
class Album {
  @Key() id!: number
  @Bin() a?: string
  @Bin() b?: string
  @Bin() c?: string
  @Bin() d?: string
  @Bin() e?: string
  @Bin() f?: string
}

inEachMode(
  'events',
  (bed) => {
    it('tell of each flush that sent something', async () => {
      const session = bed().db.session()
      for (const name of ['a', 'b', 'c']) session.create(Person, { id: bed().fresh(), name })
      const events = await heardEvents<FlushEvent>('skein:flush', async () => {
        await session.flush()
        await session.flush()
      })
      expect(events).to.have.length(1)
      expect(events[0]).to.include({ commands: 3, written: 3, stages: 1, error: undefined })
      expect(events[0].bytes).to.be.greaterThan(0)
      expect(events[0].ms).to.be.at.least(0)
    })

    it('tell of each delete, also of a record that the session has not loaded', async () => {
      const id = bed().fresh()
      await bed()
        .db.session()
        .save(Object.assign(new Person(), { id, name: 'a' }))
      const session = bed().db.session()
      const events = await heardEvents<FlushEvent>('skein:flush', async () => {
        await session.delete(Person, id)
        await session.delete(Person, id)
      })
      expect(events).to.have.length(2)
      for (const event of events) expect(event).to.include({ commands: 1, written: 1, stages: 1, error: undefined })
    })

    it('tell of the failure too, where keys may be shown', async () => {
      const db = await bed().open({ reveal: { keys: true } })
      const session = db.session()
      const taken = await bed()
        .db.session()
        .save(Object.assign(new Person(), { id: bed().fresh(), name: 'a' }))
      session.create(Person, { id: taken.id, name: 'b' })
      session.create(Person, { id: bed().fresh(), name: 'c' })
      let error: unknown
      const [event] = await heardEvents<FlushEvent>('skein:flush', async () => {
        error = await rejection(() => session.flush())
      })
      expect(event).to.include({ commands: 2, written: 1, error })
    })

    it('tell of a failure without its keys unless asked for', async () => {
      const person = (): Person => Object.assign(new Person(), { id: 'secret key', name: 'secret name' })
      await bed().db.session().upsert(person())
      const session = bed().db.session()
      session.create(Person, { id: bed().fresh(), name: 'b' })
      const [one, several] = await heardEvents<FlushEvent>('skein:flush', async () => {
        await rejection(() => bed().db.session().save(person()))
        session.persist(person())
        await rejection(() => session.flush())
      })
      expect(one.error).to.deep.include({ name: 'AlreadyExistsError', code: 'SKEIN_3002' })
      expect(several.error).to.deep.include({ name: 'PartialFailureError', code: 'SKEIN_4001' })
      expect((several.error as HiddenError).cause).to.deep.include({ name: 'AlreadyExistsError' })
      expect(inspect([one, several], { depth: 20, showHidden: true })).to.not.contain('secret')
    })

    it('tell of a record that grows large little by little', async () => {
      const session = bed().db.session()
      const album = session.create(Album, { id: bed().freshNumber() })
      await session.flush()
      const warnings = await heardEvents<WarningEvent>('skein:warning', async () => {
        for (const side of ['a', 'b', 'c', 'd', 'e', 'f'] as const) {
          album[side] = 'x'.repeat(30_000)
          await session.flush()
        }
      })
      expect(warnings.map(({ warning }) => warning)).to.deep.equal(['recordSize', 'recordSize'])
      expect(warnings[0].size).to.be.within(128 * 1024, 160_000)
    })

    it('tell of a record that a transaction makes large, with its own write', async function () {
      if (bed().server.sc !== bed().namespace) this.skip()
      const id = bed().freshNumber()
      const warnings = await heardEvents<WarningEvent>('skein:warning', () =>
        bed().db.transaction(async (session) => {
          await session.save(Object.assign(new Album(), { id, a: 'x'.repeat(140_000) }))
        }),
      )
      expect(warnings).to.have.length(1)
      expect(warnings[0].size).to.be.within(140_000, 141_000)
    })

    it('tell nothing of a large value that takes the place of another', async () => {
      const id = bed().freshNumber()
      const warnings = await heardEvents<WarningEvent>('skein:warning', async () => {
        const session = bed().db.session()
        const album = await session.save(Object.assign(new Album(), { id, a: 'x'.repeat(90_000) }))
        for (const letter of ['y', 'z']) {
          album.a = letter.repeat(90_000)
          await session.save(album)
        }
        await bed()
          .db.session()
          .upsert(Object.assign(new Album(), { id, a: 'w'.repeat(90_000) }))
      })
      expect(warnings).to.deep.equal([])
    })

    it('tell of it also when each write is small, and ask for no size where only little is written', async () => {
      const { id } = await bed()
        .db.session()
        .save(Object.assign(new Album(), { id: bed().freshNumber(), a: 'x'.repeat(126 * 1024) }))
      const session = bed().db.session()
      const album = await session.load(Album, id)
      const warnings = await heardEvents<WarningEvent>('skein:warning', async () => {
        for (const side of ['b', 'c', 'd'] as const) {
          album[side] = 'x'.repeat(4000)
          await session.save(album)
        }
        for (let n = 0; n < 20; n++) {
          album.e = `${n}`.repeat(400)
          await session.save(album)
        }
      })
      expect(warnings).to.have.length(1)
    })

    it('tell of each command, without keys or values unless asked for', async () => {
      const person = Object.assign(new Person(), { id: 'secret key', name: 'secret name' })
      const silent = await heardEvents<CommandEvent>('skein:command', () => bed().db.session().upsert(person))
      expect(silent).to.have.length(1)
      expect(silent[0]).to.include({ class: 'Person', kind: 'write', set: 'person', code: 0, rows: 1 })
      expect(JSON.stringify(silent)).to.not.contain('secret')
      const open = await bed().open({ reveal: { keys: true, values: true } })
      const other = Object.assign(new Person(), { id: 'secret key', name: 'secret name' })
      const [loud] = await heardEvents<CommandEvent>('skein:command', () => open.session().upsert(other))
      expect(loud.key).to.equal('secret key')
      expect(loud.text).to.contain('person/"secret key"').and.to.contain('write name = "secret name"')
      expect(loud.text).to.not.contain('\n')
    })

    it('show values also where keys are hidden, and no values where only keys are shown', async () => {
      const text = async (reveal: { keys?: boolean; values?: boolean }): Promise<string> => {
        const open = await bed().open({ reveal })
        const person = Object.assign(new Person(), { id: 'secret key', name: 'secret name' })
        const [event] = await heardEvents<CommandEvent>('skein:command', () => open.session().upsert(person))
        return event.text
      }
      expect(await text({ values: true }))
        .to.contain('person/…')
        .and.to.contain('"secret name"')
      expect(await text({ keys: true }))
        .to.contain('"secret key"')
        .and.to.not.contain('secret name')
    })

    it('name the key of a record that has grown, in the warning and in its text, only where keys may be shown', async () => {
      const id = bed().freshNumber()
      const warning = async (reveal: { keys: boolean }): Promise<WarningEvent> => {
        const db = await bed().open({ reveal, limits: { warnRecordSize: 1000 } })
        const album = Object.assign(new Album(), { id, a: 'x'.repeat(20_000) })
        const [event] = await heardEvents<WarningEvent>('skein:warning', () => db.session().upsert(album))
        return event
      }
      const [loud, silent] = [await warning({ keys: true }), await warning({ keys: false })]
      expect(loud.key).to.equal(id)
      expect(loud.message).to.contain(`Album album/${id} has grown`)
      expect(silent).to.not.have.property('key')
      expect(silent.message).to.contain('Album has grown')
    })
  },
  { entities: [Person, Album] },
)

inEachMode('an AbortSignal', (bed) => {
  const reason = new Error('enough')

  it('that has fired stops a load and a flush before anything is sent', async () => {
    const session = bed().db.session()
    const signal = AbortSignal.abort(reason)
    const id = bed().fresh()
    expect(await rejection(() => session.load(Person, id, { signal }))).to.equal(reason)
    expect(await rejection(() => bed().db.read(Person, [id], { signal }))).to.equal(reason)
    session.create(Person, { id, name: 'Ada' })
    expect(await rejection(() => session.flush({ signal }))).to.equal(reason)
    expect(await bed().db.session().find(Person, id)).to.equal(null)
    await session.flush()
    expect(await bed().db.session().find(Person, id)).to.not.equal(null)
  })

  it('that fires while a load waits rejects it at once', async () => {
    const { id } = await bed()
      .db.session()
      .save(Object.assign(new Person(), { id: bed().fresh(), name: 'Ada' }))
    const session = bed().db.session()
    const controller = new AbortController()
    const load = rejection(() => session.load(Person, id, { signal: controller.signal }))
    const other = session.load(Person, id)
    controller.abort(reason)
    expect(await load).to.equal(reason)
    expect((await other).name).to.equal('Ada')
  })

  it('that fires during a flush leaves the rest unsent, and a second flush completes it', async () => {
    const db = await bed().open({ limits: { batchRows: 10, roundTrips: 1 } })
    const session = db.session()
    const ids = Array.from({ length: 60 }, () => bed().fresh())
    for (const id of ids) session.create(Person, { id, name: id })
    const controller = new AbortController()
    const flush = rejection(() => session.flush({ signal: controller.signal }))
    controller.abort(reason)
    await flush
    const sent = (await bed().db.session().findMany(Person, ids)).filter((one) => one !== null).length
    expect(sent).to.be.lessThan(ids.length)
    expect((await session.explain()).commands).to.have.length(ids.length - sent)
    await session.flush()
    expect(await bed().db.session().findMany(Person, ids)).to.not.include(null)
  })
})
