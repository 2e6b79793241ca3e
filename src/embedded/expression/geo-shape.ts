import { requestBudget } from '../protocol/request-budget.js'
import type { Bytes } from '../value/value.js'

/** Degrees: longitude, latitude. */
type Point = readonly [number, number]

/** Tells whether a point lies in a region. */
type Region = (point: Point) => boolean

type Shape = { readonly point: Point } | { readonly region: Region }

const EARTH_RADIUS = 6_371_000
const RADIAN = Math.PI / 180
/** Kept by identity: a literal is parsed once, however many records it is compared with. */
const shapes = new WeakMap<Bytes, { readonly shape: Shape | undefined }>()

/** The shape of a GeoJSON value, or undefined where its text describes none that can be compared. */
export function shapeOf(value: Bytes): Shape | undefined {
  requestBudget.work(value.bytes.length)
  let known = shapes.get(value)
  if (known === undefined) {
    known = { shape: parse(value.bytes.toString('utf8')) }
    shapes.set(value, known)
  }
  return known.shape
}

function parse(text: string): Shape | undefined {
  try {
    return geometry(JSON.parse(text))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function geometry(json: unknown): Shape | undefined {
  if (typeof json !== 'object' || json === null || !('type' in json)) return undefined
  if (json.type === 'Feature') return 'geometry' in json ? plainGeometry(json.geometry) : undefined
  return plainGeometry(json)
}

function plainGeometry(json: unknown): Shape | undefined {
  if (typeof json !== 'object' || json === null || !('type' in json && 'coordinates' in json)) return undefined
  const { type, coordinates } = json
  switch (type) {
    case 'Point':
      return isPoint(coordinates) ? { point: coordinates } : undefined
    case 'AeroCircle':
      return circle(coordinates)
    case 'Polygon':
      return isPolygon(coordinates) ? { region: polygon(coordinates) } : undefined
    case 'MultiPolygon': {
      if (!Array.isArray(coordinates) || !coordinates.every(isPolygon)) return undefined
      const parts = coordinates.map(polygon)
      return { region: (point) => parts.some((part) => part(point)) }
    }
  }
  return undefined
}

function circle(coordinates: unknown): Shape | undefined {
  if (!Array.isArray(coordinates)) return undefined
  const [center, radius] = coordinates as unknown[]
  if (!isPoint(center) || typeof radius !== 'number') return undefined
  return { region: (point) => distance(center, point) <= radius }
}

/** The first ring is the outline, the others are holes. */
function polygon([outline, ...holes]: readonly Point[][]): Region {
  return (point) => isInside(outline, point) && !holes.some((hole) => isInside(hole, point))
}

function isPoint(value: unknown): value is Point {
  return Array.isArray(value) && value.length === 2 && value.every((each) => Number.isFinite(each))
}

function isPolygon(value: unknown): value is Point[][] {
  return Array.isArray(value) && value.length > 0 && value.every((ring) => Array.isArray(ring) && ring.every(isPoint))
}

/** Metres on a sphere. */
function distance([lngA, latA]: Point, [lngB, latB]: Point): number {
  const half = (degrees: number) => Math.sin((degrees * RADIAN) / 2) ** 2
  const h = half(latB - latA) + Math.cos(latA * RADIAN) * Math.cos(latB * RADIAN) * half(lngB - lngA)
  return 2 * EARTH_RADIUS * Math.asin(Math.min(1, Math.sqrt(h)))
}

/** Looks along the ring from the point: the line of sight turns once around for a point inside, and not at all outside. */
function isInside(ring: readonly Point[], point: Point): boolean {
  let turned = 0
  for (let i = 0; i < ring.length; i++) {
    const turn = bearing(point, ring[(i + 1) % ring.length]) - bearing(point, ring[i])
    turned += turn > Math.PI ? turn - 2 * Math.PI : turn < -Math.PI ? turn + 2 * Math.PI : turn
  }
  return Math.abs(turned) > Math.PI
}

function bearing([lngA, latA]: Point, [lngB, latB]: Point): number {
  const [a, b, across] = [latA * RADIAN, latB * RADIAN, (lngB - lngA) * RADIAN]
  return Math.atan2(
    Math.sin(across) * Math.cos(b),
    Math.cos(a) * Math.sin(b) - Math.sin(a) * Math.cos(b) * Math.cos(across),
  )
}
