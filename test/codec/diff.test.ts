import { expect } from 'chai'
import { Bin, compileModel, Counter, Embeddable, Embedded, Key, ManyToOne, Record, ref, SkeinError } from 'skein'
import { compileCodecs } from '#src/codec/index.js'
import * as op from '#src/plan/operations.js'
import { DoubleValue } from '#src/plan/value.js'

@Embeddable()
class Geo {
  @Bin({ type: 'double' }) lat?: number
  @Bin({ type: 'double' }) lon?: number
}

@Embeddable()
class Address {
  @Bin() city?: string
  @Bin() zip?: string
  @Embedded(() => Geo) geo?: Geo
  @Bin({ type: { set: 'string' } }) labels?: Set<string>
  @ManyToOne(() => Person) owner = ref<Person>()
}

@Record({ set: 'person' })
class Person {
  @Key() id!: number
  @Bin() name?: string
  @Bin({ type: { list: 'string' } }) notes?: string[]
  @Bin({ type: { set: 'string' } }) tags?: Set<string>
  @Bin({ type: { map: 'int' } }) scores?: Map<string, number>
  @Embedded(() => Address) home?: Address
  @Embedded(() => Address, { as: 'map' }) places?: Map<string, Address>
  @Embedded(() => Geo, { as: 'array' }) track?: Geo[]
  @Embedded(() => Geo, { layout: 'bins', prefix: 'g_' }) seen?: Geo
  @Counter() visits?: number
  @Bin({ type: 'double' }) weight?: number
}

const codec = compileCodecs(compileModel([Person], { namespace: 'test' })).entity(Person)
const make = <T extends object>(type: new () => T, values: Partial<T>): T => Object.assign(new type(), values)

/** The operations that a change of a stored person sends. */
function changes(before: Partial<Person>, change: (person: Person) => void): readonly object[] {
  const person = make(Person, { id: 1, ...before })
  const snapshot = codec.snapshot(person)
  change(person)
  return codec.diff(person, snapshot)
}

