import { expect } from 'chai'
import fc from 'fast-check'
import { SkeinError } from 'skein'
import {
  KeyFormat,
  parseTemplate,
  type KeyFormatOptions,
  type KeyPartType,
  type KeyPartValue,
} from '#src/keys/index.js'

const createFormat = (text: string, options: Omit<KeyFormatOptions, 'className'>): KeyFormat => {
  const template = parseTemplate(text)
  if (typeof template === 'string') throw new Error(template)
  const format = KeyFormat.create(template, { className: 'Order', ...options })
  if (typeof format === 'string') throw new Error(format)
  return format
}
const codeOf = (run: () => unknown): string | undefined => {
  try {
    run()
    return undefined
  } catch (error) {
    if (error instanceof SkeinError) return error.code
    throw error
  }
}

const order = createFormat('tenant:{tenant}:order:{orderId}', { types: { tenant: 'string', orderId: 'int' } })
const sensor = createFormat('sensor:{sensorId}:{day|YYYY-MM-DD}', { types: { sensorId: 'int', day: 'date' } })

describe('a composite key', () => {
  it('prints its parts and reads them back', () => {
    expect(order.format({ tenant: 'acme', orderId: 17 })).to.equal('tenant:acme:order:17')
    expect({ ...order.parse('tenant:acme:order:17') }).to.deep.equal({ tenant: 'acme', orderId: 17 })
  })

  it('cannot be made to collide by a delimiter inside a value', () => {
    const key = order.format({ tenant: 'acme:order:1', orderId: 2 })
    expect(key).to.equal('tenant:acme%3Aorder%3A1:order:2')
    expect(order.parse(key)).to.include({ tenant: 'acme:order:1', orderId: 2 })
  })

  it('prints a date as the slice of time that holds it, in UTC', () => {
    const key = sensor.format({ sensorId: 7, day: new Date('2024-02-29T23:59:59.999Z') })
    expect(key).to.equal('sensor:7:2024-02-29')
    expect(sensor.parse(key)['day']).to.deep.equal(new Date('2024-02-29T00:00:00Z'))
  })

  it('pads integers so that text order is number order', () => {
    const format = createFormat('{score|0000}#{id}', { types: { score: 'int', id: 'string' } })
    expect(format.format({ score: 42, id: 'a#b' })).to.equal('0042#a%23b')
    expect(format.parse('0042#a%23b')).to.include({ score: 42, id: 'a#b' })
    expect(codeOf(() => format.format({ score: 12345, id: 'x' }))).to.equal('SKEIN_2102')
    expect(codeOf(() => format.format({ score: -1, id: 'x' }))).to.equal('SKEIN_2102')
  })

  it('begins with its parent’s key as it is, where it is derived from one', () => {
    const item = createFormat('{order}:item:{line}', { types: { order: 'string', line: 'string' }, parent: 'order' })
    const key = item.format({ order: 'tenant:acme:order:17', line: 'a:b' })
    expect(key).to.equal('tenant:acme:order:17:item:a%3Ab')
    expect(item.parse(key)).to.include({ order: 'tenant:acme:order:17', line: 'a:b' })
  })

  it('names the class, the property and the fix when a part is missing or wrong', () => {
    expect(() => order.format({ tenant: 'acme' })).to.throw(
      SkeinError,
      /Order\.orderId is missing.*Give an integer number\./,
    )
    expect(() => order.format({ tenant: 'acme', orderId: 1.5 })).to.throw(SkeinError, /Order\.orderId is 1\.5/)
    expect(codeOf(() => order.format({ tenant: '\ud800', orderId: 1 }))).to.equal('SKEIN_2102')
    expect(codeOf(() => sensor.format({ sensorId: 1, day: new Date(NaN) }))).to.equal('SKEIN_2102')
  })

  for (const key of [
    '',
    'tenant:acme',
    'tenant:acme:order:',
    'tenant:acme:order:07',
    'tenant:acme:order:1.0',
    'tenant:acme:order:9007199254740993',
    'tenant:acme:order:1:more',
    'tenant:ac%3ame:order:1',
    'tenant:ac%41me:order:1',
    'tenant:ac%me:order:1',
    'Tenant:acme:order:1',
  ]) {
    it(`refuses ${JSON.stringify(key)}, which format would not have printed`, () => {
      expect(order.tryParse(key)).to.equal(undefined)
      expect(codeOf(() => order.parse(key))).to.equal('SKEIN_2103')
    })
  }

  it('refuses days that do not exist', () => {
    expect(sensor.tryParse('sensor:7:2024-02-30')).to.equal(undefined)
    expect(sensor.tryParse('sensor:7:2024-2-03')).to.equal(undefined)
  })

  it('never is empty and never holds NUL', () => {
    const format = createFormat('{a}', { types: { a: 'string' } })
    expect(codeOf(() => format.format({ a: '' }))).to.equal('SKEIN_2101')
    expect(format.parse(format.format({ a: 'x\0y' }))).to.include({ a: 'x\0y' })
    const child = createFormat('{parent}:{n}', { types: { parent: 'string', n: 'int' }, parent: 'parent' })
    expect(codeOf(() => child.format({ parent: 'a\0b', n: 1 }))).to.equal('SKEIN_2101')
  })
})

