import { expect } from 'chai'
import {
  Bin,
  collection,
  Counter,
  Embeddable,
  Embedded,
  Key,
  OneToMany,
  open,
  Record,
  type Database,
  type Session,
} from 'skein'
import { startEmbedded, type EmbeddedServer, type FaultOptions } from 'skein/embedded'
import { isNamedServer, MODES, PATIENT, type Mode } from '../server.js'

@Embeddable()
class Comment {
  @Key() id!: string
  @Bin({ type: 'string' }) text = 'old'
  @Counter() likes = 0
}

@Embeddable()
class Item {
  @Bin() id!: string
  @Bin({ type: 'boolean' }) read = false
  @Bin({ type: 'int' }) n = 0
}

abstract class Sheet {
  @Key() id!: number
  @Counter() views = 0
  @Bin({ type: { map: 'int' } }) votes = new Map<string, number>()
  @Bin({ type: { map: 'int', key: 'bytes' } }) hashes = new Map<Uint8Array, number>()
  @Bin({ type: { set: 'string' } }) tags = new Set<string>()
  @Bin({ type: { list: 'string' } }) log: string[] = []
  @Embedded(() => Item, { as: 'array' }) items: Item[] = []
  @OneToMany(() => Comment, { strategy: 'consolidate' }) comments = collection<Comment>()
}

@Record({ set: 'flt_handle' })
class Page extends Sheet {}

@Record({ set: 'flt_kind', discriminator: 'kind' })
abstract class Paper extends Sheet {}

@Record({ discriminatorValue: 'letter' })
class Letter extends Paper {}

@Record({ discriminatorValue: 'bill' })
class Bill extends Paper {}

type Kind = typeof Page | typeof Letter

const FAULTS: { readonly [title: string]: FaultOptions } = {
  'an error before': { answer: 4 },
  'a time-out before': { answer: 9 },
  'a time-out after the effect': { answer: 9, after: true },
  'the connection lost before': { drop: true },
  'the connection lost after the effect': { drop: true, after: true },
  'cut off from there on': { drop: true, times: 1_000_000 },
  'cut off right after the effect': { drop: true, after: true, times: 1_000_000 },
}

/** State that a change has left: what counts, and what is set; each is 0 or 1 for each change. */
interface Left {
  readonly counted: readonly number[]
  readonly set: readonly number[]
}

/** Changes of every kind, of one record that is there. */
function changeAll(session: Session, id: number, kind: Kind = Page): void {
  const page = session.at<Sheet>(kind, id)
  changeNew(session, id, kind)
  page.child('comments', 'c').increment('likes')
  page.child('comments', 'c').put('text', 'new')
  page.list('items').where({ id: 'i' }).increment('n')
  page.list('items').where({ id: 'i' }).set({ read: true })
}

/** Changes that a record can be created with. */
function changeNew(session: Session, id: number, kind: Kind, create?: boolean): void {
  const page = session.at<Sheet>(kind, id, { create })
  page.counter('views').add(1)
  page.map('votes').increment('up')
  page.list('log').append('x')
  page.map('votes').put('down', 1)
  page.set('tags').add('hot')
  page.map('hashes').increment(Buffer.of(0xff))
  page.map('hashes').put(Buffer.of(0xfe), 1)
}

class World {
  readonly #patient: Database
  readonly server: EmbeddedServer
  readonly hasty: Database
  readonly mode: Mode
  #last = 0

  private constructor(server: EmbeddedServer, mode: Mode, patient: Database, hasty: Database) {
    this.server = server
    this.mode = mode
    this.#patient = patient
    this.hasty = hasty
  }

  static async open(server: EmbeddedServer, mode: Mode): Promise<World> {
    const options = { hosts: server.hosts, namespace: mode, entities: [Page, Paper, Letter, Bill], ...PATIENT }
    const retry = { attempts: 2, deadline: 40, backoff: 1 }
    const hasty = await open({ ...options, retry })
    return new World(server, mode, await open(options), hasty)
  }

  nextId(): number {
    return ++this.#last
  }

  async stored(kind: Kind = Page): Promise<number> {
    const page = Object.assign(new kind(), { id: this.nextId(), items: [Object.assign(new Item(), { id: 'i' })] })
    page.comments.add(Object.assign(new Comment(), { id: 'c' }))
    await this.#patient.session().save(page)
    return page.id
  }

  async left(id: number, kind: Kind = Page, isNew = false): Promise<Left> {
    const page = await this.#patient.session().find<Sheet>(kind, id, { with: ['comments'] })
    if (page === null) return { counted: [0, 0, 0, 0], set: [0, 0, 0] }
    // A record that is created has only the bins that were sent.
    const {
      views,
      votes = new Map<string, number>(),
      hashes = new Map<Uint8Array, number>(),
      log = [],
      tags = new Set(),
      items,
      comments,
    } = page as Partial<Sheet>
    const hash = (byte: number): number => [...hashes].find(([key]) => key[0] === byte)?.[1] ?? 0
    const counted = [views ?? 0, votes.get('up') ?? 0, log.length, hash(0xff)]
    const set = [votes.get('down') ?? 0, tags.size, hash(0xfe)]
    if (isNew) return { counted, set }
    const [{ n, read }] = items!
    const [{ likes, text }] = comments!.items
    return { counted: [...counted, likes, n], set: [...set, Number(read), Number(text === 'new')] }
  }