describe('a change', () => {
  it('of nothing sends nothing, and always the same nothing', () => {
    const nothing = changes({ name: 'Ada' }, () => undefined)
    expect(nothing).to.deep.equal([])
    expect(changes({}, () => undefined)).to.equal(nothing)
  })

  it('of a property writes its bin alone', () => {
    expect(changes({ name: 'Ada', notes: ['x'] }, (p) => (p.name = 'Eve'))).to.deep.equal([op.writeBin('name', 'Eve')])
  })

  it('of several properties writes each of them, and leaves nothing for the next change', () => {
    const both = (p: Person): void => void Object.assign(p, { name: 'Eve', weight: 60.5, notes: ['y'] })
    const sent = [op.writeBin('name', 'Eve'), op.writeBin('notes', ['y']), op.writeBin('weight', 60.5)]
    for (let i = 0; i < 3; i++) {
      expect(changes({ name: 'Ada', weight: 61, notes: ['x'] }, both)).to.deep.equal(sent)
      expect(changes({ name: 'Ada', weight: 61 }, (p) => (p.name = 'Eve'))).to.deep.equal([op.writeBin('name', 'Eve')])
    }
  })

  it('of a double tells -0 from 0, and finds NaN unchanged', () => {
    const to = (before: number | undefined, weight: number): readonly object[] =>
      changes({ weight: before }, (p) => (p.weight = weight))
    for (const same of [0, -0, NaN, 1.5]) expect(to(same, same)).to.deep.equal([])
    expect(to(0, -0)).to.deep.equal([op.writeBin('weight', new DoubleValue(-0))])
    expect(to(-0, 0)).to.deep.equal([op.writeBin('weight', new DoubleValue(0))])
    for (const before of [0, 1.5, undefined]) expect(to(before, NaN)).to.deep.equal([op.writeBin('weight', NaN)])
    expect(to(NaN, 0)).to.deep.equal([op.writeBin('weight', new DoubleValue(0))])
    expect(to(undefined, 0)).to.deep.equal([op.writeBin('weight', new DoubleValue(0))])
  })

  it('to null or undefined removes the bin', () => {
    for (const gone of [null, undefined]) {
      expect(changes({ name: 'Ada' }, (p) => (p.name = gone as undefined))).to.deep.equal([op.removeBin('name')])
      expect(changes({}, (p) => (p.name = gone as undefined))).to.deep.equal([])
    }
  })

  it('of a list that only grew appends what is new', () => {
    const grown = changes({ notes: ['a'] }, (p) => p.notes!.push('b', 'c'))
    expect(grown).to.deep.equal([op.listAppend('notes', ['b', 'c'], 'unordered')])
  })

  it('of a list in any other way writes the list', () => {
    expect(changes({ notes: ['a', 'b'] }, (p) => p.notes!.shift())).to.deep.equal([op.writeBin('notes', ['b'])])
    expect(changes({ notes: ['a'] }, (p) => (p.notes = ['x', 'b']))).to.deep.equal([op.writeBin('notes', ['x', 'b'])])
  })

  it('of a list, Map or part that was not there adds to what others may have stored', () => {
    expect(changes({}, (p) => (p.notes = ['a']))).to.deep.equal([op.listAppend('notes', ['a'], 'unordered')])
    expect(changes({}, (p) => (p.notes = []))).to.deep.equal([op.listCreate('notes', 'unordered', false)])
    expect(changes({}, (p) => (p.scores = new Map([['a', 1]])))).to.deep.equal([op.mapPut('scores', 'a', 1)])
    expect(changes({}, (p) => (p.scores = new Map()))).to.deep.equal([op.mapCreate('scores', 'ordered', false)])
    const home = make(Address, { city: 'Rome' })
    expect(changes({}, (p) => (p.home = home))).to.deep.equal([op.mapPut('home', 'city', 'Rome')])
    expect(changes({}, (p) => (p.home = make(Address, {})))).to.deep.equal([op.mapCreate('home', 'ordered', false)])
  })

  it('of a Set sends the members that came and went', () => {
    const sent = changes({ tags: new Set(['a', 'b']) }, (p) => (p.tags = new Set(['b', 'c'])))
    expect(sent).to.deep.equal([op.listRemoveValues('tags', ['a']), op.listAppendUnique('tags', ['c'])])
    expect(changes({ tags: new Set(['a']) }, (p) => (p.tags = new Set(['a'])))).to.deep.equal([])
  })

  it('of a Set that was not there appends to what others may have stored, and an empty one leaves that', () => {
    expect(changes({}, (p) => (p.tags = new Set(['a'])))).to.deep.equal([op.listAppendUnique('tags', ['a'])])
    expect(changes({}, (p) => (p.tags = new Set()))).to.deep.equal([op.listCreate('tags', 'ordered', true)])
  })

  it('of a Map sends the entries that changed', () => {
    const scores = new Map([
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ])
    const one = changes({ scores }, (p) => p.scores!.set('b', 5))
    expect(one).to.deep.equal([op.mapPut('scores', 'b', 5)])
    const several = changes({ scores: new Map(scores) }, (p) => {
      p.scores!.delete('a')
      p.scores!.set('c', 4).set('d', 6)
    })
    const items = new Map([
      ['c', 4],
      ['d', 6],
    ])
    expect(several).to.deep.equal([op.mapRemoveKeys('scores', ['a']), op.mapPutItems('scores', items)])
  })

  it('inside a part sends the fields that changed, through their context', () => {
    const home = make(Address, { city: 'Rome', zip: '1', geo: make(Geo, { lat: 1.5, lon: 2 }) })
    const sent = changes({ home }, (p) => {
      p.home!.city = 'Oslo'
      p.home!.zip = undefined
      p.home!.geo!.lon = 3
    })
    expect(sent).to.deep.equal([
      op.mapRemoveKeys('home', ['zip']),
      op.mapPut('home', 'city', 'Oslo'),
      op.mapPut('home', 'lon', new DoubleValue(3), [op.atKey('geo')]),
    ])
  })

  it('of a Set inside a part works through the context too', () => {
    const home = make(Address, { labels: new Set(['a']) })
    const sent = changes({ home }, (p) => p.home!.labels!.add('b'))
    expect(sent).to.deep.equal([op.listAppendUnique('home', ['b'], [op.atKey('labels')])])
  })

  it('of a ref inside a part sends the key it holds', () => {
    const home = make(Address, { city: 'Rome' })
    expect(changes({ home }, (p) => p.home!.owner.set(7))).to.deep.equal([op.mapPut('home', 'owner', 7)])
  })

  it('that replaces a part by an equal one sends nothing', () => {
    const home = make(Address, { city: 'Rome' })
    expect(changes({ home }, (p) => (p.home = make(Address, { city: 'Rome' })))).to.deep.equal([])
  })

  it('from a part to none is a change of the bin', () => {
    expect(changes({ home: make(Address, {}) }, (p) => (p.home = undefined))).to.deep.equal([op.removeBin('home')])
  })

  it('in a Map of parts sends the changed part’s changed field, new parts and removed ones', () => {
    const places = new Map([
      ['home', make(Address, { city: 'Rome', zip: '1' })],
      ['work', make(Address, { city: 'Oslo' })],
    ])
    const sent = changes({ places }, (p) => {
      p.places!.get('home')!.city = 'Bari'
      p.places!.delete('work')
      p.places!.set('lake', make(Address, { zip: '9' }))
    })
    expect(sent).to.deep.equal([
      op.mapRemoveKeys('places', ['work']),
      op.mapPut('places', 'lake', { zip: '9' }),
      op.mapPut('places', 'city', 'Bari', [op.atKey('home')]),
    ])
  })

  it('in an array of parts appends, or writes the array: positions are not stable', () => {
    const track = [make(Geo, { lat: 0.5 })]
    const grown = changes({ track: [...track] }, (p) => p.track!.push(make(Geo, { lat: 1.5 })))
    expect(grown).to.deep.equal([op.listAppend('track', [{ lat: 1.5 }], 'unordered')])
    const changed = changes({ track }, (p) => (p.track![0].lat = 2.5))
    expect(changed).to.deep.equal([op.writeBin('track', [{ lat: 2.5 }])])
  })

  it('in a part that lies in bins changes those bins alone', () => {
    const seen = make(Geo, { lat: 0.5, lon: 1.5 })
    expect(changes({ seen }, (p) => (p.seen!.lat = 2.5))).to.deep.equal([op.writeBin('g_lat', 2.5)])
    const gone = changes({ seen: make(Geo, { lat: 0.5 }) }, (p) => (p.seen = undefined))
    expect(gone).to.deep.equal([op.removeBin('g_lat')])
    const come = changes({}, (p) => (p.seen = make(Geo, { lon: 0.5 })))
    expect(come).to.deep.equal([op.writeBin('g_lon', 0.5)])
  })

  it('of a counter adds the difference', () => {
    expect(changes({ visits: 5 }, (p) => (p.visits! += 2))).to.deep.equal([op.addToBin('visits', 2)])
    expect(changes({ visits: 5 }, (p) => (p.visits = 4))).to.deep.equal([op.addToBin('visits', -1)])
    expect(changes({}, (p) => (p.visits = 3))).to.deep.equal([op.addToBin('visits', 3)])
  })

  it('of a counter to nothing removes it, and to nonsense is refused', () => {
    expect(changes({ visits: 5 }, (p) => (p.visits = undefined))).to.deep.equal([op.removeBin('visits')])
    expect(() => changes({ visits: 5 }, (p) => (p.visits = 0.5))).to.throw(
      SkeinError,
      /Person\.visits: 0\.5 is not an integer/,
    )
    expect(() => changes({ visits: -(2 ** 53) + 1 }, (p) => (p.visits = 2))).to.throw(SkeinError, /Person\.visits/)
  })

  it('of the key is refused', () => {
    expect(() => changes({}, (p) => (p.id = 2)))
      .to.throw(SkeinError, /The key of Person 1 was changed to 2/)
      .with.property('code', 'SKEIN_2203')
    expect(() => changes({}, (p) => (p.id = undefined as unknown as number))).to.throw(SkeinError, /was changed/)
  })

  it('of a part that contains itself is refused', () => {
    @Embeddable()
    class Node {
      @Embedded(() => Node) next?: Node
    }
    @Record({ set: 'chain' })
    class Chain {
      @Key() id!: number
      @Embedded(() => Node) first?: Node
    }
    const chains = compileCodecs(compileModel([Chain], { namespace: 'test' })).entity(Chain)
    const chain = make(Chain, { id: 1, first: new Node() })
    const snapshot = chains.snapshot(chain)
    chain.first!.next = chain.first
    expect(() => chains.diff(chain, snapshot)).to.throw(SkeinError, /Chain\.first\.next.*: the part contains itself/)
    expect(() => chains.dehydrate(chain)).to.throw(SkeinError, /the part contains itself/)
  })
})

describe('a new record', () => {
  it('gets its sets as ordered lists, and everything else as it is', () => {
    const person = make(Person, { id: 1, name: 'Ada', tags: new Set(['a']), visits: 0, seen: make(Geo, { lat: 0.5 }) })
    expect(codec.create(person)).to.deep.equal([
      op.writeBin('id', 1),
      op.writeBin('name', 'Ada'),
      op.listCreate('tags', 'ordered', true),
      op.listAppendUnique('tags', ['a']),
      op.writeBin('g_lat', 0.5),
      op.writeBin('visits', 0),
    ])
  })
})

describe('operations', () => {
  it('do not change when the entity does', () => {
    const notes = ['a']
    const json = changes({}, (p) => (p.notes = notes))
    notes.push('b')
    expect(json).to.deep.equal([op.listAppend('notes', ['a'], 'unordered')])
  })
})
