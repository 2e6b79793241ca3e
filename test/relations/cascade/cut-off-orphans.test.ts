import { expect } from 'chai'
import { Key, OneToMany, Record, Sharded, collection, type Database } from 'skein'
import type { TestServer } from '../../server.js'
import { addFault } from '../../until-hit.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'cut-board' })
class Board {
  @Key() id!: number
  @OneToMany(() => Pin, { orphans: 'delete' }) pins = collection<Pin>()
  @Sharded({ by: 'hash', shards: 2 }) @OneToMany(() => Pin, { orphans: 'delete' }) spare = collection<Pin>()
  @Sharded({ by: 'hash', shards: 2, when: { members: 100 }, subkeys: 'split' })
  @OneToMany(() => Pin, { orphans: 'delete' })
  grown = collection<Pin>()
}

@Record({ set: 'cut-pin' })
class Pin {
  @Key() id!: number
}

const SETS = { pins: 'cut-board', spare: 'cut-board_spare', grown: 'cut-board' } as const

// A list with one side is all that leads to its members, so an orphan has to be on it until it is gone.
describe('an orphan of a list with one side whose delete is cut off (ap)', () => {
  let db: Database
  let server: TestServer
  useDatabase('ap', [Board, Pin], (opened) => ({ db, server } = opened))
  afterEach(() => server.embedded?.faults.clear())

  const findings = async (repair = false): Promise<string[]> => {
    const found: string[] = []
    for await (const { kind } of db.verify([Board, Pin], { settle: 0, repair })) found.push(kind)
    return found
  }

  for (const relation of ['pins', 'spare', 'grown'] as const) {
    const listed = (): Promise<readonly unknown[]> => db.session().at(Board, 1).collection(relation).keys()
    const store = (): Promise<void> =>
      db.withSession((session) => {
        const board = session.create(Board, { id: 1 })
        for (const id of [1, 2]) board[relation].add(session.create(Pin, { id }))
      })

    for (const [place, set, kind] of [
      ['its delete', 'cut-pin', 'delete'],
      ['the change of the list', SETS[relation], 'write'],
    ] as const) {
      it(`is still listed, or is gone, in ${relation}, where ${place} fails`, async function () {
        await store()
        const session = db.session()
        const board = await session.load(Board, 1)
        board[relation].remove(await session.load(Pin, 1))
        await addFault(this, server, { kind, set, answer: 22, times: 5 })
        const failed = await session.flush().catch((error: unknown) => error)
        expect(failed).to.be.instanceOf(Error)
        await server.embedded!.faults.clear()
        const isThere = (await db.session().find(Pin, 1)) !== null
        if (isThere) expect(await listed()).to.deep.equal([1, 2])
        expect(isThere).to.equal(kind === 'delete')
        const found = await findings(true)
        expect(found).to.deep.equal(isThere ? [] : ['danglingKey'])
        expect(await findings()).to.deep.equal([])
        expect(await listed()).to.deep.equal(isThere ? [1, 2] : [2])
      })

      it(`is gone with its place after the next flush, in ${relation}, where ${place} has failed`, async function () {
        await store()
        const session = db.session()
        const board = await session.load(Board, 1)
        board[relation].remove(await session.load(Pin, 1))
        await addFault(this, server, { kind, set, answer: 22, times: 5 })
        await session.flush().catch(() => undefined)
        await server.embedded!.faults.clear()
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect(await db.session().find(Pin, 1)).to.equal(null)
        expect(await listed()).to.deep.equal([2])
        expect(await findings()).to.deep.equal([])
      })
    }
  }
})
