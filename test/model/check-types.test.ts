import 'reflect-metadata'
import { Bin, Counter, CreatedAt, Embeddable, Embedded, Generation, Index, Key, Record, Sharded, Version } from 'skein'
import { ManyToMany, ManyToOne, OneToMany, collection, compileModel, ref, type StoredValue } from 'skein'
import { expect } from 'chai'
import { expectProblem, problemsOf } from './problems-of.js'

interface Shape {
  x: number
}

describe('a model with an unknown type is refused', () => {
  it('when reflection sees a union, an interface or nothing that can be stored', () => {
    class Unmapped {}
    @Embeddable()
    class Address {
      @Bin() city!: string
    }
    @Record({ set: 'other' })
    class Other {
      @Key() id!: number
    }
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Bin() union!: string | number
      @Bin() shape!: Shape
      @Bin() unmapped!: Unmapped
      @Bin() address!: Address
      @Bin() other!: Other
    }
    const problems = problemsOf(A)
    expect(problems.map(({ code, property }) => `${code} ${property}`)).to.deep.equal([
      'SKEIN_1020 union',
      'SKEIN_1020 shape',
      'SKEIN_1020 unmapped',
      'SKEIN_1020 address',
      'SKEIN_1020 other',
    ])
    expect(problems[0].fix).to.include("@Bin({ type: 'json' })")
    expect(problems[2].fix).to.include('@Embeddable').and.include('codec')
    expect(problems[3].fix).to.include('@Embedded(() => Address)')
    expect(problems[4].fix).to.include('@ManyToOne(() => Other)')
  })

  it('when no metadata was emitted', () => {
    class A {}
    Key()(A.prototype as { id: number }, 'id')
    Bin()(A.prototype, 'name')
    Record({ set: 'a' })(A)
    const problems = problemsOf(A)
    expect(problems.map(({ code, property }) => `${code} ${property}`)).to.deep.equal([
      'SKEIN_1020 id',
      'SKEIN_1020 name',
    ])
    expect(problems[0].fix).to.match(/@Key\(\{ type: 'string' \}\).*emitDecoratorMetadata.*tsx/)
  })

  it('when the items of an array, Set or Map are not known', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Bin() list!: string[]
      @Bin() set!: Set<string>
      @Bin() map!: Map<string, number>
    }
    const problems = problemsOf(A)
    expect(problems.map(({ code }) => code)).to.deep.equal(['SKEIN_1021', 'SKEIN_1021', 'SKEIN_1021'])
    expect(problems[0].fix).to.include("{ list: 'string' }")
    expect(problems[1].fix).to.include("{ set: 'string' }")
    expect(problems[2].fix).to.include("{ map: 'string', key: 'int' }")
  })

  it('when a given type is not a type', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Bin({ type: 'sting' as 'string' }) typo!: string
      @Bin({ type: String as unknown as 'string' }) constructed!: string
      @Bin({ type: { list: 'strings' as 'string' } }) nested!: string[]
      @Bin({ type: { set: 'json' } }) set!: Set<object>
      @Bin({ type: { map: 'int', key: 'double' as 'int' } }) map!: Map<number, number>
      @Bin({ type: { enum: [] } }) none!: never
      @Bin({ type: {} as 'json' }) empty!: object
    }
    const problems = problemsOf(A)
    expect(problems.map(({ code }) => code)).to.deep.equal(Array<string>(7).fill('SKEIN_1022'))
    expect(problems[0].fix).to.include("Did you mean 'string'?")
    expect(problems[1].fix).to.equal("Write it as text: 'string'.")
    expect(problems[2].message).to.include("'strings'")
    expect(problems[3].message).to.include('set of json')
    expect(problems[4].message).to.include('keys of a map')
    expect(problems[5].message).to.include('no values')
  })

  it('when a map with bytes as keys lies inside another value, where the client returns them as text', () => {
    @Embeddable()
    class Part {
      @Bin({ type: { map: 'int', key: 'bytes' } }) map!: Map<Uint8Array, number>
    }
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Bin({ type: { list: { map: 'int', key: 'bytes' } } }) list!: Map<Uint8Array, number>[]
      @Embedded(() => Part) part!: Part
      @Embedded(() => Part, { as: 'map', key: 'bytes' as 'int' }) parts!: Map<number, Part>
    }
    const places = problemsOf(A).map(({ code, className, property }) => `${code} ${className}.${property}`)
    expect(places).to.have.members(['SKEIN_1022 A.list', 'SKEIN_1022 Part.map', 'SKEIN_1049 A.parts'])
    expect(problemsOf(A)[0].message).to.include('are for the map of a bin')
  })

  it('when a codec stands beside a map with bytes as keys, because nothing tells whether it stores bytes or a list', () => {
    const codec = { encode: (value: unknown) => value as number, decode: (stored: unknown) => stored }
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Bin({ type: { map: 'int', key: 'bytes' } }) map!: Map<Uint8Array, number>
      @Bin({ type: codec }) own!: unknown
    }
    expectProblem([A], 'SKEIN_1022', 'A.own', /may store bytes or a list/, /a type without a codec/)
  })

  it('when a bin beside a map with bytes as keys holds bytes in one class of the set and something else in another', () => {
    @Record({ set: 'a', discriminator: 'kind' })
    abstract class A {
      @Key() id!: number
    }
    @Record({ discriminatorValue: 'b' })
    class B extends A {
      @Bin({ type: { map: 'int', key: 'bytes' } }) map!: Map<Uint8Array, number>
      @Bin({ type: 'bytes' }) seal!: Uint8Array
    }
    @Record({ discriminatorValue: 'c' })
    class C extends A {
      @Bin({ type: { list: 'int' } }) seal!: number[]
    }
    expectProblem([A, B, C], 'SKEIN_1022', 'C.seal', /holds bytes in one class of the set 'a'/, /another bin/)
  })

  it('when a decorator is on the wrong type', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Version() version!: number
      @CreatedAt() created!: Date
    }
    Reflect.defineMetadata('design:type', String, A.prototype, 'version')
    Reflect.defineMetadata('design:type', Number, A.prototype, 'created')
    const problems = problemsOf(A)
    expect(problems.map(({ code }) => code)).to.deep.equal(['SKEIN_1023', 'SKEIN_1023'])
    expect(problems[0]).to.include({ message: '@Version is on a String.', fix: 'Declare it as number.' })
    expect(problems[1]).to.include({ message: '@CreatedAt is on a Number.', fix: 'Declare it as Date.' })
  })

  it('when a property cannot be indexed', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Index() @Bin({ type: 'double' }) double!: number
      @Index() @Bin() flag!: boolean
      @Index({ on: 'mapKeys' }) @Bin() text!: string
      @Index({ on: 'mapValues' }) @Bin({ type: { map: 'json' } }) map!: Map<string, object>
    }
    const problems = problemsOf(A)
    expect(problems.map(({ code, property }) => `${code} ${property}`)).to.deep.equal([
      'SKEIN_1024 double',
      'SKEIN_1024 flag',
      'SKEIN_1024 text',
      'SKEIN_1024 map',
    ])
  })

  it('when decorators contradict each other', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Version() @Bin() both!: number
    }
    expectProblem([A], 'SKEIN_1025', 'A.both', /@Bin and @Version|@Version and @Bin/, /Keep one/)
  })

  it('when a decorator is used where it means nothing', () => {
    @Embeddable()
    class Part {
      @Index() @ManyToOne(() => A) indexed = ref<A>()
      @Version() version!: number
    }
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Index() alone!: string
      @Index() @Generation() generation!: number
      @Sharded({ by: 'hash', shards: 4 }) @Bin() notACounter!: number
      @Embedded(() => Part) part?: Part
    }
    const places = problemsOf(A).map(({ code, className, property }) => `${code} ${className}.${property}`)
    expect(places).to.have.members([
      'SKEIN_1026 Part.indexed',
      'SKEIN_1026 Part.version',
      'SKEIN_1026 A.alone',
      'SKEIN_1026 A.generation',
      'SKEIN_1026 A.notACounter',
    ])
  })

  it('when a counter is in a part that has no address of its own, or puts children in order', () => {
    @Embeddable()
    class Inner {
      @Counter() hits = 0
    }
    @Embeddable()
    class Part {
      @Key() id!: string
      @Embedded(() => Inner) inner?: Inner
      @Counter() likes = 0
    }
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Embedded(() => Part, { as: 'array' }) listed: Part[] = []
      @Embedded(() => Part, { as: 'map' }) mapped = new Map<string, Part>()
      @OneToMany(() => Part, { strategy: 'consolidate', sortKey: ['likes'] }) sorted = collection<Part>()
      @ManyToMany(() => A, { attributes: () => Inner, owner: true }) linked = collection<A, Inner>()
    }
    const places = problemsOf(A).map(({ code, property }) => `${code} ${property}`)
    expect(places).to.have.members(['SKEIN_1026 listed', 'SKEIN_1049 sorted', 'SKEIN_1026 linked'])
  })

  it('when a decorator that a class has once is used twice', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Version() one!: number
      @Version() two!: number
    }
    expectProblem([A], 'SKEIN_1027', 'A.two', /second @Version, beside one/, /Keep one/)
  })

  it('when a counter is sharded in a way it cannot be', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Counter() @Sharded({ by: 'hash', shards: 0 }) none = 0
      @Counter() @Sharded({ by: 'day', on: 'x' }) byDay = 0
      @Counter() @Sharded({ by: 'week' as 'day', on: 'x' }) byWeek = 0
    }
    expect(problemsOf(A).map(({ code, property }) => `${code} ${property}`)).to.deep.equal([
      'SKEIN_1051 none',
      'SKEIN_1051 byDay',
      'SKEIN_1051 byWeek',
    ])
  })
})