describe('a key template', () => {
  const problems: [string, RegExp][] = [
    ['order', /names no property/],
    ['{a}{b}', /need a delimiter/],
    ['{a}x{b}', /punctuation/],
    ['{a}:x{b}', /punctuation/],
    ['{a}%{b}', /punctuation/],
    ['{a}:{a}', /twice/],
    ['{}', /name of a property/],
    ['{a', /stray brace|names no property/],
    ['{a}:{b', /stray brace/],
    ['{day|MM-YYYY}', /out of order/],
    ['{day|YYYY-DD}', /out of order/],
    ['{day|week}', /not a date field/],
    ['{day|}', /no date field/],
  ]
  for (const [text, problem] of problems) {
    it(`refuses '${text}' and says why`, () => {
      expect(parseTemplate(text)).to.be.a('string').and.match(problem)
    })
  }

  it('says which property does not fit its placeholder', () => {
    const create = (text: string, types: Record<string, KeyPartType>): unknown =>
      KeyFormat.create(parseTemplate(text) as Exclude<ReturnType<typeof parseTemplate>, string>, {
        className: 'A',
        types,
      })
    expect(create('{nope}', {})).to.match(/\{nope\} is not a property/)
    expect(create('{toString}', {})).to.match(/\{toString\} is not a property/)
    expect(create('{flag|YYYY}', { flag: 'boolean' })).to.match(
      /\{flag\}: a boolean property cannot be printed as YYYY/,
    )
    expect(create('{name|000}', { name: 'string' })).to.match(/only int and bigint/)
  })
})

describe('format and parse (properties)', () => {
  const values: { readonly [T in KeyPartType]: fc.Arbitrary<KeyPartValue> } = {
    string: fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[:%\-/|#0-9A-Fa-f]*$/)),
    int: fc.maxSafeInteger(),
    bigint: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
    bytes: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    boolean: fc.boolean(),
    date: fc.date({ noInvalidDate: true }),
  }
  const type = fc.constantFrom(...(Object.keys(values) as KeyPartType[]))
  const delimiter = fc.stringMatching(/^[:/#_.~ -]([a-z]*[:/#_.~-])?$/)

  /** A template of one to four parts, their types, perhaps one that holds a parent's key, and two sets of values. */
  const example = fc
    .record({
      types: fc.array(type, { minLength: 1, maxLength: 4 }),
      delimiters: fc.array(delimiter, { minLength: 4, maxLength: 4 }),
      head: fc.stringMatching(/^[a-z:%]*$/),
      tail: fc.oneof(fc.constant(''), fc.stringMatching(/^[:/#][a-z:]*$/)),
      parent: fc.nat({ max: 7 }),
    })
    .chain(({ types, delimiters, head, tail, parent }) => {
      const text = head + types.map((_, i) => (i ? delimiters[i] : '') + `{p${i}}`).join('') + tail
      const named = Object.fromEntries(types.map((t, i) => [`p${i}`, t]))
      const parts = fc.record(Object.fromEntries(types.map((t, i) => [`p${i}`, values[t]])))
      return fc.record({
        format: fc.constant(createFormat(text, { types: named, parent: `p${parent}` })),
        one: parts,
        other: parts,
      })
    })
  const printable = (format: KeyFormat, parts: Record<string, KeyPartValue>): string | undefined => {
    try {
      return format.format(parts)
    } catch {
      return undefined
    }
  }

  it('parse is the exact inverse of format', () => {
    fc.assert(
      fc.property(example, ({ format, one }) => {
        const key = printable(format, one)
        fc.pre(key !== undefined)
        expect({ ...format.parse(key) }).to.deep.equal(one)
      }),
      { numRuns: 2000 },
    )
  })

  it('different parts never print one key', () => {
    fc.assert(
      fc.property(example, ({ format, one, other }) => {
        const [a, b] = [printable(format, one), printable(format, other)]
        fc.pre(a !== undefined && b !== undefined)
        if (a === b) expect(one).to.deep.equal(other)
      }),
      { numRuns: 2000 },
    )
  })

  it('whatever parse accepts, format prints back', () => {
    fc.assert(
      fc.property(example, fc.string(), fc.nat(), ({ format, one }, noise, at) => {
        const key = printable(format, one) ?? ''
        const mutated = key.slice(0, at % (key.length + 1)) + noise + key.slice(at % (key.length + 1))
        const parts = format.tryParse(mutated)
        if (parts) expect(format.format(parts)).to.equal(mutated)
      }),
      { numRuns: 2000 },
    )
  })
})
