import {
  Bin,
  Embeddable,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  collection,
  open,
  ref,
  type Database,
} from 'skein'
import type { BenchResult, BenchSuite } from './bench.js'
import { collectGarbage } from './compare.js'
import { startBenchServer } from './server.js'

@Embeddable()
class Since {
  @Bin({ type: 'int' }) year!: number
}

@Record({ set: 'growowner' })
class Owner {
  @Key() id!: number
  @OneToMany(() => Item, 'owner') items = collection<Item>()
}

@Record({ set: 'growitem' })
class Item {
  @Key() id!: number
  @Bin() name!: string
  @ManyToOne(() => Owner, 'items') owner = ref<Owner>()
  @ManyToMany(() => Tag, 'items', { owner: true, attributes: () => Since }) tags = collection<Tag, Since>()
}

@Record({ set: 'growtag' })
class Tag {
  @Key() id!: number
  @ManyToMany(() => Item, 'tags', { attributes: () => Since }) items = collection<Item, Since>()
}

/** Relations of a class to itself: every entity may name every other. */
@Record({ set: 'growkin' })
class Kin {
  @Key() id!: number
  @OneToOne(() => Kin, 'partnerOf', { owner: true }) partner = ref<Kin>()
  @OneToOne(() => Kin, 'partner') partnerOf = ref<Kin>()
  @ManyToMany(() => Kin, 'fans', { owner: true }) likes = collection<Kin>()
  @ManyToMany(() => Kin, 'likes') fans = collection<Kin>()
}

@Embeddable()
class Score {
  @Key() id!: number
  @Bin({ type: 'int' }) points!: number
  @Bin({ type: 'int' }) rank!: number
}

/** Children in one record, in two orders. */
@Record({ set: 'growboard' })
class Board {
  @Key() id!: number
  @OneToMany(() => Score, { strategy: 'consolidate', sortKey: ['points'], orders: { byRank: ['rank'] } })
  scores = collection<Score>()
}

// A busy machine must not end what is only measured.
const PATIENT = { socketTimeout: 120_000, totalTimeout: 120_000 }
const policies = { read: PATIENT, batch: PATIENT, write: PATIENT, operate: PATIENT, batchParentWrite: PATIENT }

const FEW = 6000
/** Groups of two records, each in a transaction of its own. */
const FEW_PAIRS = 1200
/** Children of one record, which must not become too large. */
const FEW_CHILDREN = 1000
const TIMES = 4
/** Four where the cost is linear, sixteen where it is quadratic. */
const AT_MOST = 9

/** Microseconds of the processor for each step of one life of so many entities. */
abstract class Life {
  readonly cost = new Map<string, number>()

  constructor(
    protected readonly db: Database,
    protected readonly size: number,
    protected readonly base: number,
  ) {}

  abstract run(): Promise<this>

  protected get ids(): number[] {
    return Array.from({ length: this.size }, (_, i) => this.base + i)
  }

  protected async measure(name: string, run: () => unknown): Promise<void> {
    collectGarbage()
    const before = process.cpuUsage()
    await run()
    const { user, system } = process.cpuUsage(before)
    this.cost.set(name, user + system)
  }
}

/** A list with many members. */
class OneList extends Life {
  async run(): Promise<this> {
    const session = this.db.session({ validate: false })
    const [first, second] = [1, 2].map((id) => session.create(Owner, { id: this.base + id }))
    const tag = session.create(Tag, { id: this.base })
    await session.flush()
    const items = this.ids.map((id) => Object.assign(new Item(), { id, name: 'new' }))
    first.items.add(...items)
    await this.measure('save new children', () => session.save(first))
    for (const item of items) second.items.add(item)
    await this.measure('move children', () => session.flush())
    for (const item of items) tag.items.link(item, Object.assign(new Since(), { year: 2026 }))
    await this.measure('link with attributes', () => session.flush())
    const half = items.length / 2
    await this.measure('detach each', () => {
      for (const item of items.slice(half)) session.detach(item)
    })
    await this.measure('delete each at once', () =>
      Promise.all(items.slice(0, half).map((item) => session.delete(item))),
    )
    await session.close()
    return this
  }
}

