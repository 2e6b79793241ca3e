import { expect } from 'chai'
import { readExpression } from '#src/embedded/expression/index.js'
import { CommandError } from '#src/embedded/protocol/result-code.js'
import type { Bytes } from '#src/embedded/value/value.js'
import { expressionBytes, type Written } from './expression-bytes.js'
import { geo, sampleRecord } from './sample-record.js'

const shape = (type: string, coordinates: unknown): Bytes => geo(JSON.stringify({ type, coordinates }))
const point = (lng: number, lat: number): Bytes => shape('Point', [lng, lat])

const circle = shape('AeroCircle', [[103.875, 1.297], 10_000])
const square = (size: number): number[][] => [
  [-size, -size],
  [size, -size],
  [size, size],
  [-size, size],
  [-size, -size],
]
const ring = shape('Polygon', [square(10), square(5)])
const two = shape('MultiPolygon', [[square(1)], [square(1).map(([lng, lat]) => [lng + 100, lat + 40])]])

/** The value of a comparison, or the result code with which it is refused. */
function compare(a: Written, b: Written): unknown {
  try {
    return readExpression(expressionBytes([[8, a, b], 0]), sampleRecord())
  } catch (error) {
    if (error instanceof CommandError) return error.code
    throw error
  }
}

const CASES: [string, Bytes, Bytes, unknown][] = [
  ['a point in a circle', point(103.913, 1.308), circle, true],
  ['a point beside a circle', point(104, 1.308), circle, false],
  ['a point in a polygon', point(7, 7), ring, true],
  ['a point in the hole of a polygon', point(1, 1), ring, false],
  ['a point outside of a polygon', point(11, 0), ring, false],
  ['a point on the other side of the earth', point(180, 0), ring, false],
  ['a point in one of several polygons', point(100.5, 40.5), two, true],
  ['a feature', geo('{"type":"Feature","geometry":{"type":"Point","coordinates":[7,7]}}'), ring, true],
  ['two points', point(1, 1), point(1, 1), false],
  ['two regions', circle, ring, false],
  ['text that is not JSON', geo('{"type":'), circle, 26],
  ['a shape nobody knows', shape('LineString', [[1, 1]]), circle, 26],
  ['coordinates that are none', shape('Polygon', [7]), point(1, 1), 26],
]

describe('A comparison of places answers for', () => {
  for (const [name, a, b, expected] of CASES) {
    it(name, () => expect([compare(a, b), compare(b, a)]).to.deep.equal([expected, expected]))
  }

  it('answers 4 for a value that is not a place', () => expect(compare(circle, 'x')).to.equal(4))
})
