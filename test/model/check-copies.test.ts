import {
  Bin,
  Copy,
  Counter,
  Embeddable,
  Embedded,
  Index,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  collection,
  ref,
  type EntityClass,
} from 'skein'
import { expect } from 'chai'
import { expectProblem, problemsOf } from './problems-of.js'

@Embeddable()
class Place {
  @Bin() city?: string
}

@Record({ set: 'agent' })
class Agent {
  @Key() id!: number
  @Bin() name?: string
  @Bin({ type: { list: 'string' } }) tags?: string[]
  @Counter() calls = 0
  @Embedded(() => Place) place?: Place
  @OneToMany(() => Note, 'agent') notes = collection<Note>()
}

@Record({ set: 'note' })
class Note {
  @Key() id!: number
  @ManyToOne(() => Agent, 'notes') agent = ref<Agent>()
}

const refused = (holder: EntityClass): string[] =>
  problemsOf(Agent, Note, holder).map(
    ({ code, className, property, message }) => `${code} ${className}.${property} ${message}`,
  )

describe('a model with a copy is refused', () => {
  it('when its function names no reference of the class', () => {
    @Record({ set: 'listing' })
    class Listing {
      @Key() id!: string
      @ManyToOne(() => Agent) agent = ref<Agent>()
      @Copy(() => new Listing().agent, 'name', { refresh: 'never' }) none?: string
      @Copy((listing: Listing) => listing.agent.value!.notes.items[0].agent, 'name', { refresh: 'never' }) far?: string
    }
    expect(refused(Listing)).to.deep.equal([
      'SKEIN_1062 Listing.none It does not name a @ManyToOne of the same class.',
      'SKEIN_1062 Listing.far It does not name a @ManyToOne of the same class.',
    ])
  })

  it('when the source is not a single value with @Bin', () => {
    @Record({ set: 'listing' })
    class Listing {
      @Key() id!: string
      @ManyToOne(() => Agent) agent = ref<Agent>()
      @Copy((listing: Listing) => listing.agent, 'calls', { refresh: 'never' }) calls?: number
      @Copy((listing: Listing) => listing.agent, 'tags', { refresh: 'never' }) tags?: string[]
      @Copy((listing: Listing) => listing.agent, 'place', { refresh: 'never' }) place?: Place
    }
    expect(refused(Listing)).to.deep.equal([
      'SKEIN_1062 Listing.calls Agent.calls is not a @Bin.',
      'SKEIN_1062 Listing.tags Agent.tags is more than one value.',
      'SKEIN_1062 Listing.place Agent.place is not a @Bin.',
    ])
  })

  it('when it follows its source and nothing tells where the copies are', () => {
    @Record({ set: 'listing' })
    class Listing {
      @Key() id!: string
      @ManyToOne(() => Agent) agent = ref<Agent>()
      @Copy((listing: Listing) => listing.agent, 'name') agentName?: string
    }
    expectProblem(
      [Agent, Note, Listing],
      'SKEIN_1062',
      'Listing.agentName',
      /nothing tells which Listing/,
      /@Index\(\)/,
    )

    @Record({ set: 'listing' })
    class Indexed {
      @Key() id!: string
      @Index() @ManyToOne(() => Agent) agent = ref<Agent>()
      @Copy((listing: Indexed) => listing.agent, 'name') agentName?: string
    }
    expect(refused(Indexed)).to.deep.equal([])
  })

  it('when its options are not known, or it is in a part', () => {
    @Embeddable()
    class Part {
      @ManyToOne(() => Agent) agent = ref<Agent>()
      @Copy((part: Part) => part.agent, 'name', { refresh: 'never' }) agentName?: string
    }
    @Record({ set: 'listing' })
    class Listing {
      @Key() id!: string
      @ManyToOne(() => Agent) agent = ref<Agent>()
      @Embedded(() => Part) part?: Part
      @Copy((listing: Listing) => listing.agent, 'name', { refresh: 'daily' as 'never' }) agentName?: string
    }
    expect(refused(Listing)).to.deep.equal([
      'SKEIN_1026 Part.agentName @Copy is for records; Part is stored inside one.',
      "SKEIN_1049 Listing.agentName 'daily' is not a valid value for the option 'refresh'.",
    ])
  })
})
