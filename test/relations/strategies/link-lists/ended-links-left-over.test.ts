import { expect } from 'chai'
import Aerospike from 'aerospike'
import type { Database } from 'skein'
import { MODES, type TestServer } from '../../../server.js'
import { addFault, untilHit } from '../../../until-hit.js'
import { useDatabase } from '../../../use-database.js'
import { Doctor, MONDAY, Patient, TUESDAY, VISITS, Ward } from './dated-visit-models.js'

const SETS = ['edv_patient_doctors', 'edv_doctor_patients', 'edv_patient_wards']

type Stored = Aerospike.AerospikeRecord

for (const mode of MODES) {
  describe(`entries of ended links by date that a process has left when it died (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, VISITS, (opened) => ({ db, server, namespace } = opened))
    beforeEach(() =>
      db.withSession((session) => {
        const patient = session.create(Patient, { id: 'p' })
        patient.doctors.link(session.create(Doctor, { id: 'd' }), { day: TUESDAY, why: 'first' })
        patient.wards.link(session.create(Ward, { id: 'w' }), { day: TUESDAY, why: 'first' })
      }),
    )

    const doctors = () => db.session().at(Patient, 'p').collection('doctors')
    const patients = () => db.session().at(Doctor, 'd').collection('patients')
    const wards = () => db.session().at(Patient, 'p').collection('wards')
    const change = (work: (patient: Patient) => unknown) =>
      db.withSession(async (session) => void (await work(await session.load(Patient, 'p'))))

    const isEndedBin = (name: string): boolean => name.startsWith('_sk.end.')

    async function stored(set: string): Promise<Stored[]> {
      return await db.client.query(namespace, set).results()
    }

    /** Sets of records that keep an entry of an ended link. */
    async function entries(): Promise<string[]> {
      const found: string[] = []
      for (const set of SETS)
        for (const { bins } of await stored(set))
          for (const [name, map] of Object.entries(bins))
            if (isEndedBin(name) && Object.keys(map as object).length > 0) found.push(set)
      return found
    }

    /** Ends the links and makes them again on another day, and leaves what was stored of ended ones. */
    async function leave(sets: readonly string[], day: Date): Promise<void> {
      await change(({ doctors, wards }) => {
        doctors.unlink('d')
        wards.unlink('w')
      })
      const before = (await Promise.all(sets.map(stored))).flat()
      await change(({ doctors, wards }) => {
        doctors.link('d', { day, why: 'second' })
        wards.link('w', { day, why: 'second' })
      })
      for (const { key, bins } of before)
        for (const name of Object.keys(bins).filter(isEndedBin))
          await db.client.operate(key, [Aerospike.operations.write(name, bins[name] as never)])
      expect(await entries()).to.deep.equal(sets)
    }

    async function findings(repair: boolean): Promise<string[]> {
      const found: string[] = []
      for await (const { kind, className, state } of db.verify(VISITS, { settle: 0, repair }))
        found.push(`${kind} ${className} ${state}`)
      return found
    }

    it('are shown by no question, and are not restored in the place of the link', async () => {
      await leave(SETS, MONDAY)
      for (const [links, key] of [
        [doctors(), 'd'],
        [patients(), 'p'],
        [wards(), 'w'],
      ] as const) {
        expect(await links.attributesOf(key, { deleted: 'only' })).to.equal(null)
        expect(await links.contains(key, { deleted: 'only' })).to.equal(false)
        expect(await links.keys({ deleted: 'only' })).to.deep.equal([])
        expect(await links.restore(key)).to.equal(false)
        expect((await links.attributesOf(key))!.why).to.equal('second')
      }
      const walk = db.session().walk(Patient, 'p', { deleted: 'include' })
      expect(await walk.out('doctors', { where: { why: 'first' } }).keys()).to.deep.equal([])
    })

    it('do not count once the link is ended again, also on an earlier day', async () => {
      await leave(SETS, MONDAY)
      await change(({ doctors, wards }) => {
        doctors.unlink('d')
        wards.unlink('w')
      })
      for (const [links, key] of [
        [doctors(), 'd'],
        [patients(), 'p'],
        [wards(), 'w'],
      ] as const) {
        expect((await links.attributesOf(key, { deleted: 'only' }))!.why).to.equal('second')
        expect(await links.keys({ deleted: 'only' })).to.deep.equal([key])
      }
      expect(await findings(false)).to.deep.equal([])
    })

    for (const [where, sets] of [
      ['at all ends', SETS],
      ['at the owner', SETS.slice(0, 1)],
      ['at the other end', SETS.slice(1, 2)],
    ] as const)
      it(`are removed by verify ${where}, and copied nowhere`, async () => {
        await leave(sets, MONDAY)
        expect((await findings(false)).every((each) => each.startsWith('endedAgain'))).to.equal(true)
        const repaired = await findings(true)
        expect(repaired).to.have.length(sets.length)
        expect(repaired.every((each) => /^endedAgain \w+ repaired$/.test(each))).to.equal(true)
        expect(await entries()).to.deep.equal([])
        expect(await findings(false)).to.deep.equal([])
        for (const links of [doctors(), patients(), wards()]) expect(await links.count()).to.equal(1)
      })

    it('are none where one session ends a link while another makes it again on another day', async function () {
      for (const [links, set] of [
        ['wards', 'edv_patient_wards'],
        ['doctors', 'edv_patient_doctors'],
      ] as const) {
        const member = links === 'wards' ? 'w' : 'd'
        const met = await addFault(this, server, { kind: 'write', namespace, set, delay: 100 })
        const ending = change((patient) => patient[links].unlink(member))
        await untilHit(met, ending)
        await change((patient) => patient[links].link(member, { day: MONDAY, why: 'second' }))
        await ending
        await server.embedded!.faults.clear()
        const isThere = (await db.session().at(Patient, 'p').collection(links).count()) > 0
        expect((await entries()).length > 0, links).to.equal(!isThere)
      }
      expect(await findings(false)).to.deep.equal([])
    })
  })
}
