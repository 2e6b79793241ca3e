import {
  Bin,
  Embeddable,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
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

// A busy machine must not end what is only measured.
const PATIENT = { socketTimeout: 120_000, totalTimeout: 120_000 }
const policies = { read: PATIENT, batch: PATIENT, write: PATIENT, operate: PATIENT, batchParentWrite: PATIENT }

const FEW = 6000
const TIMES = 4
/** Four where the cost is linear, sixteen where it is quadratic. */
const AT_MOST = 9

/** Microseconds of the processor for each step of one life of a list with so many members. */
class Life {
  readonly cost = new Map<string, number>()
  readonly #db: Database
  readonly #size: number
  readonly #base: number

  constructor(db: Database, size: number, base: number) {
    this.#db = db
    this.#size = size
    this.#base = base
  }

  async run(): Promise<this> {
    const session = this.#db.session({ validate: false })
    const [first, second] = [1, 2].map((id) => session.create(Owner, { id: this.#base + id }))
    const tag = session.create(Tag, { id: this.#base })
    await session.flush()
    const ids = Array.from({ length: this.#size }, (_, i) => this.#base + i)
    const items = ids.map((id) => Object.assign(new Item(), { id, name: 'new' }))
    first.items.add(...items)
    await this.#measure('save new children', () => session.save(first))
    for (const item of items) second.items.add(item)
    await this.#measure('move children', () => session.flush())
    for (const item of items) tag.items.link(item, Object.assign(new Since(), { year: 2026 }))
    await this.#measure('link with attributes', () => session.flush())
    const half = items.length / 2
    await this.#measure('detach each', () => {
      for (const item of items.slice(half)) session.detach(item)
    })
    await this.#measure('delete each at once', () =>
      Promise.all(items.slice(0, half).map((item) => session.delete(item))),
    )
    await session.close()
    return this
  }

  async #measure(name: string, run: () => unknown): Promise<void> {
    collectGarbage()
    const before = process.cpuUsage()
    await run()
    const { user, system } = process.cpuUsage(before)
    this.cost.set(name, user + system)
  }
}

const suite: BenchSuite = {
  name: `What costs four times as much for four times as many (${FEW} and ${TIMES * FEW})`,
  async run() {
    const server = await startBenchServer()
    const [namespace] = server.namespaces
    const entities = [Owner, Item, Tag]
    const retry = { deadline: 300_000 }
    const db = await open({ hosts: server.hosts, namespace, entities, stacks: false, policies, retry })
    try {
      const base = Math.floor(Math.random() * 2 ** 40)
      // A life of its own comes first, so that both that count run compiled code.
      await new Life(db, FEW, base).run()
      const few = await new Life(db, FEW, base + FEW * TIMES).run()
      const many = await new Life(db, FEW * TIMES, base + 2 * FEW * TIMES).run()
      return [...few.cost].map(([name, cost]): BenchResult => {
        const more = many.cost.get(name)!
        const of = `times the processor: ${(more / 1000).toFixed(0)} ms against ${(cost / 1000).toFixed(0)}`
        return { name: `growth: ${name}`, ratio: more / cost, budget: { atMost: AT_MOST }, of }
      })
    } finally {
      for (const entity of entities) await db.truncate(entity)
      await db.close()
      await server.stop()
    }
  },
}
export default suite
