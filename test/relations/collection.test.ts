import { Key, ManyToMany, ManyToOne, OneToMany, Record, SkeinError, collection, ref } from 'skein'
import { expect } from 'chai'
import { inspect } from 'node:util'
import { isCollection, isRef } from '#src/relations/contract/member.js'

@Record({ set: 'agent' })
class Agent {
  @Key() id = 17
  @OneToMany(() => Listing, 'agent') listings = collection<Listing>()
  @ManyToMany(() => Agent, 'followers', { owner: true }) following = collection<Agent>()
  @ManyToMany(() => Agent, 'following') followers = collection<Agent>()
}

@Record({ set: 'listing' })
class Listing {
  @Key() id: string
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
  constructor(id: string) {
    this.id = id
  }
}

async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  const error = await promise.catch((reason: unknown) => reason)
  return error instanceof SkeinError ? error.code : undefined
}

describe('a collection outside a session', () => {
  it('has the members that were added', async () => {
    const { listings } = new Agent()
    const [a, b] = [new Listing('a'), new Listing('b')]
    expect(listings).to.include({ isLoaded: true }).and.have.property('items').that.deep.equals([])
    listings.add(a, b, a)
    expect([...listings]).to.deep.equal([a, b])
    expect(await listings.load()).to.deep.equal([a, b])
    expect(await listings.count()).to.equal(2)
    expect(await listings.contains(b)).to.equal(true)
    expect(await listings.keys()).to.deep.equal(['a', 'b'])
    expect(await listings.page({ offset: 1, count: 5 })).to.deep.equal([b])
    listings.remove(a)
    expect(listings.items).to.deep.equal([b])
    expect(await listings.contains(a)).to.equal(false)
  })

  it('with members known by key says that it is not loaded', async () => {
    const { listings } = new Agent()
    listings.add(new Listing('a'), 'b')
    expect(listings.isLoaded).to.equal(false)
    expect(await listings.keys()).to.deep.equal(['a', 'b'])
    expect(() => listings.items)
      .to.throw(SkeinError, /not loaded.*load\(\)/)
      .with.property('code', 'SKEIN_2402')
    expect(() => [...listings]).to.throw(SkeinError, /not loaded/)
    expect(await codeOf(listings.load())).to.equal('SKEIN_2403')
    expect(await codeOf(listings.page({ count: 1 }))).to.equal('SKEIN_2403')
  })

  it('shows a person its members', () => {
    const agent = new Agent()
    const listing = new Listing('a')
    listing.agent.set(agent)
    agent.listings.add(listing)
    expect(inspect(agent.listings)).to.equal("Collection(1) [ Listing { id: 'a', agent: Ref(17) } ]")
    agent.listings.add('b')
    expect(inspect(agent.listings)).to.equal('Collection(2 members, not loaded)')
  })

  it('is its members in JSON, with the keys of what they refer to; what is not loaded is not there', () => {
    const agent = new Agent()
    const listing = new Listing('a')
    listing.agent.set(agent)
    agent.listings.add(listing)
    expect(JSON.parse(JSON.stringify(agent))).to.deep.equal({
      id: 17,
      listings: [{ id: 'a', agent: 17 }],
      following: [],
      followers: [],
    })
    agent.listings.add('b')
    expect(JSON.parse(JSON.stringify(agent))).not.to.have.property('listings')
  })

  it('survives being printed when the graph comes back to where it began', () => {
    const [a, b] = [new Agent(), new Agent()]
    a.following.add(b)
    b.followers.add(a)
    expect(JSON.parse(JSON.stringify(a.following))).to.deep.equal([{ id: 17 }])
    expect(inspect(a, { depth: null })).to.include('[Circular *1]')
  })

  it('is recognised as what it is', () => {
    expect(isCollection(collection())).to.equal(true)
    expect(isRef(collection())).to.equal(false)
    expect(isCollection([])).to.equal(false)
  })
})
