import { Key, ManyToOne, Record, SkeinError, ref } from 'skein'
import { expect } from 'chai'
import { inspect } from 'node:util'
import { isCollection, isRef } from '#src/relations/contract/member.js'

@Record({ set: 'agent' })
class Agent {
  @Key() id?: number | bigint
  constructor(id?: number | bigint) {
    this.id = id
  }
}

@Record({ set: 'listing' })
class Listing {
  @Key() id = 'r1'
  @ManyToOne(() => Agent) agent = ref<Agent>()
}

describe('a ref outside a session', () => {
  it('begins empty, which is known without loading', async () => {
    const { agent } = new Listing()
    expect(agent).to.deep.include({ key: null, value: null, isLoaded: true })
    expect(await agent.load()).to.equal(null)
  })

  it('can be set to an entity and knows its key', async () => {
    const { agent } = new Listing()
    const ada = new Agent(17)
    agent.set(ada)
    expect(agent.key).to.equal(17)
    expect(agent.value).to.equal(ada)
    expect(await agent.load()).to.equal(ada)
    agent.set(null)
    expect(agent).to.include({ key: null, value: null })
  })

  it('can be set to a key, and then says that it is not loaded', async () => {
    const { agent } = new Listing()
    agent.set(17)
    expect(agent).to.include({ key: 17, isLoaded: false })
    expect(() => agent.value)
      .to.throw(SkeinError, /The reference to 17 is not loaded.*load\(\)/)
      .with.property('code', 'SKEIN_2401')
    const error = await agent.load().catch((reason: unknown) => reason)
    expect(error).to.be.instanceOf(SkeinError).and.have.property('code', 'SKEIN_2403')
  })

  it('shows a person its key', () => {
    const listing = new Listing()
    expect(inspect(listing)).to.equal("Listing { id: 'r1', agent: Ref(null) }")
    listing.agent.set(new Agent())
    expect(inspect(listing.agent)).to.equal('Ref(new)')
    listing.agent.set(new Agent(17))
    expect(inspect(listing.agent)).to.equal('Ref(17)')
    listing.agent.set('a17')
    expect(inspect(listing.agent)).to.equal('Ref("a17", not loaded)')
  })

  it('is its key in JSON', () => {
    const listing = new Listing()
    expect(JSON.stringify(listing)).to.equal('{"id":"r1","agent":null}')
    listing.agent.set(new Agent(17))
    expect(JSON.stringify(listing)).to.equal('{"id":"r1","agent":17}')
    listing.agent.set(2n ** 60n)
    expect(JSON.stringify(listing)).to.equal('{"id":"r1","agent":"1152921504606846976"}')
    listing.agent.set(Uint8Array.of(1, 255))
    expect(JSON.stringify(listing)).to.equal('{"id":"r1","agent":"0x01ff"}')
  })

  it('is recognised as what it is', () => {
    expect(isRef(ref())).to.equal(true)
    expect(isCollection(ref())).to.equal(false)
    expect(isRef({})).to.equal(false)
    expect(isRef(null)).to.equal(false)
  })
})
