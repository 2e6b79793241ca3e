import { expect } from 'chai'
import Aerospike from 'aerospike'
import { Bin, collection, DeletedAt, Embeddable, Key, ManyToMany, Record, Sharded, type Database } from 'skein'
import { MODES } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'

@Embeddable()
class Visit {
  @Bin() day!: Date
  @Bin() why!: string
  @DeletedAt() calledOffAt?: Date
}

@Record({ set: 'ebd_patient' })
class Patient {
  @Key() id!: number
  @Sharded({ by: 'day', on: 'day' })
  @ManyToMany(() => Doctor, 'patients', { owner: true, attributes: () => Visit })
  doctors = collection<Doctor, Visit>()
}

@Record({ set: 'ebd_doctor' })
class Doctor {
  @Key() id!: string
  @ManyToMany(() => Patient, 'doctors', { attributes: () => Visit }) patients = collection<Patient, Visit>()
}

const CLASSES = [Patient, Doctor]
const [MONDAY, TUESDAY] = [new Date('2026-11-16T09:00:00Z'), new Date('2026-11-17T09:00:00Z')]

for (const mode of MODES) {
  describe(`links by date whose attributes have a @DeletedAt (${mode})`, () => {
    let db: Database
    let namespace: string
    useDatabase(mode, CLASSES, (opened) => ({ db, namespace } = opened))
    beforeEach(() =>
      db.withSession((session) => {
        const patient = session.create(Patient, { id: 1 })
        const doctor = session.create(Doctor, { id: 'd' })
        patient.doctors.link(doctor, { day: MONDAY, why: 'first' })
      }),
    )
    afterEach(async () => {
      for await (const { message } of db.verify(CLASSES, { settle: 0 })) expect.fail(message)
    })

    const doctors = () => db.session().at(Patient, 1).collection('doctors')
    const change = (work: (links: ReturnType<typeof doctors>) => unknown) =>
      db.withSession(async (session) => void (await work(session.at(Patient, 1).collection('doctors'))))

    /** Days of the buckets that keep the link as it is, and as an ended one. */
    async function days(): Promise<{ linked: string[]; ended: string[] }> {
      const records = await db.client.query(namespace, 'ebd_patient_doctors').results()
      const having = (isBin: (name: string) => boolean): string[] =>
        records
          .filter(({ bins }) => Object.entries(bins).some(([name, map]) => isBin(name) && 'd' in (map as object)))
          .map(({ bins }) => bins['_sk.shard'] as string)
          .sort()
      return { linked: having((name) => name === 'doctors'), ended: having((name) => name.startsWith('_sk.end.')) }
    }

    it('stay in the bucket of their date, and are forgotten there when they are made again on another day', async () => {
      await change((links) => links.unlink('d'))
      expect(await days()).to.deep.equal({ linked: [], ended: ['2026-11-16'] })
      expect(await doctors().keys({ deleted: 'only' })).to.deep.equal(['d'])
      expect((await doctors().attributesOf('d', { deleted: 'only' }))!.why).to.equal('first')
      const window = await doctors().window({ from: MONDAY, to: new Date('2026-11-18') })
      expect(window).to.deep.equal([])

      await change((links) => links.link('d', { day: TUESDAY, why: 'second' }))
      expect(await days()).to.deep.equal({ linked: ['2026-11-17'], ended: [] })
      expect(await doctors().keys({ deleted: 'only' })).to.deep.equal([])

      await change((links) => links.unlink('d'))
      const post = await db.session().at(Doctor, 'd').collection('patients').attributesOf(1, { deleted: 'only' })
      expect([post!.why, post!.day]).to.deep.equal(['second', TUESDAY])
      expect(await days()).to.deep.equal({ linked: [], ended: ['2026-11-17'] })
    })

    it('are restored in the bucket of their date', async () => {
      await change((links) => links.unlink('d'))
      await db.withSession(async (session) => {
        const { doctors } = await session.load(Patient, 1)
        expect(await doctors.restore('d')).to.equal(true)
      })
      expect(await days()).to.deep.equal({ linked: ['2026-11-16'], ended: [] })
      expect((await doctors().attributesOf('d'))!.why).to.equal('first')
    })

    it('are ended once, as the newest, where they were made on several days', async () => {
      await change((links) => links.link('d', { day: TUESDAY, why: 'second' }))
      expect((await days()).linked).to.deep.equal(['2026-11-16', '2026-11-17'])
      await change((links) => links.unlink('d'))
      expect(await days()).to.deep.equal({ linked: [], ended: ['2026-11-17'] })
      expect(await db.purge(Patient, { olderThan: new Date(Date.now() + 1000), links: 'doctors' })).to.equal(1)
      expect(await days()).to.deep.equal({ linked: [], ended: [] })
    })

    it('go with a member that is deleted for good', async () => {
      await change((links) => links.unlink('d'))
      await db.session().delete(Doctor, 'd')
      expect(await days()).to.deep.equal({ linked: [], ended: [] })
    })

    it('are not shown as ended where a process died before the ended one was forgotten', async () => {
      await change((links) => links.unlink('d'))
      const [monday] = await db.client.query(namespace, 'ebd_patient_doctors').results()
      const [name] = Object.keys(monday.bins).filter((bin) => bin.startsWith('_sk.end.'))
      await change((links) => links.link('d', { day: TUESDAY, why: 'second' }))
      await db.client.operate(monday.key, [Aerospike.operations.write(name, monday.bins[name])])
      expect(await days()).to.deep.equal({ linked: ['2026-11-17'], ended: ['2026-11-16'] })
      const seen = [
        await doctors().keys({ deleted: 'only' }),
        await doctors().contains('d', { deleted: 'only' }),
        (await doctors().attributesOf('d', { deleted: 'include' }))!.why,
      ]
      expect(seen).to.deep.equal([[], false, 'second'])
      await change((links) => links.unlink('d'))
      expect((await doctors().attributesOf('d', { deleted: 'only' }))!.why).to.equal('second')
    })
  })
}
