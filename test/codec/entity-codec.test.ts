import { expect } from 'chai'
import {
  Bin,
  collection,
  compileModel,
  Counter,
  CreatedAt,
  Generation,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  SkeinError,
  Ttl,
  UpdatedAt,
  Version,
  type Collection,
  type Ref,
} from 'skein'
import { compileCodecs, type RelationFactory } from '#src/codec/index.js'
import { versionIs, type Bins } from '#src/plan/command.js'
import * as op from '#src/plan/operations.js'
import { entityOf, modelOf } from './build-model.js'

const namespace = 'test'

describe('an instance', () => {
  it('is made by the constructor when that takes no arguments', () => {
    let calls = 0
    @Record({ set: 'plain' })
    class Plain {
      @Key() id!: number
      @Bin() name?: string = 'initial'
      transient = ++calls
    }
    const codec = compileCodecs(compileModel([Plain], { namespace })).entity(Plain)
    const entity = codec.hydrate({ id: 1, name: 'Ada' })
    expect(entity).to.be.instanceOf(Plain).and.deep.include({ id: 1, name: 'Ada', transient: 1 })
  })

  it('is made without the constructor when that asks for arguments', () => {
    @Record({ set: 'strict' })
    class Strict {
      @Key() id: number
      @Bin() name?: string
      constructor(id: number) {
        if (id === undefined) throw new Error('called')
        this.id = id
      }
      greet(): string {
        return `Hi ${this.name}`
      }
    }
    const codec = compileCodecs(compileModel([Strict], { namespace })).entity(Strict)
    expect(codec.hydrate({ id: 1, name: 'Ada' }).greet()).to.equal('Hi Ada')
  })

  it('has no value where the record has none, whatever the initialiser says', () => {
    @Record({ set: 'initial' })
    class Initial {
      @Key() id!: number
      @Bin({ type: { list: 'string' } }) tags?: string[] = ['initial']
    }
    const codec = compileCodecs(compileModel([Initial], { namespace })).entity(Initial)
    const entity = codec.hydrate({ id: 1 })
    expect(entity.tags).to.equal(undefined)
    expect(codec.diff(entity, codec.snapshot(entity))).to.deep.equal([])
  })

  it('shows nothing in the console or in JSON that the class does not have', () => {
    @Record({ set: 'shown' })
    class Shown {
      @Key() id!: number
    }
    const codec = compileCodecs(compileModel([Shown], { namespace })).entity(Shown)
    const entity = codec.hydrate({ id: 1, other: 2 })
    codec.snapshot(entity)
    expect(Reflect.ownKeys(entity)).to.deep.equal(['id'])
  })
})

@Record({ set: 'agent' })
class Agent {
  @Key() id!: number
  @Bin() name?: string
  @OneToMany(() => Listing, 'agent', { strategy: 'keyList' }) listings: Collection<Listing> = collection<Listing>()
}
@Record({ set: 'listing' })
class Listing {
  @Key() id: string
  @Bin() city?: string
  @ManyToOne(() => Agent, 'listings') agent: Ref<Agent> = ref<Agent>()
  constructor(id: string) {
    this.id = id
  }
}

describe('relations', () => {
  const seen: unknown[] = []
  const relations: RelationFactory = (owner, relation, stored, isLoaded) => {
    seen.push([owner.constructor.name, relation.name, stored, isLoaded])
    return { of: relation.name, stored }
  }
  const codecs = compileCodecs(compileModel([Agent, Listing], { namespace }), { relations })
  beforeEach(() => seen.splice(0))

  it('are attached whether or not the constructor was called', () => {
    expect(codecs.entity(Agent).hydrate({ id: 1, listings: ['a'] }).listings).to.deep.equal({
      of: 'listings',
      stored: ['a'],
    })
    expect(codecs.entity(Listing).hydrate({ id: 'a', agent: 1 }).agent).to.deep.equal({ of: 'agent', stored: 1 })
    expect(seen).to.deep.equal([
      ['Agent', 'listings', ['a'], true],
      ['Listing', 'agent', 1, true],
    ])
  })

  it('know when they were left out of a partial load', () => {
    codecs.entity(Agent).hydrate({ id: 1 }, new Set(['id', 'name']))
    expect(seen).to.deep.equal([['Agent', 'listings', undefined, false]])
  })

  it('are attached alone when a partial entity is completed', () => {
    const codec = codecs.entity(Agent)
    const agent = codec.hydrate({ id: 1, listings: ['a'] }, new Set(['id', 'listings']))
    const { listings } = agent
    const snapshot = codec.snapshot(agent)
    codec.complete(agent, snapshot, { id: 1, name: 'Ada', listings: ['b'] }, new Set(['name']))
    expect(agent.name).to.equal('Ada')
    expect(agent.listings).to.equal(listings)
    expect(codec.diff(agent, snapshot)).to.deep.equal([])
  })
})

