import { expect } from 'chai'
import { Bin, compileModel, Key, Record, SkeinError, type ValueCodec } from 'skein'
import { compileCodecs, type EntityCodec } from '#src/codec/index.js'
import { asReturned } from '#src/codec/types/as-returned.js'
import { clientValue } from '#src/driver/client-record.js'
import { listAppendUnique, listRemoveValues } from '#src/plan/operations.js'
import { DoubleValue, GeoValue, type Value } from '#src/plan/value.js'

enum Color {
  Red = 'red',
  Blue = 'blue',
}
class Point {
  constructor(
    readonly x: number,
    readonly y: number,
  ) {}
}
const point: ValueCodec<Point> = {
  name: 'point',
  encode: ({ x, y }) => [x, y],
  decode: (stored) => new Point(...(stored as [number, number])),
}

@Record({ set: 'sample' })
class Sample {
  @Key() id!: number
  @Bin({ type: 'int' }) int?: number
  @Bin({ type: 'double' }) double?: number
  @Bin() string?: string
  @Bin() boolean?: boolean
  @Bin({ type: 'bigint' }) bigint?: bigint
  @Bin() date?: Date
  @Bin({ type: 'bytes' }) bytes?: Uint8Array
  @Bin({ type: 'json' }) json?: unknown
  @Bin({ type: 'geojson' }) geojson?: object
  @Bin({ type: { enum: Color } }) enum?: Color
  @Bin({ type: { list: 'string' } }) list?: string[]
  @Bin({ type: { set: 'int' } }) set?: Set<number>
  @Bin({ type: { map: 'date', key: 'int' } }) map?: Map<number, Date>
  @Bin({ type: { map: { list: 'double' }, key: 'bigint' } }) deep?: Map<bigint, number[]>
  @Bin({ type: point }) point?: Point
}

const codec: EntityCodec<Sample> = compileCodecs(compileModel([Sample], { namespace: 'test' })).entity(Sample)
const sample = (property: keyof Sample, value: unknown): Sample =>
  Object.assign(new Sample(), { id: 1, [property]: value })
const stored = (property: keyof Sample, value: unknown): unknown =>
  (codec.dehydrate(sample(property, value)) as { [bin: string]: unknown })[property]

