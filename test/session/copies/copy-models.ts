import {
  Bin,
  Copy,
  Embedded,
  Index,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  Version,
  collection,
  ref,
  Embeddable,
} from 'skein'

@Embeddable()
export class Address {
  @Bin() city?: string
}

@Record({ set: 'cp_agent' })
export class Agent {
  @Key() id!: number
  @Bin() name?: string
  @Bin({ type: 'double' }) score?: number
  @Bin({ immutable: true }) since?: Date
  @Bin() phone?: string
  @Embedded(() => Address) address?: Address
  @OneToMany(() => Listing, 'agent') listings = collection<Listing>()
  @OneToMany(() => Visit, 'agent', { strategy: 'secondaryIndex' }) visits = collection<Visit>()
  @Version() version?: number
}

@Record({ set: 'cp_listing' })
export class Listing {
  @Key() id!: string
  @Bin() city?: string
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
  @Copy((listing: Listing) => listing.agent, 'name') agentName?: string
  @Copy((listing: Listing) => listing.agent, 'score', { name: 'agScore' }) agentScore?: number
  @Copy((listing: Listing) => listing.agent, 'since', { refresh: 'never' }) agentSince?: Date
  @Copy((listing: Listing) => listing.agent, 'phone', { refresh: 'background' }) agentPhone?: string
}

@Record({ set: 'cp_visit' })
export class Visit {
  @Key() id!: string
  @ManyToOne(() => Agent, 'visits') agent = ref<Agent>()
  @Copy((visit: Visit) => visit.agent, 'name') guide?: string
}

@Record({ set: 'cp_call' })
export class Call {
  @Key() id!: string
  @Index() @ManyToOne(() => Agent) to = ref<Agent>()
  @Copy((call: Call) => call.to, 'name') toName?: string
  @Version() version?: number
}

export const ALL = [Agent, Listing, Visit, Call]

export const make = <T extends object>(made: T, values: Partial<T>): T => Object.assign(made, values)