describe('a partial load', () => {
  const codec = compileCodecs(compileModel([Agent, Listing], { namespace })).entity(Listing)

  it('asks for the bins it needs', () => {
    expect(codec.binsOf(['city'])).to.deep.equal(['id', 'city'])
    expect(codec.binsOf(['agent'])).to.deep.equal(['id', 'agent'])
  })

  it('never writes what it left out, and says so when it was set', () => {
    const loaded = new Set(['id'])
    const listing = codec.hydrate({ id: 'a' }, loaded)
    const snapshot = codec.snapshot(listing)
    expect(codec.diff(listing, snapshot, loaded)).to.deep.equal([])
    listing.city = 'Rome'
    expect(() => codec.diff(listing, snapshot, loaded))
      .to.throw(SkeinError, /Listing "a": 'city' was set, but it was not loaded.*Refresh/)
      .with.property('code', 'SKEIN_2202')
  })
})

describe('a discriminator', () => {
  @Record({ set: 'animal', discriminator: 'kind' })
  abstract class Animal {
    @Key() id!: number
    @Bin() name?: string
  }
  @Record({ discriminatorValue: 'dog' })
  class Dog extends Animal {
    @Bin() tricks?: number
  }
  @Record({ discriminatorValue: 'cat' })
  class Cat extends Animal {
    @Bin() lives?: number
  }
  @Record({ discriminatorValue: 'puppy' })
  class Puppy extends Dog {}
  const codecs = compileCodecs(compileModel([Animal, Dog, Cat, Puppy], { namespace }))

  it('gives the right subclass when the base class is loaded', () => {
    const dog = codecs.entity(Animal).hydrate({ id: 1, name: 'Rex', tricks: 3, kind: 'dog' })
    expect(dog).to.be.instanceOf(Dog).and.deep.include({ name: 'Rex', tricks: 3 })
    expect(codecs.entity(Animal).hydrate({ id: 1, kind: 'cat' })).to.be.instanceOf(Cat)
    expect(codecs.entity(Dog).hydrate({ id: 1, kind: 'puppy' })).to.be.instanceOf(Puppy)
    expect(codecs.of(dog).model.name).to.equal('Dog')
  })

  it('is stored with the entity', () => {
    const dog = Object.assign(new Dog(), { id: 1, tricks: 3 })
    expect(codecs.of(dog).dehydrate(dog)).to.deep.equal({ kind: 'dog', id: 1, tricks: 3 })
    expect(codecs.of(dog).create(dog)[0]).to.deep.equal(op.writeBin('kind', 'dog'))
    expect(codecs.of(dog).binsOf(['tricks'])).to.include('kind')
  })

  it('refuses a record of another class, or of none', () => {
    const load = (kind?: string) => () => codecs.entity(Dog).hydrate({ id: 1, ...(kind && { kind }) })
    expect(load('cat'))
      .to.throw(SkeinError, /Dog 1 has "cat" in its bin 'kind'/)
      .with.property('code', 'SKEIN_3102')
    expect(load()).to.throw(SkeinError, /Dog 1 has no bin 'kind'/)
  })
})

