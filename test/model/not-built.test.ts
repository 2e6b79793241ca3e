import { expect } from 'chai'
import {
  BeforeSave,
  Bin,
  collection,
  Embeddable,
  Embedded,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  Sharded,
  type EntityClass,
} from 'skein'
import { expectProblem, problemsOf } from './problems-of.js'

@Embeddable()
class Sale {
  @Key({ generate: 'sortable' }) id!: string
  @Bin() at!: Date
  @Bin() price?: number
}

/** A class with one bin of a type that TypeScript would refuse. */
function withType(type: unknown): EntityClass {
  @Record({ set: 'odd' })
  class Odd {
    @Key() id!: string
    @Bin({ type: type as 'json' }) odd!: unknown
  }
  return Odd
}

describe('a declaration that would have no effect', () => {
  it('is refused where it asks for shards that its members have no date for, or of no length', () => {
    @Record({ set: 'dated' })
    class Dated {
      @Key() id!: string
      @Bin() at!: Date
    }
    @Record({ set: 'page' })
    class Page {
      @Key() path!: string
      @Sharded({ by: 'hour', on: 'at' }) @ManyToMany(() => Dated) dated = collection<Dated>()
      @Sharded({ by: 'day', on: 'at', subkeys: 'listedIn' }) @OneToMany(() => Dated) listed = collection<Dated>()
      @Sharded({ by: 'hour', every: 25, on: 'at', subkeys: 'longIn' })
      @OneToMany(() => Sale, { strategy: 'consolidate' })
      long = collection<Sale>()
      @Sharded({ by: 'day', every: 0, on: 'at', subkeys: 'noneIn' })
      @OneToMany(() => Sale, { strategy: 'consolidate' })
      none = collection<Sale>()
      @Sharded({ by: 'day', on: 'at', ttl: -1, subkeys: 'goneIn' })
      @OneToMany(() => Sale, { strategy: 'consolidate' })
      gone = collection<Sale>()
      @Sharded({ by: 'day', on: 'at', subkeys: 'sortedIn' })
      @OneToMany(() => Sale, { strategy: 'consolidate', sortKey: ['price'] })
      sorted = collection<Sale>()
      @Sharded({ by: 'day', on: 'at', subkeys: 'cappedIn' })
      @OneToMany(() => Sale, { strategy: 'consolidate', cap: { keep: 5, by: 'last' } })
      capped = collection<Sale>()
      @Sharded({ by: 'hash', shards: 4, subkeys: 'hashedIn', every: 2 } as never)
      @OneToMany(() => Sale, { strategy: 'consolidate' })
      hashed = collection<Sale>()
    }
    expect(problemsOf(Page, Dated).map(({ code, property }) => `${code} ${property}`)).to.have.members([
      'SKEIN_1051 dated',
      'SKEIN_1051 listed',
      'SKEIN_1051 long',
      'SKEIN_1051 none',
      'SKEIN_1051 gone',
      'SKEIN_1051 sorted',
      'SKEIN_1049 capped',
      'SKEIN_1048 hashed',
    ])
  })

  it('is refused where links by date would expire alone, or have no such date', () => {
    @Embeddable()
    class Since {
      @Bin() at!: Date
    }
    @Record({ set: 'fan' })
    class Fan {
      @Key() id!: string
      @ManyToMany(() => Idol, 'fans', { owner: true }) idols = collection<Idol>()
    }
    @Record({ set: 'idol' })
    class Idol {
      @Key() id!: string
      @Sharded({ by: 'day', ttl: 60 }) @ManyToMany(() => Fan, 'idols') fans = collection<Fan>()
      @Sharded({ by: 'day', ttl: 60, subkeys: 'ownIn' }) @OneToMany(() => Fan, { onDelete: 'cascade' }) own =
        collection<Fan>()
      @Sharded({ by: 'day', on: 'since', subkeys: 'wrongIn' })
      @ManyToMany(() => Fan, { attributes: () => Since })
      wrong = collection<Fan, Since>()
      @Sharded({ by: 'day', on: 'at', subkeys: 'rightIn' })
      @ManyToMany(() => Fan, { attributes: () => Since })
      right = collection<Fan, Since>()
      @Sharded({ by: 'hour', every: 3, ttl: 60, subkeys: 'timedIn' }) @ManyToMany(() => Fan) timed = collection<Fan>()
      @Sharded({ by: 'day', subkeys: 'listIn' }) @OneToMany(() => Fan) list = collection<Fan>()
      @Sharded({ by: 'day', subkeys: 'salesIn' }) @OneToMany(() => Sale, { strategy: 'consolidate' }) sales =
        collection<Sale>()
    }
    expect(problemsOf(Idol, Fan).map(({ code, property }) => `${code} ${property}`)).to.have.members([
      'SKEIN_1051 fans',
      'SKEIN_1051 own',
      'SKEIN_1051 wrong',
      'SKEIN_1051 sales',
    ])
  })

  it('is refused where link records by date would expire from a list alone, or be kept by a date of their own', () => {
    @Record({ set: 'buddy' })
    class Buddy {
      @Key() id!: string
      @Sharded({ by: 'day', ttl: 60 }) @ManyToMany(() => Buddy, { through: () => Tie }) ties = collection<Buddy, Tie>()
      @Sharded({ by: 'day', on: 'at', subkeys: 'tiedIn' }) @ManyToMany(() => Buddy, { through: () => Tie }) tied =
        collection<Buddy, Tie>()
    }
    @Record({ set: 'tie', key: '{from}:{to}' })
    class Tie {
      @ManyToOne(() => Buddy, 'ties') from = ref<Buddy>()
      @ManyToOne(() => Buddy, 'tied') to = ref<Buddy>()
      @Bin() at!: Date
    }
    const [ties, tied, ...others] = problemsOf(Buddy, Tie)
    expect(others).to.deep.equal([])
    expect(ties).to.deep.include({ code: 'SKEIN_1051', property: 'ties' })
    expect([ties.message, ties.fix].join(' ')).to.match(/would stay when their keys expire.*class of the links/)
    expect(tied).to.deep.include({ code: 'SKEIN_1051', property: 'tied' })
    expect([tied.message, tied.fix].join(' ')).to.match(/on: 'at'.*no date.*put an @Index on a date/)
  })

  it('is refused inside a type', () => {
    for (const [type, option] of [
      [{ map: 'int', sorted: true }, 'sorted'],
      [{ map: 'int', key: 'string', unique: true }, 'unique'],
      [{ set: 'int', persistIndex: true }, 'persistIndex'],
      [{ list: 'int', ordered: true }, 'ordered'],
      [{ enum: ['a'], strict: true }, 'strict'],
      [{ list: { map: 'int', keys: 'int' } }, 'keys'],
    ] as const) {
      const message = new RegExp(`does not know the option '${option}'`)
      expectProblem([withType(type)], 'SKEIN_1048', 'Odd.odd', message, /It takes/)
    }
    expect(problemsOf(withType({ map: { list: 'int' }, key: 'int' }))).to.deep.equal([])
  })

  it('is refused where a hook is in a part', () => {
    @Embeddable()
    class Line {
      @Key() id!: string
      @BeforeSave() check() {}
    }
    @Record({ set: 'order' })
    class Order {
      @Key() id!: string
      @OneToMany(() => Line, { strategy: 'consolidate' }) lines = collection<Line>()
    }
    expectProblem([Order], 'SKEIN_1026', 'Line.check', /hook is for records/, /class of the record/)
  })

  it('is refused where the id of an embedded part, or a part of a template, is to be generated', () => {
    @Record({ set: 'shop' })
    class Shop {
      @Key() id!: string
      @Embedded(() => Sale, { as: 'array' }) sales: Sale[] = []
    }
    expectProblem([Shop], 'SKEIN_1006', 'Shop.sales', /Sale\.id is generated/, /consolidate/)
    @Record({ set: 'visit', key: '{who}:{no}' })
    class Visit {
      @Bin() who!: string
      @Key({ generate: 'uuid' }) no!: string
    }
    expectProblem([Visit], 'SKEIN_1006', 'Visit.no', /generate makes whole keys/, /uuid\(\)/)
  })
})
