import { expect } from 'chai'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { Bin, Embeddable, Embedded, Index, Key, Record, type Database, type Filter } from 'skein'
import '../fixed-seed.js'
import { emptySets } from '../empty-sets.js'
import { MODES, needMode } from '../server.js'
import { sharedServer } from '../shared-server.js'

const set = `qp${process.pid}${Date.now() % 1e6}`

const noIndex = (): PropertyDecorator => () => undefined

/** Classes that differ only in their indexes. */
function placeClass(index: typeof Index | typeof noIndex) {
  @Embeddable({ name: 'Place' })
  class Place {
    @index() @Bin({ type: 'int' }) zip?: number
    @index() @Bin() street?: string
  }
  return Place
}
const Place = placeClass(Index)

function itemClass(index: typeof Index | typeof noIndex, place: typeof Place) {
  @Record({ set, name: 'Item' })
  class Item {
    @Key() id!: number
    @index() @Bin() city?: string
    @index() @Bin({ type: 'int' }) price?: number
    @Bin({ type: 'double' }) rating?: number
    @Bin() isNew?: boolean
    @index() @Bin() at?: Date
    @index() @Bin({ type: 'bigint' }) views?: bigint
    @index() @Bin() seal?: Buffer
    @index() @Bin({ type: { list: 'string' } }) tags?: string[]
    @index() @Bin({ type: { set: 'int' } }) rooms?: Set<number>
    @index({ on: 'mapKeys' }) @Bin({ type: { map: 'int' } }) scores?: Map<string, number>
    @index({ on: 'mapValues' }) @Bin({ type: { map: 'string' } }) notes?: Map<string, string>
    @Embedded(() => place) place?: InstanceType<typeof Place>
    @Bin({ type: 'int' }) round?: number
  }
  return Item
}
const Indexed = itemClass(Index, Place)
const Plain = itemClass(noIndex, placeClass(noIndex))

const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined })
const text = fc.constantFrom('', 'a', 'ab', 'abc', 'b', 'B', 'ä', '😀', '￿', 'a.c', 'a|b', '^a$')
const int = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(2 ** 53 - 1, -(2 ** 53 - 1)))
const double = fc.constantFrom(-1.5, 0, 1, 1.5, 2, 1e300, Infinity, -Infinity)
const big = fc.constantFrom(0n, 1n, -1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 62n + 1n, 2n ** 63n - 1n, -(2n ** 63n))
const date = fc.constantFrom(-5, 0, 1, 1e12).map((ms) => new Date(ms))
const bytes = fc.constantFrom([0], [1], [1, 2], [255]).map((each) => Buffer.from(each))
const few = { minLength: 0, maxLength: 3 }

const values = fc.record({
  city: maybe(text),
  price: maybe(int),
  rating: maybe(double),
  isNew: maybe(fc.boolean()),
  at: maybe(date),
  views: maybe(big),
  seal: maybe(bytes),
  tags: maybe(fc.array(text, few)),
  rooms: maybe(fc.array(int, few).map((each) => new Set(each))),
  scores: maybe(fc.array(fc.tuple(text, int), few).map((each) => new Map(each))),
  notes: maybe(fc.array(fc.tuple(text, text), few).map((each) => new Map(each))),
  place: maybe(fc.record({ zip: maybe(int), street: maybe(text) }).map((each) => Object.assign(new Place(), each))),
})

type Conditions = { [property: string]: unknown }