describe('version, times, generation and time to live', () => {
  @Record({ set: 'doc' })
  class Doc {
    @Key() id!: number
    @Bin() text?: string
    @Version() version?: number
    @CreatedAt() created?: Date
    @UpdatedAt() updated?: Date
    @Generation() generation?: number
    @Ttl() ttl?: number | null
    @Counter() reads?: number
  }
  const codec = compileCodecs(compileModel([Doc], { namespace })).entity(Doc)
  const now = new Date(1_700_000_000_000)

  it('start with the record', () => {
    const doc = Object.assign(new Doc(), { id: 1, text: 'x' })
    expect([...codec.create(doc), ...codec.stamps.creation(doc, now)]).to.deep.equal([
      op.writeBin('id', 1),
      op.writeBin('text', 'x'),
      op.writeBin('version', 1),
      op.writeBin('created', now.getTime()),
      op.writeBin('updated', now.getTime()),
    ])
    codec.stamps.created(doc, now)
    expect(doc).to.deep.include({ version: 1, created: now, updated: now })
  })

  it('keep a time of creation that the entity already has', () => {
    const doc = Object.assign(new Doc(), { id: 1, created: new Date(5) })
    expect(codec.stamps.creation(doc, now)[1]).to.deep.equal(op.writeBin('created', 5))
    codec.stamps.created(doc, now)
    expect(doc.created).to.deep.equal(new Date(5))
  })

  it('go with every update, but are not a change themselves', () => {
    const doc = codec.hydrate({ id: 1, version: 4, created: 5, updated: 6 })
    const snapshot = codec.snapshot(doc)
    Object.assign(doc, { version: 9, created: now, updated: now })
    expect(codec.diff(doc, snapshot)).to.deep.equal([])
    expect(codec.stamps.update(4, now)).to.deep.equal({
      operations: [op.addToBin('version', 1), op.writeBin('updated', now.getTime())],
      guards: [versionIs('version', 4)],
    })
    codec.stamps.updated(doc, 4, now)
    expect(doc).to.deep.include({ version: 5, updated: now })
  })

  it('guard a record that was stored without a version', () => {
    expect(codec.stamps.update(undefined, now).guards).to.deep.equal([versionIs('version', null)])
  })

  it('show what the record says of itself, and are not stored', () => {
    const doc = codec.hydrate({ id: 1 }, undefined, { generation: 7, ttl: null })
    expect(doc).to.deep.include({ generation: 7, ttl: null })
    codec.fill(doc, { id: 1 }, undefined, { generation: 8, ttl: 60 })
    expect(doc).to.deep.include({ generation: 8, ttl: 60 })
    expect(codec.dehydrate(doc)).to.deep.equal({ id: 1, reads: 0 })
  })

  it('leave a counter without a bin at zero', () => {
    expect(codec.hydrate({ id: 1 }).reads).to.equal(0)
    expect(codec.hydrate({ id: 1 }, new Set(['id'])).reads).to.equal(undefined)
  })
})

describe('a class that is not mapped itself', () => {
  const codecs = compileCodecs(compileModel([Agent, Listing], { namespace }))

  it('is stored like the class it extends', () => {
    class Trainee extends Agent {}
    expect(codecs.of(new Trainee()).model.name).to.equal('Agent')
  })

  it('is refused when it extends none', () => {
    class Stranger {}
    expect(() => codecs.of(new Stranger())).to.throw(SkeinError, /Stranger is not part of this model/)
  })
})

describe('a snapshot', () => {
  const codec = compileCodecs(compileModel([Agent, Listing], { namespace })).entity(Agent)

  it('can be moved forward for some bins alone', () => {
    const agent = codec.hydrate({ id: 1, name: 'Ada' })
    const snapshot = codec.snapshot(agent)
    agent.name = 'Eve'
    const newer = codec.snapshot(agent)
    codec.advance(snapshot, newer, new Set(['id']))
    expect(codec.hasChanged(agent, snapshot)).to.equal(true)
    codec.advance(snapshot, newer, new Set(['name']))
    expect(codec.hasChanged(agent, snapshot)).to.equal(false)
  })
})

