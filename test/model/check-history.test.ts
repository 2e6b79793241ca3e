import { Bin, Embeddable, Embedded, History, Key, ManyToMany, Record, Companion, Version, collection } from 'skein'
import { expectProblem } from './problems-of.js'

describe('a model with a history is refused', () => {
  it('when the class has no version', () => {
    @History()
    @Record({ set: 'thing' })
    class Thing {
      @Key() id!: number
    }
    expectProblem([Thing], 'SKEIN_1061', 'Thing', /needs a @Version/, /@Version\(\)/)
  })

  it('when a subclass has one and its base class has none, or another', () => {
    @Record({ set: 'animal', discriminator: 'kind', discriminatorValue: 'animal' })
    class Animal {
      @Key() id!: number
      @Version() version?: number
    }
    @History()
    @Record({ discriminatorValue: 'dog' })
    class Dog extends Animal {}
    expectProblem([Animal, Dog], 'SKEIN_1061', 'Dog', /base class Animal.*no @History/, /on Animal/)
  })

  it('when its options cannot work', () => {
    for (const [options, code] of [
      [{ keep: 0 }, 'SKEIN_1049'],
      [{ keep: 2.5 }, 'SKEIN_1049'],
      [{ keep: 1001 }, 'SKEIN_1049'],
      [{ keep: { most: 5n } as never }, 'SKEIN_1049'],
      [{ ttl: -1 }, 'SKEIN_1038'],
      [{ set: 'a:b' }, 'SKEIN_1032'],
      [{ days: 3 } as object, 'SKEIN_1048'],
    ] as const) {
      @History(options)
      @Record({ set: 'thing' })
      class Thing {
        @Key() id!: number
        @Version() version?: number
      }
      expectProblem([Thing], code, 'Thing', /./, /./)
    }
  })

  it('when its set is another one of the model', () => {
    @History({ set: 'thing_others' })
    @Record({ set: 'thing' })
    class Thing {
      @Key() id!: number
      @Version() version?: number
      @Companion() @ManyToMany(() => Thing) others = collection<Thing>()
    }
    expectProblem([Thing], 'SKEIN_1051', 'Thing', /'thing_others'/, /set/)
  })

  it('when it is on a part', () => {
    @History()
    @Embeddable()
    class Part {
      @Bin() text!: string
    }
    @Record({ set: 'thing' })
    class Thing {
      @Key() id!: number
      @Embedded(() => Part) part?: Part
    }
    expectProblem([Thing], 'SKEIN_1026', 'Part', /inside one/, /class of the record/)
  })
})
