import type { RecordView } from '#src/embedded/expression/index.js'
import {
  Bytes,
  Float,
  ListValue,
  MAP_KEY_ORDERED,
  MapValue,
  ParticleType,
  type Value,
} from '#src/embedded/value/value.js'

export const list = (...items: Value[]): ListValue => new ListValue(items)
export const blob = (...bytes: number[]): Bytes => new Bytes(ParticleType.BLOB, Buffer.from(bytes))
export const geo = (json: string): Bytes => new Bytes(ParticleType.GEOJSON, Buffer.from(json))
/** A key-ordered map; keys must be given in order. */
export const map = (...pairs: [Value, Value][]): MapValue =>
  new MapValue(
    pairs.map(([key]) => key),
    pairs.map(([, value]) => value),
    MAP_KEY_ORDERED,
  )

export const POINT = geo('{"type":"Point","coordinates":[1,2]}')

const BINS: Record<string, Value> = {
  i: 7,
  s: 'hello',
  f: new Float(2.5),
  t: true,
  b: blob(1, 2, 3),
  l: list(5, 1, 3),
  m: map(['a', 1], ['b', 2], ['n', map(['z', 1])]),
  mm: map(['a', map(['k', 5])]),
  g: POINT,
}

/** The record on which a real server's answers were observed, with any part replaced. */
export function sampleRecord(changes: Partial<RecordView> & { bins?: Record<string, Value> } = {}): RecordView {
  const bins = { ...BINS, ...changes.bins }
  return {
    setName: 'demo',
    digest: Buffer.from('000102030405060708090a0b0c0d0e0f10000000', 'hex'),
    userKey: 'E',
    lastUpdate: 1_794_787_015_092,
    voidTime: 0,
    size: 272,
    bin: (name) => bins[name],
    ...changes,
  }
}
