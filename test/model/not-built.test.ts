import { expect } from 'chai'
import {
  BeforeSave,
  Bin,
  collection,
  Counter,
  Embeddable,
  Embedded,
  Key,
  ManyToMany,
  ModelError,
  OneToMany,
  open,
  Record,
  Sharded,
  type EntityClass,
} from 'skein'
import { rejection } from '../session/rejection.js'
import { expectProblem, problemsOf } from './problems-of.js'

@Embeddable()
class Sale {
  @Key({ generate: 'sortable' }) id!: string
  @Bin() at!: Date
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
  it('is refused by open where it asks for shards', async () => {
    @Record({ set: 'dated' })
    class Dated {
      @Key() id!: string
      @Bin() at!: Date
    }
    @Record({ set: 'page' })
    class Page {
      @Key() path!: string
      @Counter() @Sharded({ by: 'hash', shards: 8 }) views = 0
      @Sharded({ by: 'day', on: 'at' }) @OneToMany(() => Sale, { strategy: 'consolidate' }) sales = collection<Sale>()
      @Sharded({ by: 'hash', shards: 4, subkeys: 'linksIn' }) @ManyToMany(() => Page) links = collection<Page>()
      @Sharded({ by: 'hour', on: 'at', subkeys: 'datedIn' }) @ManyToMany(() => Dated) dated = collection<Dated>()
    }
    const error = await rejection(() => open({ embedded: true, namespace: 'test', entities: [Page, Dated] }))
    expect(error).to.be.instanceOf(ModelError)
    const { problems } = error as ModelError
    expect(problems.map(({ code, className, property }) => `${code} ${className}.${property}`)).to.deep.equal([
      'SKEIN_1055 Page.sales',
      'SKEIN_1055 Page.dated',
    ])
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

  it('is refused where a hook stands in a part', () => {
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
