import { expect } from 'chai'
import { open, type Database, type Session } from 'skein'
import { startEmbedded, type EmbeddedServer } from 'skein/embedded'
import { isNamedServer, MODES, patient } from '../../server.js'
import { Club, DATED_CLASSES, DAY, Member } from './dated-models.js'

const START = Date.parse('2024-05-01T00:00:00Z')
const MEMBERS = [0, 1, 2, 3]

/** Changes of links in several buckets, each as a user would make it. */
const CHANGES: { readonly [name: string]: (session: Session, id: string) => Promise<void> } = {
  'a link in a new bucket, and one less': async (session, id) => {
    const { members } = await session.load(Club, id)
    members.link(9, { at: new Date(START + 20 * DAY) })
    members.remove(2)
    await session.flush()
  },
  'a new owner with links': async (session, id) => {
    const { members } = session.create(Club, { id: `${id}-new` })
    for (const key of MEMBERS) members.link(key, { at: new Date(START + key * 9 * DAY) })
    await session.flush()
  },
  'a delete of an owner': async (session, id) => void (await session.delete(Club, id)),
}

// Where there are transactions, all of it is one.
for (const mode of MODES.filter((each) => each === 'ap')) {
  const title = `links by date whose flush is cut off (${mode})`
  describe(isNamedServer ? `${title} (skipped: only the embedded server has faults)` : title, function () {
    this.timeout(120_000)
    let server: EmbeddedServer
    let db: Database
    let hasty: Database
    let turn = 0
    before(async function () {
      if (isNamedServer) this.skip()
      server = await startEmbedded({ namespaces: [`${mode}:${mode}`] })
      const openOne = (attempts: number): Promise<Database> =>
        open({ hosts: server.hosts, ...patient({ namespace: mode, entities: DATED_CLASSES, retry: { attempts } }) })
      ;[db, hasty] = await Promise.all([openOne(5), openOne(1)])
      await db.indexes.sync()
      await db.withSession((session) => {
        for (const id of [...MEMBERS, 9]) session.create(Member, { id })
      })
    })
    after(async () => {
      for (const each of [db, hasty]) await each?.close()
      await server?.stop()
    })

    const prepare = async (): Promise<string> => {
      const id = `c${turn++}`
      await db.withSession((session) => {
        const { members } = session.create(Club, { id })
        for (const key of MEMBERS) members.link(key, { at: new Date(START + key * DAY) })
      })
      return id
    }
    const verify = async (): Promise<string[]> => {
      const found: string[] = []
      for await (const { kind, property, state } of db.verify([Club, Member], { repair: true, settle: 0 }))
        found.push(`${kind} ${property} ${state}`)
      return found
    }
    /** Keys of members by club, as the members say and as the clubs say. */
    const sides = async (): Promise<[string[], string[]]> => {
      const session = db.session()
      const said: [string[], string[]] = [[], []]
      for (const key of [...MEMBERS, 9])
        for (const club of await session.at(Member, key).collection('clubs').keys()) said[0].push(`${club} ${key}`)
      for await (const { id } of db.query(Club).scan())
        for (const key of await session.at(Club, id).collection('members').keys()) said[1].push(`${id} ${key}`)
      return [said[0].sort(), said[1].sort()]
    }

    for (const [name, change] of Object.entries(CHANGES))
      it(`agree on both sides after a repair, at whichever command: ${name}`, async () => {
        const counter = await server.faults.add({ namespace: mode, delay: 0, times: Infinity })
        await change(db.session(), await prepare())
        const count = await counter.hits()
        await server.faults.clear()
        expect(count).to.be.within(4, 120)
        // Some of the commands; asked for, each.
        const step = process.env.SKEIN_FAULTS === 'all' ? 1 : Math.ceil(count / 4)
        for (let skip = 1; skip < count; skip += step) {
          const id = await prepare()
          await server.faults.add({ namespace: mode, skip, drop: true, after: skip % 2 === 0, times: 1_000_000 })
          await change(hasty.session(), id).catch(() => undefined)
          await server.faults.clear()
          await verify()
          expect(await verify(), `command ${skip}`).to.deep.equal([])
          const [members, clubs] = await sides()
          expect(members, `command ${skip}`).to.deep.equal(clubs)
        }
      })
  })
}
