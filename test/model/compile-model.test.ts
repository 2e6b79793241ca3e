import {
  AfterDelete,
  AfterLoad,
  AfterSave,
  BeforeDelete,
  BeforeSave,
  Bin,
  Counter,
  CreatedAt,
  Embeddable,
  Embedded,
  Generation,
  Index,
  Key,
  SkeinError,
} from 'skein'
import { ManyToMany, ManyToOne, OneToMany, OneToOne, Record, Sharded, Ttl, UpdatedAt, Version } from 'skein'
import { collection, compileModel, ref } from 'skein'
import { expect } from 'chai'

@Record({ set: 'agent' })
class Agent {
  @Key() id!: number
  @Bin() name!: string
  @Version() version?: number
  @OneToMany(() => Listing, 'agent', { strategy: 'keyList', onDelete: 'cascade' })
  listings = collection<Listing>()
}

@Record({ set: 'listing' })
class Listing {
  @Key() id!: string
  @Bin() city!: string
  @Bin() listedAt!: Date
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
}

describe('compileModel', () => {
  it('turns the classes of the README into a model that prints', () => {
    const model = compileModel([Agent, Listing], { namespace: 'test' })
    expect(model.describe()).to.equal(
      [
        'Agent → test.agent',
        '  key       id: int',
        '  bins      id       int (key)',
        '            name     string',
        '            version  int (version)',
        '  relations listings: oneToMany Listing.agent, keyList, onDelete cascade',
        '',
        'Listing → test.listing',
        '  key       id: string',
        '  bins      id        string (key)',
        '            city      string',
        '            listedAt  date',
        '  relations agent: manyToOne Agent.listings, keyBin, owner',
      ].join('\n'),
    )
  })

  it('is found by class and by name, and says so when it is not', () => {
    class Stranger {}
    const model = compileModel([Agent, Listing], { namespace: 'test' })
    expect(model.entity(Agent)).to.equal(model.entity('Agent')).and.equal(model.entities.get('Agent'))
    expect(() => model.entity(Stranger)).to.throw(/Stranger is not part of this model.*entities/)
    expect(() => model.entity('Agnet')).to.throw(/Did you mean 'Agent'\?/)
    expect(() => model.embeddable(Agent)).to.throw(/Agent is a record, not a part/)
  })

  it('says of what is no class what it is, and does not print its text', () => {
    const model = compileModel([Agent, Listing], { namespace: 'test' })
    const given: readonly (readonly [unknown, RegExp])[] = [
      [[Agent, Listing], /^an array of 2 is not a class of this model\. Give one class/],
      [{ Agent }, /^an object is not a class/],
      [new Agent(), /^a Agent is not a class/],
      [() => Agent, /^a function is not a class/],
      [undefined, /^undefined is not a class/],
      ['x'.repeat(1000), /^x{100}… \(1000 characters\) is not part/],
    ]
    for (const [wrong, message] of given) expect(() => model.entity(wrong as never)).to.throw(SkeinError, message)
  })

  it('is frozen all the way down', () => {
    const model = compileModel([Agent, Listing], { namespace: 'test' })
    const agent = model.entity(Agent)
    expect(agent).to.be.frozen
    expect(agent.properties).to.be.frozen
    expect(agent.properties[0].type).to.be.frozen
    expect(agent.relations[0]).to.be.frozen
    expect(agent.hooks.beforeSave).to.be.frozen
    expect(model).to.be.frozen
  })

  it('numbers properties and relations for the loaded-mask', () => {
    const { properties, relations } = compileModel([Agent, Listing], { namespace: 'test' }).entity(Agent)
    expect(properties.map(({ index }) => index)).to.deep.equal([0, 1, 2])
    expect(relations.map(({ index }) => index)).to.deep.equal([3])
  })

  it('knows what a class says about its records', () => {
    @Record({
      set: 's',
      namespace: 'ssd',
      ttl: { seconds: 60, onUpdate: 'refresh' },
      sendKey: true,
      durableDelete: true,
    })
    class Session {
      @Key({ generate: 'sortable' }) id!: string
      @CreatedAt() createdAt?: Date
      @UpdatedAt({ name: 'changed' }) updatedAt?: Date
      @Generation() generation?: number
      @Ttl() ttl?: number
      @Counter() hits = 0
      @BeforeSave() normalise() {}
      @AfterLoad() first() {}
      @AfterLoad() second() {}
      @AfterSave() @BeforeDelete() @AfterDelete() log() {}
    }
    const model = compileModel([Session], { namespace: 'test' })
    expect(model.entity(Session)).to.deep.include({
      namespace: 'ssd',
      set: 's',
      ttl: { seconds: 60, onUpdate: 'refresh' },
      sendKey: true,
      durableDelete: true,
      createdAt: 'createdAt',
      updatedAt: 'updatedAt',
      generationProperty: 'generation',
      ttlProperty: 'ttl',
    })
    expect(model.entity(Session).hooks).to.deep.equal({
      beforeSave: ['normalise'],
      afterSave: ['log'],
      afterLoad: ['first', 'second'],
      beforeDelete: ['log'],
      afterDelete: ['log'],
    })
    expect(model.entity(Session).properties.map(({ bin, role }) => `${bin} ${role}`)).to.deep.equal([
      'id key',
      'createdAt createdAt',
      'changed updatedAt',
      'hits counter',
    ])
    expect(model.describe()).to.include('60 s, renewed by every write')
  })

  it('embeds parts as a map, as an array, as a Map and as bins', () => {
    @Embeddable()
    class Street {
      @Bin() name!: string
    }
    @Embeddable()
    class Address {
      @Bin() city!: string
      @Embedded(() => Street) street?: Street
      @Embedded(() => Address, { as: 'array' }) nested!: Address[]
    }
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Embedded(() => Address) one?: Address
      @Embedded(() => Address, { as: 'array' }) many!: Address[]
      @Embedded(() => Address, { as: 'map', key: 'int' }) byYear!: Map<number, Address>
      @Embedded(() => Address, { layout: 'bins', prefix: 'a.' }) flat?: Address
    }
    const model = compileModel([A], { namespace: 'test' })
    const [, one, many, byYear, flat] = model.entity(A).properties.map(({ type }) => type)
    expect(one).to.deep.equal({ kind: 'embedded', shape: 'one', part: 'Address' })
    expect(many).to.deep.equal({ kind: 'embedded', shape: 'array', part: 'Address' })
    expect(byYear).to.deep.equal({ kind: 'embedded', shape: 'map', key: 'int', part: 'Address' })
    expect(flat).to.deep.include({ kind: 'embedded', shape: 'bins', part: 'Address' })
    expect(flat)
      .to.have.property('fields')
      .that.deep.equals([
        { name: 'city', bin: 'a.city', type: { kind: 'string' } },
        { name: 'street', bin: 'a.street', type: { kind: 'embedded', shape: 'one', part: 'Street' } },
        { name: 'nested', bin: 'a.nested', type: { kind: 'embedded', shape: 'array', part: 'Address' } },
      ])
    expect([...model.embeddables.keys()]).to.deep.equal(['Address', 'Street'])
  })

  it('knows the strategies, owners and indexes of relations', () => {
    @Embeddable()
    class Comment {
      @Key() id!: string
      @Bin() at!: Date
      @ManyToOne(() => User) author = ref<User>()
    }
    @Embeddable()
    class Follow {
      @Bin() since!: Date
    }
    @Record({ set: 'user' })
    class User {
      @Key() id!: number
      @OneToMany(() => Post, 'author', { strategy: 'secondaryIndex', indexName: 'posts_by_author' })
      posts = collection<Post>()
      @ManyToMany(() => User, 'followers', { owner: true, attributes: () => Follow }) following = collection<
        User,
        Follow
      >()
      @ManyToMany(() => User, 'following', { attributes: () => Follow }) followers = collection<User, Follow>()
      @OneToOne(() => Avatar, 'user', { strategy: 'sharedKey', owner: true, onDelete: 'cascade' }) avatar =
        ref<Avatar>()
    }
    @Record({ set: 'avatar', namespace: 'big' })
    class Avatar {
      @Key() id!: number
      @OneToOne(() => User, 'avatar', { strategy: 'sharedKey' }) user = ref<User>()
    }
    @Record({ set: 'post' })
    class Post {
      @Key() id!: string
      @ManyToOne(() => User, 'posts', { name: 'by', eager: true }) author = ref<User>()
      @Index() @ManyToOne(() => User) editor = ref<User>()
      @Sharded({ by: 'day', on: 'at' })
      @OneToMany(() => Comment, {
        strategy: 'consolidate',
        name: 'c',
        sortKey: ['at'],
        inverseIndex: { author: { onTargetDelete: 'delete' } },
      })
      comments = collection<Comment>()
    }
    const model = compileModel([User, Avatar, Post], { namespace: 'test' })
    const relation = (name: string) =>
      [...model.entities.values()].flatMap(({ relations }) => relations).find((each) => each.name === name)
    expect(relation('posts')).to.deep.include({ strategy: 'secondaryIndex', owner: false }).and.not.have.property('bin')
    expect(relation('following')).to.deep.include({ strategy: 'linkMap', owner: true, attributes: 'Follow' })
    expect(relation('followers')).to.deep.include({ strategy: 'linkMap', owner: false, bin: 'followers' })
    expect(relation('avatar')).to.deep.include({ strategy: 'sharedKey', owner: true, onDelete: 'cascade' })
    expect(relation('author')).to.deep.include({ bin: 'by', owner: true, eager: true, inverse: 'posts' })
    expect(relation('comments')).to.deep.include({
      strategy: 'consolidate',
      bin: 'c',
      sortKey: ['at'],
      sortKeyBin: 'c.ids',
      inverseIndexes: [{ ref: 'author', bin: 'c_author', onTargetDelete: 'delete' }],
      sharding: { by: 'day', on: 'at' },
    })
    expect(model.entity(Post).indexes).to.deep.equal([
      { name: 'posts_by_author', bin: 'by', on: 'value', type: 'numeric', property: 'author' },
      { name: 'post_editor', bin: 'editor', on: 'value', type: 'numeric', property: 'editor' },
      {
        name: 'post_c_c_author_keys',
        set: 'post_c',
        bin: 'c_author',
        on: 'mapKeys',
        type: 'numeric',
        property: 'comments',
      },
    ])
    expect(model.embeddable(Comment).relations[0]).to.deep.include({
      strategy: 'keyBin',
      target: 'User',
      bin: 'author',
    })
    expect([...model.embeddables.keys()]).to.have.members(['Comment', 'Follow'])
  })
})