/** Many pairs of one class: many holders of links, and as many transactions as pairs. */
class Pairs extends Life {
  async run(): Promise<this> {
    const [first, second, third] = [0, 1, 2].map(() => this.db.session({ validate: false }))
    const kin = this.ids.map((id) => first.create(Kin, { id }))
    for (let i = 0; i < this.size; i += 2) {
      kin[i].partner.set(kin[i + 1])
      kin[i].likes.add(kin[i + 1])
    }
    await this.measure('save pairs', () => first.flush())
    await this.measure('detach each of many pairs', () => {
      for (const one of kin) first.detach(one)
    })
    const unsaved = this.ids.map((id) => first.create(Kin, { id }))
    unsaved.forEach((one, i) => one.likes.add(unsaved[(i + 1) % this.size]))
    await this.measure('detach each before it was saved', () => {
      for (const one of unsaved) first.detach(one)
    })
    const half = this.ids.slice(this.size / 2)
    const members = await second.loadMany(Kin, half, { with: ['likes', 'fans'] })
    for (const one of members) second.remove(one)
    await this.measure('remove pairs in one flush', () => second.flush())
    const rest = await third.loadMany(Kin, this.ids.slice(0, this.size / 2), { with: ['likes', 'fans'] })
    await this.measure('delete each of many pairs at once', () => Promise.all(rest.map((one) => third.delete(one))))
    for (const session of [first, second, third]) await session.close()
    return this
  }
}

/** A record with many children that change their places. */
class Places extends Life {
  async run(): Promise<this> {
    const session = this.db.session({ validate: false })
    const board = session.create(Board, { id: this.base })
    for (let id = 0; id < this.size; id++)
      board.scores.add(Object.assign(new Score(), { id, points: id, rank: this.size - id }))
    await session.flush()
    for (const score of board.scores) score.points += this.size
    await this.measure('move sort keys', () => session.flush())
    for (const score of board.scores) score.rank += this.size
    await this.measure('move in a further order', () => session.flush())
    await session.close()
    return this
  }
}

type LifeClass = new (db: Database, size: number, base: number) => Life

async function compare(db: Database, lives: LifeClass, few: number): Promise<BenchResult[]> {
  const base = Math.floor(Math.random() * 2 ** 40)
  // A life of its own comes first, so that both that count run compiled code.
  await new lives(db, few, base).run()
  const less = await new lives(db, few, base + few * TIMES).run()
  const many = await new lives(db, few * TIMES, base + 2 * few * TIMES).run()
  return [...less.cost].map(([name, cost]): BenchResult => {
    const more = many.cost.get(name)!
    const of = `times the processor: ${(more / 1000).toFixed(0)} ms against ${(cost / 1000).toFixed(0)}`
    return { name: `growth: ${name}`, ratio: more / cost, budget: { atMost: AT_MOST }, of }
  })
}

const suite: BenchSuite = {
  name: `What costs four times as much for four times as many (${FEW} and ${TIMES * FEW}; pairs: ${FEW_PAIRS} and ${TIMES * FEW_PAIRS}; children of one record: ${FEW_CHILDREN} and ${TIMES * FEW_CHILDREN})`,
  async run() {
    const server = await startBenchServer()
    const [namespace] = server.namespaces
    const entities = [Owner, Item, Tag, Kin, Board]
    const retry = { deadline: 300_000 }
    const db = await open({ hosts: server.hosts, namespace, entities, stacks: false, policies, retry })
    try {
      return [
        ...(await compare(db, OneList, FEW)),
        ...(await compare(db, Pairs, FEW_PAIRS)),
        ...(await compare(db, Places, FEW_CHILDREN)),
      ]
    } finally {
      for (const entity of entities) await db.truncate(entity)
      await db.close()
      await server.stop()
    }
  },
}
export default suite
