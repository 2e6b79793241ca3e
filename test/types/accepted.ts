// Everything in here must compile; `npm run check:types` and `npm run build:test` say so.
import {
  AfterLoad,
  BeforeSave,
  Bin,
  Counter,
  CreatedAt,
  DeletedAt,
  Embeddable,
  Embedded,
  Generation,
  Index,
  Key,
} from 'skein'
import { ManyToMany, ManyToOne, OneToMany, OneToOne, Record, Sharded, Ttl, UpdatedAt, Version } from 'skein'
import { collection, ref, type Collection, type KeyValue, type Ref, type ValueCodec } from 'skein'

enum Color {
  Red = 'red',
  Blue = 'blue',
}
enum Size {
  Small,
  Large,
}
class Money {
  constructor(readonly cents: number) {}
}
const money: ValueCodec<Money> = {
  encode: (value) => value.cents,
  decode: (stored) => new Money(Number(stored)),
}

@Embeddable()
class Address {
  @Bin() city!: string
  @Bin({ type: 'string' }) zip?: string | null
}

@Embeddable({ key: '{agent}:{id}', parent: 'agent' })
class Comment {
  @Key() id!: string
  @Bin() agent!: number
  @Bin() at!: Date
  @ManyToOne(() => Agent) author = ref<Agent>()
  @OneToMany(() => Comment, { strategy: 'consolidate' }) replies = collection<Comment>()
}

@Embeddable()
class Follow {
  @Bin() since!: Date
}

@Record({ set: 'agent', ttl: { seconds: 'never', onUpdate: 'keep' }, sendKey: true })
export class Agent {
  @Key({ type: 'int' }) id!: number
  @Bin() name!: string
  @Bin({ type: 'double' }) price!: number
  @Bin({ type: 'bytes' }) photo?: Buffer
  @Bin({ type: { list: 'string' } }) tags: readonly string[] = []
  @Bin({ type: { set: 'int' } }) numbers = new Set<number>()
  @Bin({ type: { map: 'date', key: 'int' } }) dates = new Map<number, Date>()
  @Bin({ type: { map: { list: 'int' } } }) lists?: Map<string, number[]>
  @Bin({ type: { map: 'int', key: 'bytes' } }) hashes = new Map<Buffer, number>()
  @Bin({ type: { list: 'int', order: 'sorted', unique: true, persistIndex: true } }) sorted?: number[]
  @Bin({ type: { list: { tuple: ['date', 'double'] }, order: 'sorted' } }) tuples: [Date, number][] = []
  @Bin({ type: { map: 'int', order: 'keyValue', persistIndex: true } }) ranked = new Map<string, number>()
  @Bin({ type: { set: { list: 'int' } } }) rows?: Set<number[]>
  @Embedded(() => Address, { as: 'array', order: 'sorted', unique: true }) sortedParts?: Address[]
  @Bin({ type: { enum: Color } }) color?: Color
  @Bin({ type: { enum: Size } }) size?: Size
  @Bin({ type: { enum: ['a', 'b'] } }) letter?: 'a' | 'b' | null
  @Bin({ type: money }) cost?: Money
  @Bin({ type: 'json' }) anything?: { x: number }
  @Index() @Bin({ name: 'x', type: 'string' }) private secret?: string
  @Embedded(() => Address) address?: Address
  @Embedded(() => Address, { layout: 'bins' }) flat: Address | null = null
  @Embedded(() => Address, { as: 'array' }) former: Address[] = []
  @Embedded(() => Address, { as: 'map', key: 'int' }) byYear = new Map<number, Address>()
  @Embedded(() => Address, { as: 'map' }) byName = new Map<string, Address>()
  @Version() version?: number
  @Generation() generation?: number
  @Ttl() ttl?: number
  @CreatedAt() createdAt?: Date
  @UpdatedAt({ name: 'changed' }) updatedAt?: Date
  @DeletedAt({ name: 'gone' }) deletedAt?: Date | null
  @Counter() @Sharded({ by: 'hash', shards: 8 }) views = 0
  @OneToMany(() => Listing, 'agent', { strategy: 'keyList', onDelete: 'cascade' }) listings = collection<Listing>()
  @OneToMany(() => Listing, 'seller', { strategy: 'secondaryIndex' }) sold = collection<Listing>()
  @OneToMany(() => Listing) oneSided = collection<Listing>()
  @Sharded({ by: 'hash', shards: 8, when: { bytes: 131_072, members: 1_000, busyPerSecond: 50 }, subkeys: 'growsIn' })
  @ManyToMany(() => Agent)
  grows = collection<Agent>()
  @Sharded({ by: 'day', on: 'at' })
  @OneToMany(() => Comment, {
    strategy: 'consolidate',
    sortKey: ['at'],
    inverseIndex: { author: {}, 'replies.author': {} },
  })
  comments = collection<Comment>()
  @ManyToMany(() => Agent, 'followers', { owner: true, attributes: () => Follow }) following = collection<
    Agent,
    Follow
  >()
  @ManyToMany(() => Agent, 'following', { attributes: () => Follow }) followers: Collection<Agent, Follow> =
    collection()
  @BeforeSave() async check() {}
  @AfterLoad() ready(): void {}
  reveal(): string | undefined {
    return this.secret
  }
}

@Record({ set: 'listing', key: 'listing:{city}:{no}' })
export class Listing {
  @Bin() city!: string
  @Bin() no!: number
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
  @ManyToOne(() => Agent, 'sold', { name: 'by' }) seller: Ref<Agent> = ref()
  @OneToOne(() => Agent, { strategy: 'keyBin', onDelete: 'restrict' }) main?: Ref<Agent>
}

// A subclass inherits the relation; the other side is a relation to its base class.
@Record({ set: 'shop', discriminator: 'kind' })
export abstract class Shop {
  @Key() id!: string
  @ManyToOne(() => Street, 'shops') street = ref<Street>()
}
@Record({ discriminatorValue: 'bakery' })
export class Bakery extends Shop {}
@Record({ set: 'street' })
export class Street {
  @Key({ generate: 'uuid' }) id!: string
  @OneToMany(() => Shop, 'street') shops = collection<Shop>()
}

// The decorator Record does not hide TypeScript's own type of that name.
export const counts: Record<string, number> = {}

export async function relations(agent: Agent, listing: Listing): Promise<void> {
  const key: KeyValue | null = listing.agent.key
  const value: Agent | null = listing.agent.isLoaded ? listing.agent.value : await listing.agent.load()
  listing.agent.set(agent)
  listing.agent.set(17)
  listing.agent.set(null)
  agent.listings.add(listing, 'listing:Rome:7')
  agent.listings.remove(listing)
  const page: readonly Listing[] = await agent.listings.page({ offset: 10, count: 5 })
  const answers: [boolean, number, readonly KeyValue[]] = [
    await agent.listings.contains(listing),
    await agent.listings.count(),
    await agent.listings.keys(),
  ]
  for (const each of agent.listings) console.log(each.city, key, value, page, answers)
}
