import { expect } from 'chai'
import {
  Bin,
  CountOf,
  Counter,
  Embeddable,
  Key,
  ManyToMany,
  OneToMany,
  Record,
  Sharded,
  collection,
  type Database,
  type Session,
} from 'skein'
import { ALL_FAULTS } from '../../faults/faults.js'
import { MODES, need, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { forAll, untilDone } from './during-splits.js'

@Record({ set: 'cb_item' })
class Item {
  @Key() id!: string
}

@Embeddable()
class Note {
  @Key() id!: string
  @Bin() text?: string
}

@Embeddable()
class Tag {
  @Bin() color!: string
}

/** Counts keys, links and children that only its own records know of, each in its record and in shards. */
@Record({ set: 'cb_owner' })
class Owner {
  @Key() id!: string
  @Counter() edits = 0
  @Sharded({ by: 'hash', shards: 4, when: {}, subkeys: 'itemsIn' }) @OneToMany(() => Item) items = collection<Item>()
  @CountOf('items') itemCount = 0
  @Sharded({ by: 'hash', shards: 2 }) @CountOf('items') itemShards = 0
  @Sharded({ by: 'hash', shards: 4, when: {}, subkeys: 'linksIn' })
  @ManyToMany(() => Item, { attributes: () => Tag })
  links = collection<Item, Tag>()
  @CountOf('links') linkCount = 0
  @Sharded({ by: 'hash', shards: 2 }) @CountOf('links') linkShards = 0
  @Sharded({ by: 'hash', shards: 4, when: {}, subkeys: 'notesIn' })
  @OneToMany(() => Note, { strategy: 'consolidate' })
  notes = collection<Note>()
  @CountOf('notes') noteCount = 0
  @Sharded({ by: 'hash', shards: 2 }) @CountOf('notes') noteShards = 0
}

const CLASSES = [Owner, Item]
const NAMES = ['items', 'links', 'notes'] as const
type Name = (typeof NAMES)[number]
const COUNTS = {
  items: ['itemCount', 'itemShards'],
  links: ['linkCount', 'linkShards'],
  notes: ['noteCount', 'noteShards'],
} as const
/** From one command on nothing is done any more, or the answer to one command is lost. */
const FAULTS = { refused: { answer: 4, times: Infinity }, lost: { drop: true, after: true } }
const FIRST = Array.from({ length: 8 }, (_, i) => `m${i}`)

function put(session: Session, owner: string, name: Name, ...ids: string[]): void {
  const at = session.at(Owner, owner)
  for (const id of ids) {
    if (name === 'items') at.collection('items').add(id)
    else if (name === 'links') at.collection('links').link(id, { color: 'red' })
    else at.collection('notes').add(Object.assign(new Note(), { id }))
  }
}

for (const mode of MODES) {
  describe(`counts beside splits (${mode})`, function () {
    this.timeout(120_000)
    let db: Database
    let server: TestServer
    let namespace: string
    /** Knows of an owner only what a test lets it learn, and gives up soon. */
    let writer: Database
    let inSteps: Database
    useDatabase(mode, CLASSES, (opened) => ({ db, server, namespace } = opened))
    before(async () => {
      const options = { namespace, entities: CLASSES, maxErrorRate: 100_000, errorRateWindow: 1000 }
      writer = await server.open({ ...options, retry: { attempts: 2, deadline: 40, backoff: 1 } })
      inSteps = await server.open({ ...options, transactions: 'off', retry: { attempts: 1 } })
    })
    after(() => Promise.all([writer?.close(), inSteps?.close()]))

    beforeEach(() =>
      db.withSession((session) => {
        for (const id of [...FIRST, 'new']) session.create(Item, { id })
      }),
    )

    const at = (of: Database, owner: string, name: Name) => of.session().at(Owner, owner).collection(name)
    const split = (of: Database, owner: string, name: Name, shards: number): Promise<void> =>
      shards === 0 ? at(of, owner, name).merge() : at(of, owner, name).shard(shards)
    const store = (owner: string, name: Name): Promise<unknown> =>
      db.withSession((session) => {
        session.create(Owner, { id: owner })
        put(session, owner, name, ...FIRST)
      })
    /** The counts of a collection, and how many members it has. */
    const counted = async (owner: string, name: Name): Promise<number[]> => {
      const loaded = await db.session().load(Owner, owner)
      const members = await at(db, owner, name).keys()
      return [...COUNTS[name].map((count) => loaded[count]), members.length]
    }
    const repair = async (): Promise<void> => {
      for await (const found of db.verify(CLASSES, { repair: true, settle: 0 })) void found
    }

    /** What others have done since the writer has learnt where members are. */
    const MEANWHILE: {
      readonly [title: string]: (owner: string, name: Name, learn: () => Promise<unknown>) => Promise<unknown>
    } = {
      'was split': (owner, name) => split(db, owner, name, 3),
      'was split into more': async (owner, name, learn) => {
        await split(db, owner, name, 2)
        await learn()
        await split(db, owner, name, 5)
      },
      'was merged': async (owner, name, learn) => {
        await split(db, owner, name, 3)
        await learn()
        await split(db, owner, name, 0)
      },
      'is being split': leaveInTheMiddle,
    }

    /** Splits a collection as far as members move. */
    async function leaveInTheMiddle(owner: string, name: Name): Promise<void> {
      const { faults } = server.embedded!
      // The third write of the owner takes out what was copied.
      await faults.add({ namespace, set: 'cb_owner', kind: 'write', skip: 2, answer: 4, times: Infinity })
      await split(inSteps, owner, name, 3).catch(() => undefined)
      await faults.clear()
    }

    /** Changes a collection, and another part of its owner; false where that fails. */
    const change = async (owner: string, name: Name): Promise<boolean> => {
      const session = writer.session()
      session.at(Owner, owner).counter('edits').add(1)
      put(session, owner, name, 'm0', 'new')
      session.at(Owner, owner).collection(name).remove('m3')
      return session.flush().then(
        () => true,
        () => false,
      )
    }

    const expectCounted = async (owner: string, name: Name, isDone: boolean): Promise<void> => {
      const [count, shards, members] = await counted(owner, name)
      expect([count, shards], `${owner}: ${members} members`).to.deep.equal([members, members])
      if (!isDone) return
      expect((await db.session().load(Owner, owner)).edits, owner).to.equal(1)
      const expected = [...FIRST, 'new'].filter((id) => id !== 'm3').sort()
      expect([...(await at(db, owner, name).keys())].sort(), owner).to.deep.equal(expected)
    }

    for (const name of NAMES)
      for (const [title, meanwhile] of Object.entries(MEANWHILE))
        it(`are right, of ${name}, where a process that does not know that the collection ${title} fails at any command`, async function () {
          const { faults, clock } = need(this, server.embedded, 'only the embedded server has faults')
          const step = title === 'is being split' && !ALL_FAULTS ? 4 : 1
          const changed: [owner: string, isDone: boolean][] = []
          for (const [kind, fault] of Object.entries(FAULTS)) {
            let hits = 1
            for (let skip = 0; hits > 0; skip += step) {
              const owner = `${kind} ${skip}`
              await store(owner, name)
              await meanwhile(owner, name, () => at(writer, owner, name).count())
              const met = await faults.add({ namespace, skip, ...fault })
              changed.push([owner, await change(owner, name)])
              hits = await met.hits()
              await faults.clear()
              if (mode === 'sc') await clock.advance(60)
            }
          }
          if (mode === 'ap') await repair()
          for (const [owner, isDone] of changed) await expectCounted(owner, name, isDone)
        })

    for (const name of NAMES)
      it(`are right, of ${name}, after others that know nothing of it have changed it while it was split, split again and merged`, async () => {
        await store('o', name)
        const options = { namespace, entities: CLASSES, retry: { attempts: Infinity, deadline: 30_000 } }
        const writers = await Promise.all([server.open(options), server.open(options)])
        try {
          let isOver = false
          // Each change is a transaction with the owner there.
          const changes = forAll(mode === 'ap' ? 30 : 10, async (i) => {
            for (let step = 0; step < 4; step++)
              await untilDone(() =>
                writers[i % 2].withSession((session) => {
                  if (step % 2 === 0 || i % 3 === 0) put(session, 'o', name, `x${i}`, FIRST[i % 8])
                  else
                    session
                      .at(Owner, 'o')
                      .collection(name)
                      .remove(`x${i}`, FIRST[(i + 1) % 8])
                }),
              )
          }).finally(() => (isOver = true))
          const splits = (async () => {
            for (let i = 0; !isOver; i++) await split(db, 'o', name, [3, 7, 0, 2, 0][i % 5])
          })()
          await Promise.all([changes, splits])
          const [count, shards, members] = await counted('o', name)
          expect([count, shards]).to.deep.equal([members, members])
        } finally {
          await Promise.all(writers.map((each) => each.close()))
        }
      })
  })
}
