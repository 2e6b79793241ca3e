import {
  Bin,
  collection,
  Index,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  UpdatedAt,
  type EntityClass,
  type Collection,
  type Ref,
} from 'skein'

export interface Ticket {
  id: number
  text?: string
  steps: Collection<Step>
  client: Ref<Client>
}
export interface Step {
  id: string
  cents?: number
  ticket: Ref<Ticket>
  marks: Collection<Mark>
}
export interface Mark {
  id: string
}
export interface Client {
  id: string
  tickets: Collection<Ticket>
}
export interface Tickets {
  readonly Ticket: new () => Ticket
  readonly Step: new () => Step
  readonly Mark: new () => Mark
  readonly Client: new () => Client
  readonly all: EntityClass[]
}

/** A ticket with steps that an index finds, and marks of these, all archived in that namespace; its client stays where it is. */
export function ticketsIn(archive: string): Tickets {
  @Record({ set: 'ai_client', name: 'Client' })
  class AClient implements Client {
    @Key() id!: string
    @OneToMany(() => ATicket, 'client', { strategy: 'secondaryIndex' }) tickets = collection<ATicket>()
  }
  @Record({ set: 'ai_ticket', name: 'Ticket', archive })
  class ATicket implements Ticket {
    @Key() id!: number
    @Bin() text?: string
    @UpdatedAt() updatedAt?: Date
    @OneToMany(() => AStep, 'ticket', { strategy: 'secondaryIndex', onDelete: 'cascade' }) steps = collection<AStep>()
    @Index() @ManyToOne(() => AClient, 'tickets') client = ref<AClient>()
  }
  @Record({ set: 'ai_step', name: 'Step', archive })
  class AStep implements Step {
    @Key() id!: string
    @Bin() cents?: number
    @Index() @ManyToOne(() => ATicket, 'steps') ticket = ref<ATicket>()
    @OneToMany(() => AMark, 'step', { strategy: 'secondaryIndex', onDelete: 'cascade' }) marks = collection<AMark>()
  }
  @Record({ set: 'ai_mark', name: 'Mark', archive })
  class AMark implements Mark {
    @Key() id!: string
    @Index() @ManyToOne(() => AStep, 'marks') step = ref<AStep>()
  }
  return { Ticket: ATicket, Step: AStep, Mark: AMark, Client: AClient, all: [AClient, ATicket, AStep, AMark] }
}

export const SETS = ['ai_ticket', 'ai_step', 'ai_mark'] as const
