import { expect } from 'chai'
import type { Database, Session } from 'skein'
import {
  Doctor,
  MONDAY,
  Patient,
  TUESDAY,
  VISITS,
  Ward,
  WEDNESDAY,
} from '../relations/strategies/link-lists/dated-visit-models.js'
import { FaultyServer } from './at-each-command.js'
import type { Works } from './completed-after-faults.js'

const doctorsOf = (session: Session) => session.at(Patient, 'p').collection('doctors')

const CHANGES: Works = {
  'making an ended link again on a later day': (session) =>
    doctorsOf(session).link('ended', { day: WEDNESDAY, why: 'again' }),
  'making an ended link again that only one end stores': (session) =>
    session.at(Patient, 'p').collection('wards').link('w', { day: WEDNESDAY, why: 'again' }),
  'ending a link that was made on several days': (session) =>
    session.at(Doctor, 'often').collection('patients').unlink('p'),
}

async function prepare(db: Database): Promise<void> {
  await db.withSession((session) => {
    const patient = session.create(Patient, { id: 'p' })
    for (const id of ['often', 'ended']) {
      const doctor = session.create(Doctor, { id })
      patient.doctors.link(doctor, { day: id === 'ended' ? TUESDAY : MONDAY, why: id })
    }
    patient.wards.link(session.create(Ward, { id: 'w' }), { day: TUESDAY, why: 'w' })
  })
  await db.withSession((session) => doctorsOf(session).link('often', { day: TUESDAY, why: 'oftener' }))
  await db.withSession((session) => {
    doctorsOf(session).unlink('ended')
    session.at(Patient, 'p').collection('wards').unlink('w')
  })
}

/** All links as people see them from both ends; times of ends differ from run to run. */
async function seen(db: Database): Promise<string[]> {
  const session = db.session()
  const lines: string[] = []
  const { doctors, wards } = await session.load(Patient, 'p')
  const all = [...(await session.loadMany(Doctor, ['often', 'ended']))]
  const ends = [
    ...all.flatMap(({ id, patients }) => [
      { name: `p ${id}`, links: doctors, key: id },
      { name: `${id} p`, links: patients, key: 'p' },
    ]),
    { name: 'p w', links: wards, key: 'w' },
  ]
  for (const { name, links, key } of ends) {
    const [now, ended] = [await links.contains(key), await links.contains(key, { deleted: 'only' })]
    const visit = await links.attributesOf(key, { deleted: 'include' })
    const listed = (await links.keys({ deleted: 'only' })).includes(key)
    const before = await links.attributesOf(key, { deleted: 'only' })
    lines.push([name, now, ended, visit?.why, visit?.calledOffAt instanceof Date, listed, before?.why].join(' '))
  }
  await session.close()
  return lines.sort()
}

describe('a fault at every command of links by date that stay when they are ended', function () {
  this.timeout(120_000)
  const server = FaultyServer.use('ap', VISITS)
  for (const [title, change] of Object.entries(CHANGES))
    it(`${title} is done, or is not, at both ends once they are verified, and can be repeated`, async () => {
      const work = (db: Database): Promise<void> => db.withSession(async (session) => void (await change(session)))
      let [before, after]: string[][] = []
      await server.disturb({
        prepare: async (db) => {
          await prepare(db)
          before ??= await seen(db)
        },
        work,
        isLearning: true,
        check: async (db, _error, where) => {
          for await (const { state, message } of db.verify(VISITS, { settle: 0, repair: true }))
            expect(state, `${where}: ${message}`).to.equal('repaired')
          for await (const { message } of db.verify(VISITS, { settle: 0 })) expect.fail(`${where}: ${message}`)
          const found = await seen(db)
          await work(db)
          const repeated = await seen(db)
          after ??= repeated
          expect(repeated, where).to.deep.equal(after)
          expect([before, after].map(String), where).to.include(String(found))
        },
      })
    })
})
