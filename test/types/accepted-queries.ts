import {
  Bin,
  Embeddable,
  Embedded,
  Index,
  Key,
  ManyToMany,
  ManyToOne,
  Record,
  collection,
  inc,
  ref,
  type Database,
  type FilterFields,
  type Session,
  type Where,
} from 'skein'

// Compiles, or `npm run check` fails: every operator with the types it takes, and the types of what queries give.

@Embeddable()
class Address {
  @Index() @Bin() city!: string
  @Bin({ type: 'int' }) zip?: number
}

@Record({ set: 'agent' })
class Agent {
  @Key() id!: number
  @ManyToMany(() => Agent, { owner: true }) friends = collection<Agent>()
}

@Record({ set: 'listing' })
@Index({ name: 'listing_value', of: (l: FilterFields<Listing>) => l.price.times(2).plus(l.rooms.size) })
class Listing {
  @Key() id!: string
  @Index() @Bin() city!: string
  @Bin({ type: { enum: ['open', 'sold'] } }) state!: 'open' | 'sold'
  @Bin() price!: number
  @Bin({ type: 'bigint' }) views?: bigint
  @Bin() isNew?: boolean
  @Bin() at?: Date | null
  @Bin() seal?: Uint8Array
  @Bin({ type: { list: 'string' } }) tags: string[] = []
  @Bin({ type: { set: 'int' } }) rooms = new Set<number>()
  @Bin({ type: { map: 'int' } }) scores = new Map<string, number>()
  @Embedded(() => Address) address?: Address
  @ManyToOne(() => Agent) agent = ref<Agent>()
}

export const conditions: readonly Where<Listing>[] = [
  { city: 'Bern', state: 'open', price: 1, views: 1n, isNew: true, at: new Date(), seal: new Uint8Array() },
  { city: null, agent: null, address: null, tags: null, scores: null },
  { city: { eq: 'x' }, state: { ne: 'sold' }, price: { in: [1, 2] }, views: { notIn: [1n] }, isNew: { ne: null } },
  { price: { gt: 1, gte: 1, lt: 2, lte: 2 }, at: { between: [new Date(), new Date()] }, city: { lt: 'x' } },
  { city: { startsWith: 'a', endsWith: 'b', contains: 'c', regex: 'd' } },
  { city: { regex: { pattern: 'd', ignoreCase: true } } },
  { tags: { has: 'x', hasAny: ['x'], hasAll: ['x'], size: 1 }, rooms: { has: 1, size: { gt: 1 } } },
  {
    scores: {
      hasKey: 'x',
      hasAnyKey: ['x'],
      hasAllKeys: ['x'],
      hasValue: 1,
      hasAnyValue: [1],
      size: { between: [1, 2] },
    },
  },
  { address: { city: 'Bern', zip: { gt: 1 } } },
  { address: { ne: null }, tags: { ne: null }, scores: { eq: null }, city: { ne: null }, agent: { ne: null } },
  { agent: new Agent() },
  { agent: 1 },
  { agent: { in: [1, new Agent()] } },
]

export async function results(db: Database, session: Session): Promise<void> {
  const query = db.query(Listing).where({ city: 'Bern' })
  const [all, first, count]: [Listing[], Listing | null, number] = [
    await query.only('city', 'price').toArray(),
    await query.orderBy('price', 'desc').first(),
    await query.limit(3).count(),
  ]
  const page = await query.page({ count: 3, after: (await query.page({ count: 3 })).next })
  const next: string | undefined = page.next
  const sums: [number, bigint, number | null, Date | null, string | null] = [
    await query.sum('price'),
    await query.sum('views'),
    await query.avg('price'),
    await query.min('at'),
    await query.max('city'),
  ]
  const cities: Map<string | null, number> = await query.groupBy('city').count()
  const rooms: Map<number | null, Date | null> = await query.groupBy('rooms').max('at')
  const days: Map<number | null, bigint> = await query.groupBy('at').sum('views')
  const seals: Map<string | null, number> = await query.groupBy('seal').sum('price')
  const agents: Map<string | number | bigint | null, number> = await query.groupBy('agent').count()
  query.filter((l) => l.views.plus(1n).mod(l.views).gt(3n).and(l.address.ne(null), l.address.zip.plus(1).gt(2)))
  query.filter((l) =>
    l.price
      .plus(1)
      .times(l.price)
      .gt(3)
      .and(l.city.regex('x', { ignoreCase: true }))
      .or(l.isNew.eq(true))
      .not(),
  )
  query.filter((l) =>
    l.address.city.in(['x']).and(l.tags.size.lt(3), l.scores.hasKey('x'), l.agent.eq(3), l.at.gt(new Date())),
  )
  await query.update({ price: inc(1), views: inc(1n), city: 'x', at: null }, { dryRun: true })
  db.query(Agent).whereHas('friends', new Agent()).whereHasAny('friends', [1, 2])
  for await (const listing of session.query(Listing).where({ city: 'x' }).with('agent'))
    listing.agent.value?.friends.add(1)
  void [all, first, count, next, sums, cities, rooms, days, seals, agents]
}
