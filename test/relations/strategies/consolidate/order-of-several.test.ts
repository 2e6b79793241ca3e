import { expect } from 'chai'
import { Bin, Embeddable, Key, OneToMany, Record, Sharded, collection, type Database, type Session } from 'skein'
import { MODES } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'

@Embeddable()
class Score {
  @Key() player!: string
  @Bin() points!: number
  @Bin() note?: string
  @Bin({ type: 'double' }) weight?: number
}

@Record({ set: 'several_board' })
class Board {
  @Key() id!: number
  @OneToMany(() => Score, { strategy: 'consolidate', eager: false, orders: { best: ['points', 'note'] } })
  plain = collection<Score>()
  @OneToMany(() => Score, { strategy: 'consolidate', eager: false, sortKey: ['points'], orders: { best: ['points', 'note'], heavy: ['weight', 'note', 'points'] } }) // prettier-ignore
  sorted = collection<Score>()
  @Sharded({ by: 'hash', shards: 2 })
  @OneToMany(() => Score, { strategy: 'consolidate', eager: false, orders: { best: ['points', 'note'] } })
  sharded = collection<Score>()
}

const NAMES = ['plain', 'sorted', 'sharded'] as const
type Name = (typeof NAMES)[number]
type Fields = Partial<Score>
/** Changes of two sessions that know the child as it was first. */
type Race = readonly [title: string, first: Fields, changes: readonly [Fields, Fields], known?: 'points']

const RACES: readonly Race[] = [
  ['each another value', { points: 1, note: 'x' }, [{ points: 2 }, { note: 'y' }]],
  ['one a value, one takes the other away', { points: 1, note: 'x' }, [{ points: 2 }, { note: undefined }]],
  ['one a value that was missing', { points: 1 }, [{ note: 'n' }, { points: 3 }]],
  ['the same value', { points: 1, note: 'x', weight: 1.5 }, [{ points: 2 }, { points: 3 }]],
  [
    'each two values',
    { points: 1, note: 'x', weight: 1.5 },
    [
      { points: 2, weight: 2 },
      { note: 'y', weight: 0.5 },
    ],
  ],
]

const score = (fields: Fields): Score => Object.assign(new Score(), { player: 'b', points: 0 }, fields)

for (const mode of MODES) {
  describe(`orders of several values (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Board], (opened) => ({ db } = opened))

    const open = async (name: Name): Promise<{ session: Session; child: Score }> => {
      const session = db.session()
      const child = await session.at(Board, 1).collection(name).get('b')
      return { session, child: child! }
    }
    const expectRight = async (name: Name): Promise<void> => {
      for await (const finding of db.verify(Board, { settle: 0 })) expect.fail(`${name}: ${finding.message}`)
    }

    for (const [title, first, changes] of RACES)
      for (const [one, other] of [
        [0, 1],
        [1, 0],
      ] as const)
        // prettier-ignore
        it(`say what the child says when two sessions change ${title}, the ${one === 0 ? 'first' : 'second'} one first`, async () => {
          for (const name of NAMES) {
            await db.truncate(Board)
            const board = Object.assign(new Board(), { id: 1 })
            board[name].add(score(first), Object.assign(score({ points: 5, note: 'c' }), { player: 'c' }))
            await db.session().save(board)
            const opened = [await open(name), await open(name)]
            opened.forEach(({ child }, i) => Object.assign(child, changes[i]))
            await opened[one].session.flush()
            const hasMoved = name === 'sorted' && changes[one].points !== undefined
            const failed = await opened[other].session.flush().then(() => false, () => true) // prettier-ignore
            expect(failed, `${name}: a child that moved is a conflict, all else is not`).to.equal(hasMoved)
            await expectRight(name)
            const stored = (await db.session().at(Board, 1).collection(name).get('b'))!
            const wanted = hasMoved ? { ...first, ...changes[one] } : { ...first, ...changes[one], ...changes[other] }
            expect({ ...stored }).to.deep.include(Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined))) // prettier-ignore
            const listed = await db.session().at(Board, 1).collection(name).by('best').first(9)
            expect(listed.map(({ player }) => player)).to.have.length(stored.note === undefined ? 1 : 2)
          }
        })

    it('are right after many children changed at once', async () => {
      const players = Array.from({ length: 450 }, (_, i) => `p${i}`)
      const board = Object.assign(new Board(), { id: 1 })
      for (const player of players) board.plain.add(Object.assign(score({ points: 1, note: 'x' }), { player }))
      await db.session().save(board)
      const sessions = [db.session(), db.session()]
      const boards = await Promise.all(sessions.map((session) => session.load(Board, 1, { with: ['plain'] })))
      for (const each of boards[0].plain.items) each.points = 2
      for (const each of boards[1].plain.items) each.note = 'y'
      for (const session of sessions) await session.flush()
      await expectRight('plain')
      expect(await db.session().at(Board, 1).collection('plain').by('best').range({ from: [2, 'y'] })).to.have.length(450) // prettier-ignore
    })
  })
}