describe('a key', () => {
  @Record({ set: 'order', key: 'tenant:{tenant}:order:{orderId}', tenant: true })
  class Order {
    @Bin() tenant!: string
    @Bin() orderId!: number
    @Bin() note?: string
  }
  @Record({ set: 'item', key: '{order}:item:{line}' })
  class Item {
    @ManyToOne(() => Order) order: Ref<Order> = ref<Order>()
    @Bin() line!: number
  }
  @Record({ set: 'reading', key: 'sensor:{sensor}:{at|YYYY-MM-DD}' })
  class Reading {
    @Bin() sensor!: number
    @Bin() at!: Date
  }
  @Record({ set: 'user' })
  class User {
    @Key({ generate: 'uuid' }) id!: string
  }
  @Record({ set: 'account' })
  class Account {
    @Key({ generate: { hash: ['tenant', 'email'] } }) id!: string
    @Bin() tenant!: string
    @Bin() email!: string
  }
  const codecs = compileCodecs(compileModel([Order, Item, Reading, User, Account], { namespace }))
  const make = <T extends object>(type: new () => T, values: object): T => Object.assign(new type(), values)

  it('is made of the properties that the template names', () => {
    expect(codecs.entity(Order).key.keyOf(make(Order, { tenant: 'acme', orderId: 7 }))).to.equal('tenant:acme:order:7')
    expect(codecs.entity(Order).key.scheme.toKey({ orderId: 7 }, 'acme')).to.equal('tenant:acme:order:7')
  })

  it('of a child begins with the key of its parent', () => {
    const item = make(Item, { line: 3 })
    item.order.set('tenant:acme:order:7')
    expect(codecs.entity(Item).key.keyOf(item)).to.equal('tenant:acme:order:7:item:3')
    expect({ ...codecs.entity(Item).key.scheme.parts('tenant:acme:order:7:item:3') }).to.deep.equal({
      order: 'tenant:acme:order:7',
      line: 3,
    })
  })

  it('may keep its slice of time while the time in it changes', () => {
    const codec = codecs.entity(Reading)
    const reading = make(Reading, { sensor: 7, at: new Date('2024-05-06T01:00:00Z') })
    const snapshot = codec.snapshot(reading)
    reading.at = new Date('2024-05-06T02:00:00Z')
    expect(codec.diff(reading, snapshot)).to.deep.equal([op.writeBin('at', reading.at.getTime())])
    reading.at = new Date('2024-05-07T02:00:00Z')
    expect(() => codec.diff(reading, snapshot)).to.throw(
      SkeinError,
      /"sensor:7:2024-05-06" was changed to "sensor:7:2024-05-07"/,
    )
  })

  it('is generated for a new entity that has none', () => {
    const user = new User()
    codecs.entity(User).key.generate(user)
    expect(user.id).to.match(/^[0-9a-f-]{36}$/)
    const named = make(User, { id: 'mine' })
    codecs.entity(User).key.generate(named)
    expect(named.id).to.equal('mine')
  })

  it('can be a hash of named properties', () => {
    const [one, other] = [1, 2].map(() => make(Account, { tenant: 'acme', email: 'ada@example.org' }))
    for (const account of [one, other]) codecs.entity(Account).key.generate(account)
    expect(one.id).to.have.length(22).and.equal(other.id)
  })

  it('can be put on an entity that was read without it', () => {
    const order = new Order()
    codecs.entity(Order).key.assign(order, 'tenant:acme:order:7')
    expect(order).to.deep.include({ tenant: 'acme', orderId: 7 })
  })
})

describe('names', () => {
  it('are only names, whatever they look like', () => {
    class Odd {}
    const hostile = 'a"];process.exit()//'
    const specs = Object.fromEntries(
      [hostile, '__proto__', 'constructor'].map((name) => [name, { type: { kind: 'string' } as const }]),
    )
    Object.defineProperty(specs, '__proto__', { value: { type: { kind: 'string' } }, enumerable: true })
    const model = modelOf([entityOf(Odd, { id: { type: { kind: 'int' }, role: 'key' }, ...specs })])
    for (const generate of [true, false]) {
      const codec = compileCodecs(model, { generate }).entity(Odd)
      const bins = JSON.parse(JSON.stringify({ id: 1, [hostile]: 'x', ['__proto__']: 'y', constructor: 'z' })) as Bins
      const entity = codec.hydrate(bins)
      expect(Object.getPrototypeOf(entity)).to.equal(Odd.prototype)
      expect(Object.entries(entity).sort()).to.deep.equal(Object.entries(bins).sort())
      expect(Object.entries(codec.dehydrate(entity)).sort()).to.deep.equal(Object.entries(bins).sort())
      expect(codec.hydrate({ id: 1 })).to.have.own.property('constructor', undefined)
    }
  })
})
