import { expect } from 'chai'
import fc from 'fast-check'
import { SkeinError } from 'skein'
import {
  DateFormat,
  generateId,
  hashId,
  hashIdBytes,
  KeyFormat,
  parseTemplate,
  partAddress,
  sliceKeys,
  sortableId,
  sortableIdTime,
  timeSlices,
  type KeyFormatOptions,
} from '#src/keys/index.js'

const keyFormat = (text: string, options: Omit<KeyFormatOptions, 'className'>): KeyFormat =>
  KeyFormat.create(parseTemplate(text) as Exclude<ReturnType<typeof parseTemplate>, string>, {
    className: 'Reading',
    ...options,
  }) as KeyFormat
const dateFormat = (pattern: string): DateFormat => DateFormat.parse(pattern) as DateFormat

describe('time slices', () => {
  const sensor = keyFormat('sensor:{id}:{day|YYYY-MM-DD}', { types: { id: 'int', day: 'date' } })

  it('are the keys that cover a range of time', () => {
    const range = { from: new Date('2024-02-28T13:00:00Z'), to: new Date('2024-03-01T00:00:00.001Z') }
    expect(sliceKeys(sensor, { id: 7 }, range)).to.deep.equal([
      'sensor:7:2024-02-28',
      'sensor:7:2024-02-29',
      'sensor:7:2024-03-01',
    ])
  })

  it('leave the end of the range out', () => {
    const day = (text: string): Date => new Date(text)
    expect(sliceKeys(sensor, { id: 7 }, { from: day('2024-05-01'), to: day('2024-05-02') })).to.have.length(1)
    expect(sliceKeys(sensor, { id: 7 }, { from: day('2024-05-01'), to: day('2024-05-01') })).to.have.length(0)
    const noon = new Date('2024-05-01T12:00:00Z')
    expect(sliceKeys(sensor, { id: 7 }, { from: noon, to: noon })).to.have.length(0)
  })

  it('work for properties that hold the slice as text or as milliseconds', () => {
    const range = { from: new Date('2024-12-31T23:30:00Z'), to: new Date('2025-01-01T00:30:00Z') }
    for (const type of ['string', 'int'] as const) {
      const format = keyFormat('{hour|YYYYMMDDHH}', { types: { hour: type } })
      expect(sliceKeys(format, {}, range)).to.deep.equal(['2024123123', '2025010100'])
    }
  })

  const counts: [pattern: string, slices: number][] = [
    ['YYYY', 2],
    ['YYYY-MM', 14],
    ['YYYYMMDD', 398],
    ['YYYY-MM-DDTHH', 9530],
  ]
  for (const [pattern, slices] of counts) {
    it(`of ${pattern}: ${slices} from January 2024 to February 2025`, () => {
      const range = { from: new Date('2024-01-01'), to: new Date('2025-02-01T02:00:00Z') }
      expect(timeSlices(dateFormat(pattern), range)).to.have.length(slices)
    })
  }

  it('refuse ranges that are not ranges, or far too long', () => {
    const [early, late] = [new Date('2024-01-01'), new Date('2034-01-01')]
    expect(() => sliceKeys(sensor, { id: 1 }, { from: late, to: early })).to.throw(SkeinError, /ends before it begins/)
    expect(() => sliceKeys(sensor, { id: 1 }, { from: new Date(NaN), to: early })).to.throw(SkeinError, /not valid/)
    expect(() => timeSlices(dateFormat('YYYYMMDDHHmm'), { from: early, to: late })).to.throw(/more than 10000 slices/)
    const plain = keyFormat('sensor:{id}', { types: { id: 'int' } })
    expect(() => sliceKeys(plain, { id: 1 }, { from: early, to: late })).to.throw(/has no slice of time/)
  })

  it('cover every instant of the range exactly once, in order (property)', () => {
    const pattern = fc.constantFrom('YYYY', 'YYYY-MM', 'YYYY-MM-DD', 'YYYYMMDDHH', 'YYYY-MM-DD HH:mm')
    const instant = fc.date({ min: new Date('0000-01-01T00:00:00Z'), max: new Date('9998-12-31'), noInvalidDate: true })
    fc.assert(
      fc.property(
        pattern,
        instant,
        fc.nat({ max: 20 * 86_400_000 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (text, from, length, at) => {
          const format = dateFormat(text)
          const to = new Date(from.getTime() + length + 1)
          const slices = timeSlices(format, { from, to }, 40_000)
          const names = slices.map((slice) => format.format(slice)!)
          expect([...new Set(names)].sort()).to.deep.equal(names)
          expect(slices[0].getTime()).to.be.at.most(from.getTime())
          expect(format.next(slices.at(-1)!).getTime()).to.be.at.least(to.getTime())
          const inside = new Date(from.getTime() + Math.floor(length * at))
          expect(names.filter((name) => name === format.format(inside))).to.have.length(1)
        },
      ),
      { numRuns: 50 },
    )
  })
})

describe('generated ids', () => {
  it('uuids are UUIDs, each a different one', () => {
    expect(generateId('uuid')).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(generateId('uuid')).to.not.equal(generateId('uuid'))
  })

  it('sortable ids are greater the later they were made, also within a millisecond', () => {
    const ids = Array.from({ length: 5000 }, () => generateId('sortable'))
    expect([...ids].sort()).to.deep.equal(ids)
    expect(new Set(ids).size).to.equal(ids.length)
    expect(ids.every((id) => /^[0-9A-HJKMNP-TV-Z]{26}$/.test(id))).to.equal(true)
  })

  it('sortable ids say when they were made, and stay in order when the clock goes back', () => {
    const later = Date.UTC(2100, 0, 1)
    const first = sortableId(later)
    expect(sortableIdTime(first).getTime()).to.equal(later)
    expect(sortableId(later - 1000) > first).to.equal(true)
  })

  it('hashed ids have a fixed size and depend on the parts, not on their order', () => {
    const id = hashId({ tenant: 'acme', email: 'ada@example.org' })
    expect(id).to.match(/^[A-Za-z0-9_-]{22}$/)
    expect(hashId({ email: 'ada@example.org', tenant: 'acme' })).to.equal(id)
    expect(hashIdBytes({ tenant: 'acme', email: 'ada@example.org' }).toString('base64url')).to.equal(id)
    expect(hashId({ email: 'acme', tenant: 'ada@example.org' })).to.not.equal(id)
  })

  it('hashed ids never change between versions: they are stored', () => {
    expect(hashId({ tenant: 'acme', order: 5 })).to.equal('XZiy0SdeRhZf3pEFaExZfA')
  })

  it('hashed ids tell types and borders apart', () => {
    const ids = [
      hashId({ a: '1' }),
      hashId({ a: 1 }),
      hashId({ a: true }),
      hashId({ a: new Date(1) }),
      hashId({ a: Buffer.from([1]) }),
      hashId({ a: 'x', b: 'y' }),
      hashId({ a: 'x;1:b=2:sy' }),
    ]
    expect(new Set(ids).size).to.equal(ids.length)
    expect(hashId({ a: 1n })).to.equal(hashId({ a: 1 }))
  })

  it('hashed ids refuse parts that have no stable text', () => {
    expect(() => hashId({})).to.throw(SkeinError, /at least one part/)
    expect(() => hashId({ a: 1.5 })).to.throw(SkeinError, /the part 'a' is 1.5/)
  })
})

describe('a part’s own id', () => {
  it('says which record holds the part', () => {
    const store = keyFormat('{regionId}:{storeId}', {
      types: { regionId: 'string', storeId: 'int' },
      parent: 'regionId',
    })
    const id = store.format({ regionId: 'country:7:north', storeId: 12 })
    expect(id).to.equal('country:7:north:12')
    const address = partAddress(store, 'regionId', id)
    expect(address.recordKey).to.equal('country:7:north')
    expect(address.parts).to.deep.equal({ storeId: 12 })
  })
})