const equality = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown>[] => [
  value,
  fc.constant(null),
  value.map((eq) => ({ eq })),
  fc.option(value).map((ne) => ({ ne })),
  fc.array(value, few).map((each) => ({ in: each })),
  fc.array(value, few).map((each) => ({ notIn: each })),
]
const ordering = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown>[] => [
  value.map((gt) => ({ gt })),
  value.map((gte) => ({ gte })),
  value.map((lt) => ({ lt })),
  value.map((lte) => ({ lte })),
  fc.tuple(value, value).map(([gte, lte]) => ({ gte, lte })),
  fc.tuple(value, value).map((between) => ({ between })),
]
const textual = [
  text.map((startsWith) => ({ startsWith })),
  text.map((endsWith) => ({ endsWith })),
  text.map((contains) => ({ contains })),
]
const size = fc.constantFrom<unknown>(0, 1, { gt: 1 }, { between: [1, 2] })
const anyOf = (...conditions: fc.Arbitrary<unknown>[]): fc.Arbitrary<unknown> => fc.oneof(...conditions)
const members = (item: fc.Arbitrary<unknown>): fc.Arbitrary<unknown>[] => [
  item.map((has) => ({ has })),
  fc.array(item, few).map((hasAny) => ({ hasAny })),
  fc.array(item, few).map((hasAll) => ({ hasAll })),
  size.map((each) => ({ size: each })),
  fc.constant(null),
]
const conditions: fc.Arbitrary<Conditions> = fc
  .record(
    {
      city: anyOf(...equality(text), ...ordering(text), ...textual),
      price: anyOf(...equality(int), ...ordering(int)),
      rating: anyOf(...equality(double), ...ordering(double)),
      isNew: anyOf(...equality(fc.boolean())),
      at: anyOf(...equality(date), ...ordering(date)),
      views: anyOf(...equality(big), ...ordering(big)),
      seal: anyOf(...equality(bytes), ...ordering(bytes)),
      tags: anyOf(...members(text)),
      rooms: anyOf(...members(int)),
      scores: anyOf(
        text.map((hasKey) => ({ hasKey })),
        fc.array(text, few).map((hasAnyKey) => ({ hasAnyKey })),
        fc.array(text, few).map((hasAllKeys) => ({ hasAllKeys })),
        int.map((hasValue) => ({ hasValue })),
        fc.array(int, few).map((hasAnyValue) => ({ hasAnyValue })),
        size.map((each) => ({ size: each })),
        fc.constant(null),
      ),
      notes: anyOf(
        text.map((hasValue) => ({ hasValue })),
        fc.array(text, few).map((hasAnyValue) => ({ hasAnyValue })),
      ),
      place: anyOf(
        fc.constant(null),
        anyOf(...equality(int), ...ordering(int)).map((zip) => ({ zip })),
        anyOf(...equality(text), ...textual).map((street) => ({ street })),
      ),
    },
    { requiredKeys: [] },
  )
  .filter((each) => Object.keys(each).length > 0)

/** Makes values comparable: dates and bytes by what they stand for. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return value.getTime()
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value
}
const order = (a: unknown, b: unknown): number => {
  const [x, y] = [plain(a), plain(b)]
  if (typeof x === 'string' && typeof y === 'string')
    return a instanceof Uint8Array ? (x < y ? -1 : Number(x > y)) : Buffer.compare(Buffer.from(x), Buffer.from(y))
  return (x as number) < (y as number) ? -1 : Number((x as number) > (y as number))
}
const same = (a: unknown, b: unknown): boolean => plain(a) === plain(b)

/** Every operator in plain JavaScript. */
const OPERATORS: { [name: string]: (value: unknown, operand: never) => boolean } = {
  eq: (value, operand: unknown) =>
    operand === null ? value === undefined : value !== undefined && same(value, operand),
  ne: (value, operand: unknown) => !OPERATORS.eq(value, operand as never),
  in: (value, operand: unknown[]) => value !== undefined && operand.some((each) => same(each, value)),
  notIn: (value, operand: unknown[]) => !OPERATORS.in(value, operand as never),
  gt: (value, operand: unknown) => value !== undefined && order(value, operand) > 0,
  gte: (value, operand: unknown) => value !== undefined && order(value, operand) >= 0,
  lt: (value, operand: unknown) => value !== undefined && order(value, operand) < 0,
  lte: (value, operand: unknown) => value !== undefined && order(value, operand) <= 0,
  between: (value, [from, to]: [unknown, unknown]) =>
    value !== undefined && order(value, from) >= 0 && order(value, to) <= 0,
  startsWith: (value, operand: string) => value !== undefined && (value as string).startsWith(operand),
  endsWith: (value, operand: string) => value !== undefined && (value as string).endsWith(operand),
  contains: (value, operand: string) => value !== undefined && (value as string).includes(operand),
  has: (value, operand: unknown) => list(value).includes(operand),
  hasAny: (value, operand: unknown[]) => operand.some((each) => list(value).includes(each)),
  hasAll: (value, operand: unknown[]) => value !== undefined && operand.every((each) => list(value).includes(each)),
  hasKey: (value, operand: unknown) => keys(value).includes(operand),
  hasAnyKey: (value, operand: unknown[]) => operand.some((each) => keys(value).includes(each)),
  hasAllKeys: (value, operand: unknown[]) => value !== undefined && operand.every((each) => keys(value).includes(each)),
  hasValue: (value, operand: unknown) => list(value).includes(operand),
  hasAnyValue: (value, operand: unknown[]) => operand.some((each) => list(value).includes(each)),
  size: (value, operand: unknown) =>
    value !== undefined && holds(list(value).length, typeof operand === 'number' ? { eq: operand } : operand),
}
const list = (value: unknown): unknown[] => [...((value as Map<unknown, unknown> | undefined)?.values() ?? [])]
const keys = (value: unknown): unknown[] => [...((value as Map<unknown, unknown> | undefined)?.keys() ?? [])]