  /** Runs the work with a fault in place; says how many commands met it, and what it failed with. */
  async disturb(fault: FaultOptions, work: () => Promise<unknown>): Promise<{ hits: number; error: unknown }> {
    const set = await this.server.faults.add({ ...fault, namespace: this.mode })
    const error = await work().then(
      () => undefined,
      (reason: unknown) => reason,
    )
    const hits = await set.hits()
    await this.server.faults.clear()
    // The server undoes an abandoned transaction when its time is over.
    if (this.mode === 'sc') await this.server.clock.advance(30)
    return { hits, error }
  }

  async close(): Promise<void> {
    await this.#patient.close()
    await this.hasty.close()
  }
}

/** All that one command does happens once or not at all. */
function shareOf({ counted, set }: Left, where: string): number {
  const [share] = counted
  expect(share, where).to.be.oneOf([0, 1])
  expect([...counted, ...set], where).to.deep.equal([...counted, ...set].map(() => share))
  return share
}

interface Begun {
  readonly ids: number[]
  readonly kind: Kind
  readonly isNew?: true
  readonly change: Change
}

const SHAPES: { readonly [title: string]: (world: World) => Promise<Begun> } = {
  'one record': async (world) => ({ ids: [await world.stored()], kind: Page, change: changeAll }),
  'two records': async (world) => ({
    ids: [await world.stored(), await world.stored()],
    kind: Page,
    change: changeAll,
  }),
  'a record of a class that shares its set': async (world) => ({
    ids: [await world.stored(Letter)],
    kind: Letter,
    change: changeAll,
  }),
  'a record that is created': (world) => Promise.resolve(created(world, Page)),
  'a record that is created with its class': (world) => Promise.resolve(created(world, Letter)),
}
const created = (world: World, kind: Kind): Begun => ({
  ids: [world.nextId()],
  kind,
  isNew: true,
  change: (session, id) => changeNew(session, id, kind, true),
})
type Change = (session: Session, id: number, kind: Kind) => void

describe(`handles with a fault at every command${isNamedServer ? ' (skipped: only the embedded server has faults)' : ''}`, function () {
  this.timeout(120_000)
  let server: EmbeddedServer
  const worlds = new Map<Mode, World>()

  before(async function () {
    if (isNamedServer) this.skip()
    server = await startEmbedded({ namespaces: MODES.map((mode) => `${mode}:${mode}`) })
    for (const mode of MODES) worlds.set(mode, await World.open(server, mode))
  })
  after(async () => {
    for (const world of worlds.values()) await world.close()
    await server?.stop()
  })

  for (const mode of MODES) {
    for (const [shape, begin] of Object.entries(SHAPES)) {
      it(`${mode}, ${shape}: what counts happens once at most, and what is set is set`, async () => {
        const world = worlds.get(mode)!
        const clean = await begin(world)
        const count = await world.disturb({ delay: 0, times: Infinity }, () => flushed(world, clean))
        expect(count.hits).to.be.within(1, 20)
        for (let skip = 0; skip < count.hits; skip++) {
          for (const [title, fault] of Object.entries(FAULTS))
            await check(world, begin, fault, skip, `${title}, command ${skip}`)
        }
      })
    }
  }

  it('sc, in a transaction: all records change, or none', async () => {
    const world = worlds.get('sc')!
    const work = (ids: readonly number[]): Promise<unknown> =>
      world.hasty.transaction(async (session) => ids.forEach((id) => changeAll(session, id)), { attempts: 1 })
    const clean = [await world.stored(), await world.stored()]
    const count = await world.disturb({ delay: 0, times: Infinity }, () => work(clean))
    expect(count.hits).to.be.within(2, 30)
    for (let skip = 0; skip < count.hits; skip++) {
      for (const [title, fault] of Object.entries(FAULTS)) {
        const where = `${title}, command ${skip}`
        const ids = [await world.stored(), await world.stored()]
        const { error } = await world.disturb({ ...fault, skip }, () => work(ids))
        const shares = [shareOf(await world.left(ids[0]), where), shareOf(await world.left(ids[1]), where)]
        expect(shares[0], where).to.equal(shares[1])
        if (error === undefined) expect(shares[0], where).to.equal(1)
      }
    }
  })
})

function flushed(world: World, { ids, kind, change }: Begun, session = world.hasty.session()): Promise<void> {
  for (const id of ids) change(session, id, kind)
  return session.flush()
}

async function check(
  world: World,
  begin: (typeof SHAPES)[string],
  fault: FaultOptions,
  skip: number,
  where: string,
): Promise<void> {
  const begun = await begin(world)
  const { ids, kind, isNew } = begun
  const session = world.hasty.session()
  const { error, hits } = await world.disturb({ ...fault, skip }, () => flushed(world, begun, session))
  expect(hits, where).to.be.greaterThan(0)
  const shares: number[] = []
  for (const id of ids) shares.push(shareOf(await world.left(id, kind, isNew), where))
  if (error === undefined) expect(shares, where).to.deep.equal(ids.map(() => 1))
  await session.flush()
  expect(session.isDirty(), where).to.equal(false)
  for (const [i, id] of ids.entries()) {
    const { counted, set } = await world.left(id, kind, isNew)
    expect(new Set(counted).size, where).to.equal(1)
    expect(counted[0], where).to.be.within(shares[i], 1)
    expect(set, where).to.deep.equal(set.map(() => 1))
  }
}