describe('a value', () => {
  const kept: [property: keyof Sample, value: unknown, stored: unknown][] = [
    ['int', 5, 5],
    ['int', -(2 ** 53 - 1), -(2 ** 53 - 1)],
    ['double', 2, new DoubleValue(2)],
    ['double', -0, new DoubleValue(-0)],
    ['double', 1e300, new DoubleValue(1e300)],
    ['double', 0.5, 0.5],
    ['double', NaN, NaN],
    ['double', -Infinity, -Infinity],
    ['string', '', ''],
    ['string', 'ñ🧶', 'ñ🧶'],
    ['boolean', false, false],
    ['bigint', 5n, 5n],
    ['bigint', -(2n ** 63n), -(2n ** 63n)],
    ['date', new Date('2024-05-06T07:08:09.010Z'), 1714979289010],
    ['date', new Date(-8.64e15), -8.64e15],
    ['bytes', Buffer.from([0, 255]), Buffer.from([0, 255])],
    ['json', { a: [1, 'x', null, { b: 2.5 }] }, { a: [1, 'x', null, { b: 2.5 }] }],
    ['json', 2 ** 60, new DoubleValue(2 ** 60)],
    ['json', [-0], [new DoubleValue(-0)]],
    ['json', 2n ** 60n, 2n ** 60n],
    ['geojson', { type: 'Point', coordinates: [1, 2] }, new GeoValue('{"type":"Point","coordinates":[1,2]}')],
    ['enum', Color.Blue, 'blue'],
    ['list', ['b', null, 'a'], ['b', null, 'a']],
    ['set', new Set([3, 1]), [1, 3]],
    ['map', new Map([[-7, new Date(1)]]), new Map([[-7, 1]])],
    ['deep', new Map([[2n ** 62n, [1]]]), new Map([[2n ** 62n, [new DoubleValue(1)]]])],
    ['point', new Point(1, 2), [1, 2]],
  ]
  for (const [property, value, wanted] of kept) {
    it(`of type ${property} is stored without loss: ${shown(value)}`, () => {
      const dehydrated = stored(property, value)
      expect(dehydrated).to.deep.equal(wanted)
      const bins = { id: 1, [property]: asReturned(dehydrated as Value) }
      expect(codec.hydrate(bins)[property]).to.deep.equal(value)
      expect(
        () => clientValue(dehydrated as Value, property),
        'what the codec lets through, the client takes',
      ).to.not.throw()
    })
  }

  it('comes back as a Buffer when it was a Uint8Array', () => {
    const bins = codec.dehydrate(sample('bytes', Uint8Array.of(1, 2)))
    expect(codec.hydrate(bins).bytes).to.deep.equal(Buffer.from([1, 2]))
  })

  it('that is null or undefined has no bin, and is undefined when it is read', () => {
    expect(codec.dehydrate(sample('string', null))).to.deep.equal({ id: 1 })
    expect(codec.dehydrate(sample('map', undefined))).to.deep.equal({ id: 1 })
    expect(codec.hydrate({ id: 1, string: null })).to.have.property('string', undefined)
  })

  const refused: [property: keyof Sample, value: unknown, message: RegExp][] = [
    ['int', 1.5, /Sample\.int: 1\.5 is not an integer\. Give an integer.*'double' or 'bigint'/],
    ['int', 2 ** 53, /Sample\.int: 9007199254740992 is not an integer/],
    ['int', '5', /Sample\.int: "5" is not an integer/],
    ['double', '5', /Sample\.double: "5" is not a number/],
    ['string', 5, /Sample\.string: 5 is not a string/],
    ['string', 'a\0b', /Sample\.string: the string contains NUL, where the client would cut it/],
    ['string', 'a\ud83d', /Sample\.string: the string contains half of a surrogate pair/],
    ['boolean', 1, /Sample\.boolean: 1 is not a boolean/],
    ['bigint', 5, /Sample\.bigint: 5 is not a bigint of 64 bits/],
    ['bigint', 2n ** 63n, /Sample\.bigint: 9223372036854775808n is not a bigint of 64 bits/],
    ['date', 5, /Sample\.date: 5 is not a Date/],
    ['date', new Date(NaN), /Sample\.date: the Date is invalid/],
    ['bytes', 'ff', /Sample\.bytes: "ff" is not a Buffer/],
    ['bytes', new Float64Array(2), /Sample\.bytes: a Float64Array is not a Buffer/],
    ['geojson', 'POINT(1 2)', /Sample\.geojson: "POINT\(1 2\)" is not a GeoJSON object/],
    ['enum', 'green', /Sample\.enum: "green" is not one of "red", "blue"/],
    ['list', 'abc', /Sample\.list: "abc" is not an array/],
    ['list', ['a', 5], /Sample\.list\[1\]: 5 is not a string/],
    ['list', ['a', undefined], /Sample\.list\[1\]: undefined would come back as null/],
    ['set', [1], /Sample\.set: an array of 1 is not a Set/],
    ['set', new Set(['a']), /Sample\.set\{"a"\}: "a" is not an integer/],
    ['map', new Map([['1', new Date()]]), /Sample\.map\["1"\]: "1" is not a map key of type int/],
    ['map', new Map([[1, 2]]), /Sample\.map\[1\]: 2 is not a Date/],
    ['map', { 1: new Date(1) }, /Sample\.map: an object is not a Map/],
    ['deep', new Map([[1n, [0.5, '']]]), /Sample\.deep\[1\]\[1\]: "" is not a number/],
    ['point', 5n, /Sample\.point\[0\]: the client cannot store undefined/],
  ]
  for (const [property, value, message] of refused) {
    it(`of type ${property} is refused, with its path and a fix: ${shown(value)}`, () => {
      expect(() => codec.dehydrate(sample(property, value)))
        .to.throw(SkeinError, message)
        .with.property('code', 'SKEIN_2201')
      expect(() => codec.create(sample(property, value))).to.throw(SkeinError, message)
      const clean = codec.snapshot(sample(property, undefined))
      expect(() => codec.diff(sample(property, value), clean)).to.throw(SkeinError, message)
    })
  }

  const unreadable: [property: keyof Sample, stored: unknown, message: RegExp][] = [
    ['int', 'x', /Sample\.int of 1: the stored value is "x", not an integer/],
    ['int', 2n ** 60n, /Sample\.int of 1: .* not an integer within/],
    ['string', 5, /Sample\.string of 1: the stored value is 5, not a string/],
    ['boolean', 1, /not a boolean/],
    ['bigint', 0.5, /not an integer/],
    ['date', 'today', /not a time in milliseconds/],
    ['date', 1e17, /not a time in milliseconds/],
    ['bytes', 'x', /not bytes/],
    ['enum', 'green', /not one of "red", "blue"/],
    ['list', { a: 1 }, /the stored value is an object, not a list/],
    ['list', ['a', 5], /Sample\.list\[1\] of 1: the stored value is 5, not a string/],
    ['set', 5, /not a list/],
    ['map', [1], /not a map/],
    ['map', { x: 1 }, /Sample\.map\["x"\] of 1: "x" is not a map key of type int/],
    ['deep', { 1.5: [] }, /"1\.5" is not a map key of type bigint/],
  ]
  for (const [property, value, message] of unreadable) {
    it(`that is stored as something other than ${property} is an error that says where: ${shown(value)}`, () => {
      const bins = { id: 1, [property]: value as Value }
      expect(() => codec.hydrate(bins))
        .to.throw(SkeinError, message)
        .with.property('code', 'SKEIN_3101')
    })
  }

  it('keeps the error of a custom codec as the cause', () => {
    expect(() => codec.hydrate({ id: 1, point: 5 }))
      .to.throw(SkeinError, /Sample\.point of 1: the codec 'point' cannot decode 5/)
      .with.property('cause')
      .that.is.instanceOf(TypeError)
  })
})