const isOperators = (condition: unknown): condition is object =>
  typeof condition === 'object' && condition !== null && Object.getPrototypeOf(condition) === Object.prototype

function holds(value: unknown, condition: unknown): boolean {
  if (!isOperators(condition)) return OPERATORS.eq(value, condition as never)
  return Object.entries(condition).every(([name, operand]) => OPERATORS[name](value, operand as never))
}

function meets(item: Conditions, where: Conditions): boolean {
  return Object.entries(where).every(([name, condition]) =>
    name === 'place' && condition !== null
      ? meets((item.place ?? {}) as Conditions, condition as Conditions)
      : holds(item[name] ?? undefined, condition),
  )
}

type Operands = { readonly [operator: string]: (...operands: unknown[]) => Filter }

/** Builds the same conditions by the methods of `filter`. */
function asFilter(fields: object, where: Conditions): Filter {
  const filters = Object.entries(where).map(([name, condition]) => {
    const operand = (fields as { readonly [name: string]: Operands })[name]
    if (name === 'place' && condition !== null) return asFilter(operand, condition as Conditions)
    if (!isOperators(condition)) return operand.eq(condition)
    const [first, ...others] = Object.entries(condition).map(([operator, given]) => asked(operand, operator, given))
    return first.and(...others)
  })
  return filters[0].and(...filters.slice(1))
}

function asked(operand: Operands, operator: string, given: unknown): Filter {
  if (operator === 'between') return operand.between(...(given as unknown[]))
  if (operator !== 'size') return operand[operator](given)
  const size = operand.size as unknown as Operands
  if (typeof given === 'number') return size.eq(given)
  const [[name, bound]] = Object.entries(given as object) as [[string, unknown]]
  return name === 'between' ? size.between(...(bound as unknown[])) : size[name](bound)
}