describe('the types of a model', () => {
  enum Color {
    Red = 'red',
    Blue = 'blue',
  }
  enum Size {
    Small,
    Large = 5,
  }
  const money = {
    name: 'money',
    encode: (value: { cents: number }): StoredValue => value.cents,
    decode: (stored: StoredValue) => ({ cents: Number(stored) }),
  }

  it('come from reflection and from the decorator', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: bigint
      @Bin() text!: string
      @Bin() whole!: number
      @Bin({ type: 'double' }) fraction!: number
      @Bin() flag!: boolean
      @Bin() at!: Date
      @Bin() buffer!: Buffer
      @Bin({ type: 'bytes' }) bytes!: Uint8Array | null
      @Bin({ type: { list: { list: 'int' } } }) matrix!: number[][]
      @Bin({ type: { set: { enum: Color } } }) colors!: Set<Color>
      @Bin({ type: { map: 'date', key: 'int' } }) byYear!: Map<number, Date>
      @Bin({ type: { enum: Size } }) size!: Size
      @Bin({ type: money }) price!: { cents: number }
    }
    const { properties } = compileModel([A], { namespace: 'test' }).entity(A)
    expect(Object.fromEntries(properties.map(({ name, type }) => [name, type]))).to.deep.equal({
      id: { kind: 'bigint' },
      text: { kind: 'string' },
      whole: { kind: 'int' },
      fraction: { kind: 'double' },
      flag: { kind: 'boolean' },
      at: { kind: 'date' },
      buffer: { kind: 'bytes' },
      bytes: { kind: 'bytes' },
      matrix: { kind: 'list', item: { kind: 'list', item: { kind: 'int' } } },
      colors: { kind: 'set', item: { kind: 'enum', values: ['red', 'blue'] } },
      byYear: { kind: 'map', key: 'int', value: { kind: 'date' } },
      size: { kind: 'enum', values: [0, 5] },
      price: { kind: 'custom', codec: money },
    })
    expect(Object.isFrozen(money)).to.equal(false)
  })

  it('have an order, uniqueness and an index of their own, without what is the default', () => {
    @Embeddable({ layout: 'tuple' })
    class Reading {
      @Bin() at!: Date
      @Bin({ type: 'double' }) celsius!: number
    }
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Bin({ type: { list: 'int', order: 'sorted', unique: true, persistIndex: true } }) list!: number[]
      @Bin({ type: { list: 'int', unique: false } }) plain!: number[]
      @Bin({ type: { map: 'int', order: 'key' } }) byKey!: Map<string, number>
      @Bin({ type: { map: 'int', order: 'keyValue', persistIndex: true } }) ranked!: Map<string, number>
      @Bin({ type: { set: { tuple: ['int', { list: 'string' }] } } }) pairs!: Set<[number, string[]]>
      @Embedded(() => Reading, { as: 'array', order: 'sorted' }) readings!: Reading[]
    }
    const model = compileModel([A], { namespace: 'test' })
    const { properties } = model.entity(A)
    expect(Object.fromEntries(properties.map(({ name, type }) => [name, type]))).to.deep.equal({
      id: { kind: 'int' },
      list: { kind: 'list', item: { kind: 'int' }, order: 'sorted', unique: true, persistIndex: true },
      plain: { kind: 'list', item: { kind: 'int' } },
      byKey: { kind: 'map', key: 'string', value: { kind: 'int' } },
      ranked: { kind: 'map', key: 'string', value: { kind: 'int' }, order: 'keyValue', persistIndex: true },
      pairs: {
        kind: 'set',
        item: { kind: 'tuple', items: [{ kind: 'int' }, { kind: 'list', item: { kind: 'string' } }] },
      },
      readings: { kind: 'embedded', shape: 'array', part: 'Reading', tuple: true, order: 'sorted' },
    })
    expect(model.describe()).to.include('list<int> sorted unique indexed').and.include('Reading[] as tuples sorted')
  })

  it('are refused with an order or an index that the server would not keep', () => {
    @Embeddable({ layout: 'tuple' })
    class Reading {
      @Bin() at!: Date
    }
    @Embeddable()
    class Part {
      @Bin({ type: { list: 'int', order: 'sorted' } as never }) sorted!: number[]
    }
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Bin({ type: { list: 'int', persistIndex: true } }) unsorted!: number[]
      @Bin({ type: { map: { list: 'int', order: 'sorted' } } }) nested!: Map<string, number[]>
      @Bin({ type: { list: { map: 'int', persistIndex: true } } }) inner!: Map<string, number>[]
      @Bin({ type: { list: 'int', order: 'asc' } as never }) order!: number[]
      @Bin({ type: { map: 'int', order: 'sorted' } as never }) map!: Map<string, number>
      @Bin({ type: { list: 'int', unique: 1 } as never }) unique!: number[]
      @Bin({ type: { tuple: [] } as never }) empty!: number[]
      @Bin({ type: { set: { list: 'json' } } }) set!: Set<unknown[]>
      @Embedded(() => Part, { persistIndex: true }) one!: Part
      @Embedded(() => Reading) tuple!: Reading
    }
    expect(problemsOf(A).map(({ code, property }) => `${code} ${property}`)).to.have.members([
      'SKEIN_1049 unsorted',
      'SKEIN_1049 nested',
      'SKEIN_1049 inner',
      'SKEIN_1049 order',
      'SKEIN_1049 map',
      'SKEIN_1049 unique',
      'SKEIN_1022 empty',
      'SKEIN_1022 set',
      'SKEIN_1049 one',
      'SKEIN_1049 tuple',
      'SKEIN_1049 sorted',
    ])
  })

  it('give each index the type that the server needs', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Index() @Bin() at!: Date
      @Index() @Bin({ type: { list: 'string' } }) tags!: string[]
      @Index({ on: 'mapKeys' }) @Bin({ type: { map: 'json', key: 'int' } }) byYear!: Map<number, object>
      @Index({ name: 'places' }) @Bin({ type: 'geojson' }) place!: object
      @Index() @Bin({ type: { enum: Color } }) color!: Color
      @Index() @Bin({ type: { enum: Size } }) size!: Size
      @Index() @Bin() hash!: Buffer
    }
    const { indexes } = compileModel([A], { namespace: 'test' }).entity(A)
    expect(indexes).to.deep.equal([
      { name: 'a_at', bin: 'at', on: 'value', type: 'numeric', property: 'at' },
      { name: 'a_tags_items', bin: 'tags', on: 'listElements', type: 'string', property: 'tags' },
      { name: 'a_byYear_keys', bin: 'byYear', on: 'mapKeys', type: 'numeric', property: 'byYear' },
      { name: 'places', bin: 'place', on: 'value', type: 'geo2dsphere', property: 'place' },
      { name: 'a_color', bin: 'color', on: 'value', type: 'string', property: 'color' },
      { name: 'a_size', bin: 'size', on: 'value', type: 'numeric', property: 'size' },
      { name: 'a_hash', bin: 'hash', on: 'value', type: 'blob', property: 'hash' },
    ])
  })
})