describe('a json value', () => {
  class Pet {
    name = 'Rex'
  }
  const circular: { self?: unknown } = {}
  circular.self = circular
  const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])
  const destroyed: [name: string, value: unknown, message: RegExp][] = [
    ['a Date', { when: [new Date()] }, /Sample\.json\.when\[0\]: the client cannot store a Date/],
    ['a class instance', { pet: new Pet() }, /Sample\.json\.pet: the client cannot store a Pet/],
    ['a function', [() => 1], /Sample\.json\[0\]: the client cannot store a function/],
    ['a symbol', { s: Symbol('x') }, /Sample\.json\.s: the client cannot store a symbol/],
    ['a Map', new Map(), /Sample\.json: the client cannot store a Map/],
    ['a Set', { s: new Set() }, /Sample\.json\.s: the client cannot store a Set/],
    ['a typed array', new Float32Array(1), /Sample\.json: the client cannot store a Float32Array/],
    ['a RegExp', /x/, /Sample\.json: the client cannot store a RegExp/],
    ['undefined in a list', [undefined], /Sample\.json\[0\]: the client cannot store undefined/],

    ['a hole in a list', [, 1], /Sample\.json\[0\]: the client cannot store undefined/],
    ['a small bigint', { n: 5n }, /Sample\.json\.n: 5n would come back as a number/],
    ['a large bigint', 2n ** 64n, /does not fit 64 bits/],
    ['NUL', { 'a b': 'x\0y' }, /Sample\.json\["a b"\]: the string contains NUL/],
    ['NUL in a key', { 'a\0': 1 }, /the map key contains NUL/],
    ['half a surrogate pair', ['\udc00'], /Sample\.json\[0\]: the string contains half of a surrogate pair/],
    ['a key called __proto__', JSON.parse('{"a":{"__proto__":1}}'), /Sample\.json\.a\.__proto__: .*'__proto__'/],
    ['a symbol as key', { [Symbol('x')]: 1 }, /the client drops properties named by a symbol/],
    ['a circle', circular, /circular or deeper than 60 levels/],
    ['great depth', deep(61), /circular or deeper than 60 levels/],
  ]
  for (const [name, value, message] of destroyed) {
    it(`is refused when the client would destroy it: ${name}`, () => {
      expect(() => codec.dehydrate(sample('json', value))).to.throw(SkeinError, message)
    })
  }

  it('may be as deep as the client takes', () => {
    const bins = codec.dehydrate(sample('json', deep(60))) as { json: Value }
    expect(() => clientValue(bins.json, 'json')).to.not.throw()
  })

  it('leaves out properties that are undefined, as JSON does', () => {
    expect(stored('json', { a: 1, b: undefined })).to.deep.equal({ a: 1 })
    const entity = codec.hydrate({ id: 1, json: { a: 1 } })
    const snapshot = codec.snapshot(entity)
    Object.assign(entity.json as object, { b: undefined })
    expect(codec.diff(entity, snapshot)).to.deep.equal([])
  })

  it('takes plain objects without a prototype and of another realm', async () => {
    const { runInNewContext } = await import('node:vm')
    expect(stored('json', runInNewContext('({ a: [1] })'))).to.deep.equal({ a: [1] })
    expect(stored('json', Object.assign(Object.create(null), { a: 1 }))).to.deep.equal({ a: 1 })
    expect(stored('date', runInNewContext('new Date(5)'))).to.equal(5)
  })

  it('is noticed when it is changed in place', () => {
    const entity = codec.hydrate({ id: 1, json: { a: [1, { b: 2 }] } })
    const snapshot = codec.snapshot(entity)
    ;(entity.json as { a: [number, { b: number }] }).a[1].b = 3
    expect(codec.changedProperties(entity, snapshot)).to.deep.equal(['json'])
  })
})

