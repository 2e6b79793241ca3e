import { expect } from 'chai'
import {
  Bin,
  Companion,
  Embeddable,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  Sharded,
  collection,
  open,
  ref,
  type Collection,
  type Database,
  type EntityClass,
  type Finding,
  type Ref,
  type Session,
} from 'skein'
import { startEmbedded, type EmbeddedServer, type FaultOptions } from 'skein/embedded'
import { emptySets } from '../../empty-sets.js'
import { PATIENT } from '../../server.js'

@Record({ set: 'gu_post' })
class Post {
  @Key() id!: number
  @OneToMany(() => Comment, { strategy: 'keyList', onDelete: 'cascade' }) comments = collection<Comment>()
}
@Record({ set: 'gu_comment' })
class Comment {
  @Key() id!: number
}

@Record({ set: 'gu_agent' })
class Agent {
  @Key() id!: number
  @OneToMany(() => Listing, 'agent', { strategy: 'keyList', onDelete: 'cascade' }) listings = collection<Listing>()
}
@Record({ set: 'gu_listing' })
class Listing {
  @Key() id!: number
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
}

@Record({ set: 'gu_customer' })
class Customer {
  @Key() id!: number
  @OneToMany(() => Order, 'customer', { strategy: 'secondaryIndex', onDelete: 'cascade' }) orders = collection<Order>()
}
@Record({ set: 'gu_order' })
class Order {
  @Key() id!: number
  @ManyToOne(() => Customer, 'orders') customer = ref<Customer>()
}

@Record({ set: 'gu_user' })
class User {
  @Key() id!: number
  @OneToOne(() => Avatar, { onDelete: 'cascade' }) avatar = ref<Avatar>()
}
@Record({ set: 'gu_avatar' })
class Avatar {
  @Key() id!: number
}

@Record({ set: 'gu_car' })
class Car {
  @Key() id!: number
  @OneToOne(() => Plate, 'car', { owner: true, onDelete: 'cascade' }) plate = ref<Plate>()
}
@Record({ set: 'gu_plate' })
class Plate {
  @Key() id!: number
  @OneToOne(() => Car, 'plate') car = ref<Car>()
}

@Record({ set: 'gu_house' })
class House {
  @Key() id!: number
  @OneToOne(() => Roof, 'house', { onDelete: 'cascade' }) roof = ref<Roof>()
}
@Record({ set: 'gu_roof' })
class Roof {
  @Key() id!: number
  @OneToOne(() => House, 'roof', { owner: true }) house = ref<House>()
}

@Record({ set: 'gu_person' })
class Person {
  @Key() id!: number
  @OneToOne(() => Profile, { strategy: 'sharedKey' }) profile = ref<Profile>()
}
@Record({ set: 'gu_profile' })
class Profile {
  @Key() id!: number
}

@Record({ set: 'gu_account' })
class Account {
  @Key() id!: number
  @OneToOne(() => Settings, 'account', { strategy: 'sharedKey', owner: true }) settings = ref<Settings>()
}
@Record({ set: 'gu_settings' })
class Settings {
  @Key() id!: number
  @OneToOne(() => Account, 'settings', { strategy: 'sharedKey' }) account = ref<Account>()
}

@Record({ set: 'gu_album' })
class Album {
  @Key() id!: number
  @ManyToMany(() => Photo, { onDelete: 'cascade' }) photos = collection<Photo>()
}
@Record({ set: 'gu_photo' })
class Photo {
  @Key() id!: number
}

@Record({ set: 'gu_team' })
class Team {
  @Key() id!: number
  @ManyToMany(() => Member, 'teams', { owner: true, onDelete: 'cascade' }) members = collection<Member>()
}
@Record({ set: 'gu_member' })
class Member {
  @Key() id!: number
  @ManyToMany(() => Team, 'members') teams = collection<Team>()
}

@Embeddable()
class Role {
  @Bin() name!: string
}
@Record({ set: 'gu_project' })
class Project {
  @Key() id!: number
  @ManyToMany(() => Task, { onDelete: 'cascade', attributes: () => Role }) tasks = collection<Task, Role>()
}
@Record({ set: 'gu_task' })
class Task {
  @Key() id!: number
}

