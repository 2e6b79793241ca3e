import { expect } from 'chai'
import type { Database, Session } from 'skein'
import { isNamedServer, MODES, type TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { setClock } from '../../set-clock.js'
import { useDatabase } from '../../use-database.js'
import { Club, DATED_CLASSES, DAY, Member, Star } from './dated-models.js'

const START = Date.parse('2024-05-01T00:00:00Z')
const dayOf = (day: number): Date => new Date(START + day * DAY)

/** Ways to end a link and to make it again on another day, in one flush. */
const WAYS: { readonly [name: string]: (session: Session, day: number) => Promise<void> } = {
  'of a loaded owner': async (session, day) => {
    const { members } = await session.load(Club, 'c')
    members.unlink(1)
    members.link(1, { at: dayOf(day) })
  },
  'of a loaded collection': async (session, day) => {
    const { members } = await session.load(Club, 'c', { with: ['members'] })
    const [member] = members.items
    members.remove(member)
    members.link(member, { at: dayOf(day) })
  },
  'of an owner that was not read': (session, day) => {
    const members = session.at(Club, 'c').collection('members')
    members.unlink(1)
    members.link(1, { at: dayOf(day) })
    return Promise.resolve()
  },
  'at the other end': async (session, day) => {
    const { clubs } = await session.load(Member, 1)
    clubs.unlink('c')
    clubs.link('c', { at: dayOf(day) })
  },
  'at one end and the other': async (session, day) => {
    const [club, member] = [await session.load(Club, 'c'), await session.load(Member, 1)]
    club.members.unlink(member)
    member.clubs.link(club, { at: dayOf(day) })
  },
}

for (const mode of MODES)
  describe(`dated links that one flush ends and makes again (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, DATED_CLASSES, (opened) => ({ db, server, namespace } = opened))

    const links = async (): Promise<unknown> => {
      const club = db.session().at(Club, 'c').collection('members')
      const member = db.session().at(Member, 1).collection('clubs')
      const at = (await club.attributesOf(1))?.at
      return [await club.count(), await member.count(), at && (at.getTime() - START) / DAY]
    }
    const findings = async (): Promise<string[]> => {
      const found: string[] = []
      for await (const { message } of db.verify(DATED_CLASSES, { settle: 0 })) found.push(message)
      return found
    }

    beforeEach(() =>
      db.withSession((session) => {
        session.create(Club, { id: 'c' }).members.link(session.create(Member, { id: 1 }), { at: dayOf(0) })
        session.create(Member, { id: 2 })
      }),
    )

    for (const [name, again] of Object.entries(WAYS))
      it(`are on the new day alone, ${name}`, async () => {
        for (const day of [20, 21, 21, 3]) {
          const session = db.session()
          await again(session, day)
          await session.flush()
          expect(session.isDirty()).to.equal(false)
          expect(await links()).to.deep.equal([1, 1, day])
        }
        expect(await findings()).to.deep.equal([])
      })

    it('are gone where they are ended once more', async () => {
      await db.withSession(async (session) => {
        const { members } = await session.load(Club, 'c')
        members.unlink(1)
        members.link(1, { at: dayOf(9) })
        members.unlink(1)
      })
      expect(await links()).to.deep.equal([0, 0, undefined])
    })

    it('count once, also those without a date of their own', async () => {
      const now = Date.now
      const setBack = setClock(() => now() - DAY)
      try {
        await db.withSession((session) => {
          session.create(Star, { id: 'ada' }).fans.add(session.create(Star, { id: 'bob' }))
        })
      } finally {
        setBack()
      }
      await db.withSession(async (session) => {
        const { fans } = await session.load(Star, 'ada')
        fans.remove('bob')
        fans.add('bob')
      })
      const { fans, fanCount } = await db.session().load(Star, 'ada')
      expect([await fans.count(), fanCount]).to.deep.equal([1, 1])
    })

    const cutOff = async (): Promise<void> => {
      const session = db.session()
      const { members } = await session.load(Club, 'c')
      members.unlink(1)
      members.link(1, { at: dayOf(9) })
      const { faults } = server.embedded!
      // The new bucket and its owner are written, and the one before is not.
      await faults.add({ kind: 'write', namespace, set: 'dclub_members', key: 'c:2024-05-01', answer: 4 })
      await rejection(() => session.flush())
      expect(session.isDirty()).to.equal(true)
      await faults.clear()
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      expect(await links()).to.deep.equal([1, 1, 9])
    }
    if (!isNamedServer) it('are on the new day alone after a flush that was cut off in between', cutOff)
  })
