import Aerospike from 'aerospike'
import { expect } from 'chai'
import { binEquals, versionIs } from '#src/plan/command.js'
import * as e from '#src/plan/expression.js'
import { encodeExpression, encodeGuards } from '#src/driver/encode-expression.js'

const { exp, lists, maps } = Aerospike

// The client's own compiler is the judge; it needs no connection.
const client = new Aerospike.Client({ hosts: '127.0.0.1:1', log: { level: Aerospike.log.OFF } })
const compiled = (expression: unknown): string => client.expressionToBase64(expression as Aerospike.AerospikeExp)

describe('expressions, written without the client, are byte for byte those of the client', () => {
  const cases: [string, e.Expression, unknown][] = [
    [
      'and, or, not',
      e.and(
        e.or(e.not(e.binExists('a')), e.eq(e.bin('bool', 'b'), e.value(true))),
        e.ne(e.bin('int', 'c'), e.value(-5)),
      ),
      exp.and(
        exp.or(exp.not(exp.binExists('a')), exp.eq(exp.binBool('b'), exp.bool(true))),
        exp.ne(exp.binInt('c'), exp.int(-5)),
      ),
    ],
    ['comparisons of doubles', e.gt(e.bin('float', 'd'), e.value(1.5)), exp.gt(exp.binFloat('d'), exp.float(1.5))],
    [
      'ranges',
      e.and(
        e.ge(e.bin('int', 'n'), e.value(1)),
        e.lt(e.bin('int', 'n'), e.value(9)),
        e.le(e.bin('int', 'n'), e.value(8)),
      ),
      exp.and(
        exp.ge(exp.binInt('n'), exp.int(1)),
        exp.lt(exp.binInt('n'), exp.int(9)),
        exp.le(exp.binInt('n'), exp.int(8)),
      ),
    ],
    [
      'cond and unknown',
      e.cond(e.binExists('a'), e.bin('int', 'a'), e.unknown()),
      exp.cond(exp.binExists('a'), exp.binInt('a'), exp.unknown()),
    ],
    ['add', e.add(e.bin('int', 'a'), e.value(3)), exp.add(exp.binInt('a'), exp.int(3))],
    ['record size', e.recordSize(), exp.recordSize()],
    [
      'list size and count',
      e.gt(e.listSize(e.bin('list', 'l')), e.listCount(e.bin('list', 'l'), 'x')),
      exp.gt(
        exp.lists.size(exp.binList('l')),
        exp.lists.getByValue(exp.binList('l'), exp.str('x'), lists.returnType.COUNT),
      ),
    ],
    ['time since the last update', e.sinceUpdate(), exp.sinceUpdate()],
    [
      'items of a list by position',
      e.listSlice(e.bin('list', 'l'), 2, 5),
      exp.lists.getByIndexRange(exp.binList('l'), exp.int(2), exp.int(5), lists.returnType.VALUE),
    ],
    [
      'items of a list from one on',
      e.listFrom(e.bin('list', 'l'), 'x', 5),
      exp.lists.getByRelRankRange(exp.binList('l'), exp.str('x'), exp.int(0), exp.int(5), lists.returnType.VALUE),
    ],
    [
      'keys of a map by position',
      e.mapKeySlice(e.bin('map', 'm'), 2, 5),
      exp.maps.getByIndexRange(exp.binMap('m'), exp.int(5), exp.int(2), maps.returnType.KEY),
    ],
    [
      'keys of a map from one on',
      e.mapKeysFrom(e.bin('map', 'm'), 7, 5),
      exp.maps.getByKeyRelIndexRange(exp.binMap('m'), exp.int(5), exp.int(0), exp.int(7), maps.returnType.KEY),
    ],
    ['map size', e.mapSize(e.bin('map', 'm')), exp.maps.size(exp.binMap('m'))],
    [
      'map get',
      e.mapGet(e.bin('map', 'm'), 'x', 'str'),
      exp.maps.getByKey(exp.binMap('m'), exp.str('x'), exp.type.STR, maps.returnType.VALUE),
    ],
    [
      'map count',
      e.mapCount(e.bin('map', 'm'), 7),
      exp.maps.getByKey(exp.binMap('m'), exp.int(7), exp.type.INT, maps.returnType.COUNT),
    ],
    [
      'list literals',
      e.eq(e.bin('list', 'l'), e.value([1, 'a', null, true])),
      exp.eq(exp.binList('l'), exp.list([1, 'a', null, true])),
    ],
    [
      'map literals',
      e.eq(e.bin('map', 'm'), e.value({ b: 1, a: 2 })),
      exp.eq(exp.binMap('m'), exp.map({ b: 1, a: 2 })),
    ],
    [
      'mixed map keys',
      e.eq(
        e.bin('map', 'm'),
        e.value(
          new Map<string | number | Uint8Array, string>([
            [Buffer.from('b'), 'z'],
            ['a', 'y'],
            [2, 'x'],
            [1, 'w'],
          ]),
        ),
      ),
      exp.eq(
        exp.binMap('m'),
        exp.map(
          new Map<unknown, unknown>([
            [Buffer.from('b'), 'z'],
            ['a', 'y'],
            [2, 'x'],
            [1, 'w'],
          ]) as never,
        ),
      ),
    ],
    [
      'bytes',
      e.eq(e.bin('blob', 'b'), e.value(Buffer.from('abc'))),
      exp.eq(exp.binBlob('b'), exp.bytes(Buffer.from('abc'), 3)),
    ],
  ]
  for (const [name, ours, theirs] of cases) {
    it(name, () => expect(encodeExpression(ours)).to.equal(compiled(theirs)))
  }

  for (const n of [
    0,
    127,
    128,
    255,
    256,
    65535,
    65536,
    2 ** 32 - 1,
    2 ** 32,
    Number.MAX_SAFE_INTEGER,
    -1,
    -32,
    -33,
    -128,
    -129,
    -32768,
    -32769,
    -(2 ** 31),
    -(2 ** 31) - 1,
    Number.MIN_SAFE_INTEGER,
  ]) {
    it(`integer ${n}`, () => expect(encodeExpression(e.value(n))).to.equal(compiled(exp.int(n))))
  }

  for (const length of [0, 1, 30, 31, 32, 254, 255, 256, 70_000]) {
    it(`string of ${length} characters`, () => {
      const text = 'é'.repeat(length)
      expect(encodeExpression(e.eq(e.bin('str', 's'), e.value(text)))).to.equal(
        compiled(exp.eq(exp.binStr('s'), exp.str(text))),
      )
    })
  }
})

describe('guards as filters', () => {
  it('a version', () => {
    expect(encodeGuards([versionIs('v', 7)])).to.equal(compiled(exp.eq(exp.binInt('v'), exp.int(7))))
  })

  it('an absent bin', () => {
    expect(encodeGuards([binEquals('owner', null)])).to.equal(compiled(exp.not(exp.binExists('owner'))))
  })

  it('several at once', () => {
    const ours = encodeGuards([versionIs('v', 70_000), binEquals('owner', 'ann'), binEquals('k', Buffer.from([1, 2]))])
    const theirs = exp.and(
      exp.eq(exp.binInt('v'), exp.int(70_000)),
      exp.eq(exp.binStr('owner'), exp.str('ann')),
      exp.eq(exp.binBlob('k'), exp.bytes(Buffer.from([1, 2]), 2)),
    )
    expect(ours).to.equal(compiled(theirs))
  })

  it('none', () => expect(encodeGuards([])).to.equal(undefined))

  it('of 64-bit integers', () => {
    expect(Buffer.from(encodeGuards([binEquals('k', 2n ** 62n)])!, 'base64').toString('hex')).to.equal(
      '9301935102a16bcf4000000000000000',
    )
  })
})