for (const mode of MODES) {
  describe(`queries find what a filter in memory finds (${mode})`, function () {
    this.timeout(120_000)
    const databases: Database[] = []
    before(async function () {
      const server = await sharedServer()
      const namespace = needMode(this, server, mode)
      for (const each of [Indexed, Plain]) databases.push(await server.open({ namespace, entities: [each] }))
      await databases[0].indexes.sync()
    })
    after(() => Promise.all(databases.map((db) => db.close())))

    it('with and without indexes, as a whole, counted, in pages and in order', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(values, { minLength: 1, maxLength: 40 }),
          fc.array(conditions, { minLength: 8, maxLength: 8 }),
          fc.integer({ min: 1, max: 9 }),
          async (stored, wheres, count) => {
            const [indexed, unindexed] = databases
            await emptySets(indexed, [Indexed])
            const items = stored.map((each, id) => Object.assign(new Indexed(), { id }, each))
            await indexed.withSession(async (session) => items.forEach((each) => void session.persist(each)))
            for (const where of wheres) {
              const expected = items.filter((each) => meets(each as unknown as Conditions, where)).map(({ id }) => id)
              const queries = [indexed.query(Indexed).where(where).scan(), unindexed.query(Plain).where(where).scan()]
              for (const query of queries) {
                expect((await query.toArray()).map(({ id }) => id).sort(byNumber), inspect(where)).to.deep.equal(
                  expected,
                )
                expect(await query.count()).to.equal(expected.length)
                expect((await paged(query, count)).sort(byNumber)).to.deep.equal(expected)
                const sorted = (await paged(query.orderBy('price', 'desc'), count)).map((id) => items[id].price)
                expect(sorted).to.deep.equal(sorted.toSorted((a, b) => (b ?? -Infinity) - (a ?? -Infinity)))
                expect(sorted).to.have.length(expected.length)
              }
            }
            for (const [i, where] of wheres.entries()) {
              const other = wheres[(i + 1) % wheres.length]
              const isWanted = (item: Conditions): boolean => !meets(item, where) || meets(item, other)
              const expected = items.filter((each) => isWanted(each as unknown as Conditions)).map(({ id }) => id)
              for (const query of [indexed.scan(Indexed), unindexed.scan(Plain)]) {
                const filtered = query.filter((x) => asFilter(x, where).not().or(asFilter(x, other)))
                const message = inspect({ not: where, or: other })
                expect(((await filtered.keys()) as number[]).sort(byNumber), message).to.deep.equal(expected)
              }
            }
          },
        ),
        { numRuns: 12 },
      )
    })

    it('while others create, change and delete: what exists throughout is there exactly once', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(values, { minLength: 20, maxLength: 60 }),
          fc.array(conditions, { minLength: 6, maxLength: 6 }),
          fc.integer({ min: 3, max: 9 }),
          async (stored, wheres, count) => {
            const [indexed, unindexed] = databases
            await emptySets(indexed, [Indexed])
            const items = stored.map((each, id) => Object.assign(new Indexed(), { id }, each))
            await indexed.withSession(async (session) => items.forEach((each) => void session.persist(each)))
            const writers = new Writers(indexed, stored)
            try {
              for (const where of wheres) {
                const expected = items.filter((each) => meets(each as unknown as Conditions, where)).map(({ id }) => id)
                for (const query of [
                  indexed.query(Indexed).where(where).scan(),
                  unindexed.query(Plain).where(where).scan(),
                ]) {
                  const streamed: number[] = []
                  for await (const { id } of query) streamed.push(id)
                  for (const found of [streamed, await paged(query, count), (await query.keys()) as number[]]) {
                    expect(new Set(found).size, inspect(where)).to.equal(found.length)
                    const lasting = found.filter((id) => id < FIRST_PASSING).sort(byNumber)
                    expect(lasting, inspect(where)).to.deep.equal(expected)
                  }
                }
              }
            } finally {
              await writers.stop()
            }
          },
        ),
        { numRuns: 4 },
      )
    })
  })
}

/** Keys from here on belong to records that come and go. */
const FIRST_PASSING = 1000

/** Sessions that create, change and delete records, and rewrite the lasting ones, until they are stopped. */
class Writers {
  #isOver = false
  readonly #work: Promise<unknown>

  constructor(db: Database, stored: readonly object[]) {
    const values = (i: number): object => stored[i % stored.length]
    const passing = async (): Promise<void> => {
      for (let round = 0; !this.#isOver; round++) {
        const ids = Array.from({ length: 10 }, (_, i) => FIRST_PASSING + ((round * 7 + i) % 50))
        await db.withSession(async (session) => {
          for (const id of ids) await session.upsert(Object.assign(new Indexed(), { id }, values(id + round)))
        })
        await db.withSession(async (session) => {
          for (const id of ids.slice(5)) await session.delete(Indexed, id)
        })
      }
    }
    const lasting = async (): Promise<void> => {
      for (let round = 0; !this.#isOver; round++) {
        await db.withSession(async (session) => {
          const items = await session.findMany(
            Indexed,
            stored.map((_, id) => id),
          )
          for (const item of items) item!.round = round
        })
      }
    }
    this.#work = Promise.all([passing(), lasting()])
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#work
  }
}

const byNumber = (a: number, b: number): number => a - b

async function paged(
  query: { page(options: { count: number; after?: string }): Promise<readonly { id: number }[] & { next?: string }> },
  count: number,
): Promise<number[]> {
  const found: number[] = []
  for (let after: string | undefined; ;) {
    const page = await query.page({ count, after })
    found.push(...page.map(({ id }) => id))
    if (page.next === undefined) return found
    expect(page).to.have.length(count)
    after = page.next
  }
}
