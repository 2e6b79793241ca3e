import { Exclude, Expose, Transform, Type } from 'class-transformer'
import { expect } from 'chai'
import {
  Bin,
  collection,
  compileModel,
  Embeddable,
  Embedded,
  fromPlain,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  SkeinError,
  toPlain,
  type Collection,
  type Ref,
} from 'skein'
import { compileCodecs } from '#src/codec/index.js'

@Embeddable()
class Address {
  @Bin() city?: string
  @Bin() since?: Date
  @Exclude() @Bin() secret?: string
}

@Record({ set: 'agent' })
class Agent {
  @Key({ type: 'bigint' }) id!: bigint
  @Expose({ name: 'fullName' }) @Bin() name!: string
  @Exclude({ toPlainOnly: true }) @Bin() password?: string
  @Transform(({ value }) => (value as string[] | undefined)?.join(','), { toPlainOnly: true })
  @Transform(({ value }) => (value as string | undefined)?.split(','), { toClassOnly: true })
  @Bin({ type: { list: 'string' } })
  roles?: string[]
  @Bin() born?: Date
  @Type(() => Date) @Bin() hired?: Date
  @Bin({ type: 'bytes' }) photo?: Buffer
  @Bin({ type: { set: 'date' } }) days?: Set<Date>
  @Bin({ type: { map: 'bigint', key: 'int' } }) sums?: Map<number, bigint>
  @Embedded(() => Address) home?: Address
  @Embedded(() => Address, { as: 'array' }) former?: Address[]
  @Embedded(() => Address, { as: 'map' }) places?: Map<string, Address>
  @OneToMany(() => Listing, 'agent') listings: Collection<Listing> = collection<Listing>()
}

@Record({ set: 'listing' })
class Listing {
  @Key() id: string
  @Bin() city?: string
  @ManyToOne(() => Agent, 'listings') agent: Ref<Agent> = ref<Agent>()
  constructor(id: string) {
    if (id === undefined) throw new Error('called')
    this.id = id
  }
}

@Record({ set: 'crate' })
class Crate {
  @Key() id!: number
  @Bin({ type: { list: 'string' } }) tags: string[] = []
}

compileCodecs(compileModel([Agent, Listing, Crate], { namespace: 'test' }), {
  relations: (_owner, { holds }) => (holds === 'ref' ? ref() : collection()),
})
const make = <T extends object>(entity: T, values: Partial<T>): T => Object.assign(entity, values)

const ada = (): Agent =>
  make(new Agent(), {
    id: 2n ** 60n,
    name: 'Ada',
    password: 'secret',
    roles: ['admin', 'dev'],
    born: new Date('1815-12-10'),
    hired: new Date('2024-01-01'),
    photo: Buffer.from([1, 2]),
    days: new Set([new Date(5)]),
    sums: new Map([[7, 5n]]),
    home: make(new Address(), { city: 'London', since: new Date(9), secret: 'x' }),
    former: [make(new Address(), { city: 'Rome' })],
    places: new Map([['lake', make(new Address(), { city: 'Como' })]]),
  })

describe('toPlain', () => {
  it('gives data that JSON takes, with class-transformer’s decorators respected', () => {
    const plain = JSON.parse(JSON.stringify(toPlain(ada()))) as object
    expect(plain).to.deep.equal({
      id: '1152921504606846976',
      fullName: 'Ada',
      roles: 'admin,dev',
      born: '1815-12-10T00:00:00.000Z',
      hired: '2024-01-01T00:00:00.000Z',
      photo: 'AQI=',
      days: ['1970-01-01T00:00:00.005Z'],
      sums: { 7: '5' },
      home: { city: 'London', since: '1970-01-01T00:00:00.009Z' },
      former: [{ city: 'Rome' }],
      places: { lake: { city: 'Como' } },
      listings: [],
    })
  })

  it('shows relations as keys unless told otherwise', () => {
    const [agent, house] = [make(new Agent(), { id: 7n, name: 'Ada' }), make(new Listing('a'), { city: 'Rome' })]
    house.agent.set(agent)
    agent.listings.add(house)
    expect(toPlain(house)).to.deep.equal({ id: 'a', city: 'Rome', agent: '7' })
    expect(toPlain(agent)).to.deep.equal({ id: '7', fullName: 'Ada', listings: ['a'] })
    expect(toPlain(house, { relations: 'none' })).to.deep.equal({ id: 'a', city: 'Rome' })
  })

  it('shows loaded relations nested when asked, and keys where the graph comes back', () => {
    const [agent, house] = [make(new Agent(), { id: 7n, name: 'Ada' }), make(new Listing('a'), { city: 'Rome' })]
    house.agent.set(agent)
    agent.listings.add(house)
    expect(toPlain(agent, { relations: 'nested' })).to.deep.equal({
      id: '7',
      fullName: 'Ada',
      listings: [{ id: 'a', city: 'Rome', agent: '7' }],
    })
  })

  it('shows an entity that has no key yet as null', () => {
    const house = new Listing('a')
    house.agent.set(new Agent())
    expect(toPlain(house)).to.deep.equal({ id: 'a', agent: null })
  })

  it('shows a ref that is not loaded by its key, and leaves out a collection that is not', () => {
    const house = new Listing('a')
    house.agent.set(9n)
    expect(toPlain(house, { relations: 'nested' })).to.deep.equal({ id: 'a', agent: '9' })
    const agent = make(new Agent(), { id: 7n, name: 'Ada' })
    agent.listings.add('a')
    expect(toPlain(agent)).to.deep.equal({ id: '7', fullName: 'Ada' })
  })

  it('passes options on to class-transformer', () => {
    const plain = toPlain(make(new Agent(), { id: 7n, name: 'Ada' }), { transform: { excludePrefixes: ['i'] } })
    expect(plain).to.not.have.property('id')
  })

  it('does not touch the entity', () => {
    const agent = ada()
    toPlain(agent, { relations: 'nested' })
    expect(agent).to.deep.equal(ada())
  })

  it('says so when the class belongs to no model', () => {
    class Stranger {}
    expect(() => toPlain(new Stranger())).to.throw(SkeinError, /Stranger is not a class of any model.*open\(\)/)
  })
})