@Record({ set: 'gu_band' })
class Band {
  @Key() id!: number
  @Sharded({ by: 'hash', shards: 3 })
  @ManyToMany(() => Player, 'bands', { owner: true, onDelete: 'cascade' })
  players = collection<Player>()
}
@Record({ set: 'gu_player' })
class Player {
  @Key() id!: number
  @Companion() @ManyToMany(() => Band, 'players') bands = collection<Band>()
}

@Record({ set: 'gu_choir' })
class Choir {
  @Key() id!: number
  @ManyToMany(() => Singer, 'choirs', { onDelete: 'cascade', attributes: () => Role }) singers = collection<
    Singer,
    Role
  >()
}
@Record({ set: 'gu_singer' })
class Singer {
  @Key() id!: number
  @Sharded({ by: 'hash', shards: 3 })
  @ManyToMany(() => Choir, 'singers', { owner: true, attributes: () => Role })
  choirs = collection<Choir, Role>()
}

@Record({ set: 'gu_shop' })
class Shop {
  @Key() id!: number
  @Companion() @ManyToMany(() => Product, 'shops', { onDelete: 'cascade' }) products = collection<Product>()
}
@Record({ set: 'gu_product' })
class Product {
  @Key() id!: number
  @ManyToMany(() => Shop, 'products', { owner: true }) shops = collection<Shop>()
}

@Record({ set: 'gu_blog' })
class Blog {
  @Key() id!: number
  @Companion() @OneToMany(() => Entry, { strategy: 'keyList', onDelete: 'cascade' }) entries = collection<Entry>()
}
@Record({ set: 'gu_entry' })
class Entry {
  @Key() id!: number
}

interface WithId {
  id: number
}

interface Kind {
  readonly title: string
  readonly parent: EntityClass
  readonly child: EntityClass
  readonly property: string
  /** A child that links back says itself whose it is. */
  readonly isNoteDropped?: boolean
}
const KINDS: readonly Kind[] = [
  { title: 'a one-sided key list', parent: Post, child: Comment, property: 'comments' },
  { title: 'a two-sided key list', parent: Agent, child: Listing, property: 'listings' },
  { title: 'a secondary index', parent: Customer, child: Order, property: 'orders' },
  { title: 'a reference one to one', parent: User, child: Avatar, property: 'avatar' },
  { title: 'a pair owned by the parent', parent: Car, child: Plate, property: 'plate' },
  { title: 'a pair owned by the child', parent: House, child: Roof, property: 'roof' },
  { title: 'a shared key, one-sided', parent: Person, child: Profile, property: 'profile' },
  { title: 'a shared key, two-sided', parent: Account, child: Settings, property: 'settings' },
  { title: 'a one-sided many to many', parent: Album, child: Photo, property: 'photos' },
  { title: 'a two-sided many to many', parent: Team, child: Member, property: 'members', isNoteDropped: true },
  { title: 'links with attributes', parent: Project, child: Task, property: 'tasks' },
  { title: 'links in companions on both sides', parent: Band, child: Player, property: 'players', isNoteDropped: true },
  {
    title: 'links in companions of the child, with attributes',
    parent: Choir,
    child: Singer,
    property: 'singers',
    isNoteDropped: true,
  },
  {
    title: 'links in companions of the parent',
    parent: Shop,
    child: Product,
    property: 'products',
    isNoteDropped: true,
  },
  { title: 'a one-sided key list in companions', parent: Blog, child: Entry, property: 'entries' },
]
const CLASSES = KINDS.flatMap(({ parent, child }) => [parent, child])

const MORE_THAN_ANY = 20

