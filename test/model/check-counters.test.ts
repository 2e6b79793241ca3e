import { Bin, Counter, Embeddable, Embedded, Index, Key, Record, Sharded, Ttl } from 'skein'
import { expect } from 'chai'
import { expectProblem, problemsOf } from './problems-of.js'

describe('a sharded counter is refused', () => {
  it('where its record expires', () => {
    @Record({ set: 'page', ttl: 60 })
    class Page {
      @Key() id!: string
      @Sharded({ by: 'hash', shards: 4 }) @Counter() views = 0
    }
    expectProblem([Page], 'SKEIN_1051', 'Page.views', /cannot expire, and its class has a ttl/, /Leave one of them out/)
    @Record({ set: 'page' })
    class Note {
      @Key() id!: string
      @Ttl() ttl?: number
      @Sharded({ by: 'hash', shards: 4 }) @Counter() views = 0
    }
    expectProblem([Note], 'SKEIN_1051', 'Note.views', /ttl is a @Ttl/, /Leave one of them out/)
    @Record({ set: 'page', ttl: 'never' })
    class Kept {
      @Key() id!: string
      @Sharded({ by: 'hash', shards: 4 }) @Counter() views = 0
    }
    expect(problemsOf(Kept)).to.deep.equal([])
  })

  it('with an index', () => {
    @Record({ set: 'page' })
    class Page {
      @Key() id!: string
      @Index() @Sharded({ by: 'hash', shards: 4 }) @Counter() views = 0
    }
    expectProblem([Page], 'SKEIN_1051', 'Page.views', /would not see/, /Leave out/)
  })

  it('by time, and inside a part', () => {
    @Record({ set: 'page' })
    class Page {
      @Key() id!: string
      @Sharded({ by: 'day', on: 'at' }) @Counter() views = 0
    }
    expectProblem([Page], 'SKEIN_1051', 'Page.views', /has no dates/, /by: 'hash'/)
    @Embeddable()
    class Part {
      @Sharded({ by: 'hash', shards: 4 }) @Bin() views = 0
    }
    @Record({ set: 'page' })
    class Whole {
      @Key() id!: string
      @Embedded(() => Part) part?: Part
    }
    expectProblem([Whole], 'SKEIN_1026', 'Part.views', /for records/, /Leave it out/)
  })

  it('where its companions have no set of their own', () => {
    @Record({ set: 'page' })
    class Page {
      @Key() id!: string
      @Sharded({ by: 'hash', shards: 4 }) @Counter() views = 0
    }
    @Record({ set: 'page_views' })
    class View {
      @Key() id!: string
      @Bin() at!: Date
    }
    expectProblem([Page, View], 'SKEIN_1051', 'Page.views', /'page_views', is that of a class/, /another bin/)
    @Record({ set: 'x'.repeat(60) })
    class Long {
      @Key() id!: string
      @Sharded({ by: 'hash', shards: 4 }) @Counter() views = 0
    }
    expectProblem([Long], 'SKEIN_1051', 'Long.views', /more than 63 bytes/, /shorter/)
  })
})