describe('a codec of the user', () => {
  class Box {
    constructor(readonly content: unknown) {}
  }
  const boxed: ValueCodec<Box> = {
    encode: ({ content }) => {
      if (content === 'bad') throw new RangeError('bad content')
      return content as null
    },
    decode: (content) => new Box(content),
  }
  @Record({ set: 'boxes' })
  class Boxes {
    @Key() id!: number
    @Bin({ type: boxed }) box?: Box
  }
  const boxes = compileCodecs(compileModel([Boxes], { namespace: 'test' })).entity(Boxes)
  const holding = (content: unknown): Boxes => Object.assign(new Boxes(), { id: 1, box: new Box(content) })

  it('may make maps with keys of any stored type', () => {
    const content = new Map<unknown, unknown>([
      [1, 'a'],
      ['x', [2n ** 60n]],
      [5n, null],
      [Buffer.from('k'), true],
    ])
    expect(boxes.dehydrate(holding(content))).to.deep.equal({ id: 1, box: content })
    const entity = holding(content)
    const snapshot = boxes.snapshot(entity)
    expect(boxes.hasChanged(entity, snapshot)).to.equal(false)
    entity.box = new Box(new Map([[1, 'b']]))
    expect(boxes.hasChanged(entity, snapshot)).to.equal(true)
  })

  const refused: [content: unknown, message: RegExp][] = [
    [null, /Boxes\.box: the codec 'custom' turned a Box into null.*undefined instead/],
    ['bad', /Boxes\.box: the codec 'custom' cannot encode a Box: bad content/],
    [new Map([[1.5, 1]]), /Boxes\.box\[1\.5\]: the client drops 1\.5 as a map key/],
    [new Map([[{}, 1]]), /the client drops an object as a map key/],
    [{ a: new Date(0) }, /Boxes\.box\.a: the client cannot store a Date/],
  ]
  for (const [content, message] of refused) {
    it(`is held to what can be stored: ${String(message)}`, () => {
      const entity = holding('good')
      const snapshot = boxes.snapshot(entity)
      entity.box = new Box(content)
      expect(() => boxes.diff(entity, snapshot)).to.throw(SkeinError, message)
    })
  }
})

describe('a set', () => {
  @Record({ set: 'sets' })
  class Sets {
    @Key() id!: number
    @Bin({ type: { set: 'date' } }) dates?: Set<Date>
    @Bin({ type: { set: 'bytes' } }) bytes?: Set<Buffer>
    @Bin({ type: { set: 'double' } }) doubles?: Set<number>
    @Bin({ type: { set: 'bigint' } }) bigints?: Set<bigint>
  }
  const sets = compileCodecs(compileModel([Sets], { namespace: 'test' })).entity(Sets)
  const make = (): Sets =>
    Object.assign(new Sets(), {
      id: 1,
      dates: new Set([new Date(1), new Date(2)]),
      bytes: new Set([Buffer.from('a')]),
      doubles: new Set([1, NaN, 0.5]),
      bigints: new Set([1n, 2n ** 60n]),
    })

  it('has members that are equal when what is stored is, not when they are one object', () => {
    const snapshot = sets.snapshot(make())
    expect(sets.diff(make(), snapshot)).to.deep.equal([])
    const changed = make()
    changed.dates!.add(new Date(1)).add(new Date(3))
    changed.bytes!.add(Buffer.from('b'))
    changed.doubles!.delete(NaN)
    changed.bigints!.add(2n ** 60n + 1n)
    expect(sets.diff(changed, snapshot)).to.deep.equal([
      listAppendUnique('dates', [3]),
      listAppendUnique('bytes', [Buffer.from('b')]),
      listRemoveValues('doubles', [NaN]),
      listAppendUnique('bigints', [2n ** 60n + 1n]),
    ])
  })
})

function shown(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (value instanceof Map || value instanceof Set) return `${value.constructor.name} of ${value.size}`
  if (typeof value === 'number' || value instanceof Date) return Object.is(value, -0) ? '-0' : String(value)
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each))
}