describe('fromPlain', () => {
  it('is the inverse of toPlain, through JSON', () => {
    const agent = ada()
    agent.home!.secret = undefined
    const again = fromPlain(Agent, JSON.parse(JSON.stringify(toPlain(agent))) as object, { relations: 'keys' })
    expect(again).to.be.instanceOf(Agent)
    expect(again.home).to.be.instanceOf(Address)
    expect(again.places!.get('lake')).to.be.instanceOf(Address)
    expect({ ...again, listings: 0 }).to.deep.equal({ ...agent, password: undefined, listings: 0 })
  })

  it('keeps what decorators exclude out', () => {
    const agent = fromPlain(Agent, { id: '7', fullName: 'Ada', home: { city: 'Rome', secret: 'x' } })
    expect(agent.home!.secret).to.equal(undefined)
  })

  it('takes relations as keys or, when asked, as objects', () => {
    const house = fromPlain(Listing, { id: 'a', agent: '7' }, { relations: 'keys' })
    expect(house).to.be.instanceOf(Listing)
    expect(house.agent.key).to.equal(7n)
    const body = { id: 'a', agent: { id: '7', fullName: 'Ada' } }
    expect(fromPlain(Listing, body, { relations: 'nested' }).agent.value)
      .to.be.instanceOf(Agent)
      .and.include({ id: 7n, name: 'Ada' })
    expect(() => fromPlain(Listing, body, { relations: 'keys' })).to.throw(SkeinError, /'agent' takes a key of Agent/)
  })

  it('fills collections with objects when asked', () => {
    const body = { id: '7', listings: [{ id: 'a', city: 'Rome' }] }
    const agent = fromPlain(Agent, body, { relations: 'nested' })
    expect(agent.listings.items[0]).to.be.instanceOf(Listing).and.include({ id: 'a', city: 'Rome' })
  })

  it('refuses relations and names that nobody asked for', () => {
    const wrong: [data: object, options: object, message: RegExp][] = [
      [{ id: '7', listings: ['a'] }, {}, /Agent: the data holds the relation 'listings'/],
      [{ id: '7', isAdmin: true }, {}, /Agent: it has no stored property 'isAdmin'/],
      [{ id: '7', home: { city: 'Rome', owner: 1 } }, {}, /Address: it has no stored property 'owner'/],
      [{ id: '7', fullName: 'A' }, { only: ['id'] }, /Agent: 'name' is not one of/],
      [{ id: '7', born: 5 }, { only: ['id'] }, /Agent: 'born' is not one of/],
      [{ id: '7', listings: ['a'] }, { only: ['id'], relations: 'keys' }, /Agent: 'listings' is not one of/],
      [{ id: '7' }, { onyl: ['id'] }, /does not know the option 'onyl'. Did you mean 'only'/],
      [{ id: '7' }, { only: 'id' }, /only takes a list/],
      [{ id: '7' }, { relations: 'all' }, /"all" is not a valid value for the option relations/],
      [{ id: '7', listings: 5 }, { relations: 'keys' }, /'listings' takes a list, not 5/],
      [{ id: '7', listings: [null] }, { relations: 'keys' }, /'listings' takes a key of Listing, not null/],
      [{ id: '7', listings: [['a']] }, { relations: 'keys' }, /'listings' takes a key of Listing, not an array/],
    ]
    for (const [data, options, message] of wrong) {
      expect(() => fromPlain(Agent, data, options), JSON.stringify([data, options])).to.throw(SkeinError, message)
    }
    expect(() => fromPlain(Crate, { id: 1, tags: { length: 1e9 } })).to.throw(
      SkeinError,
      /'tags' takes a list, not an object/,
    )
    expect(fromPlain(Agent, { id: '7', fullName: 'A' }, { only: ['id', 'name'] }).name).to.equal('A')
    expect(fromPlain(Agent, { id: '7', x: 1 }, { transform: { excludeExtraneousValues: true } })).to.not.have.property(
      'x',
    )
  })

  it('refuses what is not an object, too deep, circular, or stands for a class or a prototype', () => {
    const circular: { home?: object } = {}
    circular.home = circular
    const deep = JSON.parse('['.repeat(5000) + ']'.repeat(5000)) as unknown
    const data: unknown[] = [null, 5, 'text', [1, 2], undefined, circular, { roles: deep }]
    for (const text of [
      '{"constructor":{}}',
      '{"__proto__":{}}',
      '{"home":{"constructor":1}}',
      '{"sums":{"__proto__":1}}',
    ])
      data.push(JSON.parse(text))
    for (const each of data) {
      expect(() => fromPlain(Agent, each as object))
        .to.throw(SkeinError)
        .with.property('code', 'SKEIN_2205')
    }
  })

  it('leaves what it cannot convert as it is, for save to refuse', () => {
    const agent = fromPlain(Agent, { id: 'x', born: 'someday', sums: 5 })
    expect(agent).to.include({ id: 'x', born: 'someday', sums: 5 })
  })
})