describe('children of a create that was given up', function () {
  this.timeout(60_000)
  let server: EmbeddedServer
  let db: Database
  before(async () => {
    server = await startEmbedded({ namespaces: ['test:ap'] })
    const retry = { attempts: 1 }
    db = await open({ hosts: server.hosts, namespace: 'test', entities: CLASSES, ...PATIENT, retry })
    await db.indexes.sync()
  })
  after(async () => {
    await db?.close()
    await server?.stop()
  })

  /** A new parent with new children, not sent yet. */
  async function begin({ parent, child, property }: Kind): Promise<Session> {
    await emptySets(db, [parent, child])
    const session = db.session()
    const made = session.create(parent as EntityClass<WithId>, { id: 1 })
    const children = [1, 2].map((id) => Object.assign(new (child as new () => WithId)(), { id }))
    const held = (made as never)[property] as Collection<WithId> | Ref<WithId>
    if ('add' in held) held.add(...children)
    else held.set(children[0])
    return session
  }

  const childKeys = async ({ child }: Kind): Promise<string[]> => (await db.scan(child).keys()).map(String).sort()

  /** Bins of the children that say whom they were created for. */
  async function notes({ child }: Kind): Promise<string[]> {
    const { namespace, set } = db.model.entity(child)
    const records = await db.client.query(namespace, set).results()
    return records.flatMap(({ bins }) => Object.keys(bins).filter((bin) => bin.startsWith('_sk.for.')))
  }

  async function findings({ parent, child }: Kind, repair = false): Promise<Finding[]> {
    const found: Finding[] = []
    for await (const finding of db.verify([parent, child], { settle: 0, repair })) found.push(finding)
    return found
  }

  /** Lets the flush fail, deletes the parent as another session would, and expects a finding for each child that stays. */
  async function expectFound(kind: Kind, fault: FaultOptions): Promise<number> {
    const session = await begin(kind)
    const set = await server.faults.add({ namespace: 'test', answer: 4, times: Infinity, ...fault })
    const failed = await session.flush().then(
      () => false,
      () => true,
    )
    const hits = await set.hits()
    await server.faults.clear()
    if (!failed) return hits
    await db.withSession((other) => other.delete(kind.parent as EntityClass<WithId>, 1))
    const left = await childKeys(kind)
    const found = (await findings(kind)).filter(({ className }) => className === kind.child.name)
    expect(found.map(({ key }) => String(key)).sort(), `${JSON.stringify(fault)}`).to.deep.equal(left)
    return hits
  }

  for (const kind of KINDS) {
    it(`are found by verify when another has deleted the parent: ${kind.title}`, async () => {
      let skip = 0
      while ((await expectFound(kind, { skip })) > 0) expect(++skip).to.be.lessThan(MORE_THAN_ANY)
      expect(skip).to.be.greaterThan(1)
    })

    it(`are found by verify when the parent was never stored: ${kind.title}`, async () => {
      await expectFound(kind, { set: db.model.entity(kind.parent).set })
    })

    it(`are no finding once a second flush has linked them: ${kind.title}`, async () => {
      for (let skip = 1, hits = 1; hits > 0; skip++) {
        const session = await begin(kind)
        const set = await server.faults.add({ namespace: 'test', answer: 4, times: Infinity, skip })
        await session.flush().catch(() => undefined)
        hits = await set.hits()
        await server.faults.clear()
        await session.flush()
        expect(await findings(kind)).to.deep.equal([])
        if (kind.isNoteDropped === true) expect(await notes(kind)).to.deep.equal([])
      }
      await db.withSession((other) => other.delete(kind.parent as EntityClass<WithId>, 1))
      expect(await childKeys(kind)).to.deep.equal([])
    })
  }

  it('name their parent, and repair makes them records of their own', async () => {
    const [kind] = KINDS
    const session = await begin(kind)
    await server.faults.add({ set: 'gu_post', answer: 4, times: Infinity, skip: 1 })
    await session.flush().catch(() => undefined)
    await server.faults.clear()
    const [first] = await findings(kind, true)
    expect(first).to.include({ kind: 'unfinishedCreate', className: 'Comment', otherClass: 'Post', otherKey: 1 })
    expect(first).to.include({ repair: 'remove', state: 'repaired', truth: 'Post.comments' })
    expect(first.message).to.match(/^Comment [12] was created for Post 1, whose comments does not lead to it\.$/)
    expect(await findings(kind)).to.deep.equal([])
    expect(await childKeys(kind)).to.deep.equal(['1', '2'])
  })

  it('are told from members that their owner has detached', async () => {
    const lettingGo: [Kind, (entity: never) => void][] = [
      [KINDS[0], (post: Post) => post.comments.remove(...post.comments.items)],
      [KINDS[3], (user: User) => user.avatar.set(null)],
      [KINDS[8], (album: Album) => album.photos.remove(...album.photos.items)],
      [KINDS[10], (project: Project) => project.tasks.remove(...project.tasks.items)],
    ]
    for (const [kind, letGo] of lettingGo) {
      await (await begin(kind)).flush()
      await db.withSession(async (session) => {
        letGo(await session.load<never>(kind.parent as never, 1, { with: [kind.property] as never }))
      })
      expect(await findings(kind), kind.title).to.deep.equal([])
      expect(await childKeys(kind), kind.title).to.not.deep.equal([])
    }
  })
})
