import { Bin, Embeddable, Key, ManyToMany, OneToMany, Record, Sharded, collection } from 'skein'

@Record({ set: 'svisitor' })
export class Visitor {
  @Key() id!: string
}

@Embeddable()
export class Visit {
  @Key() id!: string
  @Bin() text?: string
}

@Embeddable()
export class Ticket {
  @Bin() seat!: string
}

/** A record is too full beyond one of these. */
export const WHEN = { members: 12, bytes: 3_000, busyPerSecond: 3 }

/** The class as one version of a program has it, with so many shards. */
export function placeWith(shards: number, when: Partial<typeof WHEN> = WHEN) {
  @Record({ set: 'splace' })
  class Place {
    @Key() id!: string
    @Sharded({ by: 'hash', shards, when })
    @OneToMany(() => Visitor)
    visitors = collection<Visitor>()
    @Sharded({ by: 'hash', shards, when, subkeys: 'guestsIn' })
    @ManyToMany(() => Visitor, { attributes: () => Ticket })
    guests = collection<Visitor, Ticket>()
    @Sharded({ by: 'hash', shards, when, subkeys: 'visitsIn' })
    @OneToMany(() => Visit, { strategy: 'consolidate', orders: { byText: ['text'] } })
    visits = collection<Visit>()
  }
  return Place
}

export type PlaceClass = ReturnType<typeof placeWith>
