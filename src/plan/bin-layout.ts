import type { MapOrder, WriteOperation } from './operation.js'
import { listCreate, mapCreate } from './operations.js'
import type { Value } from './value.js'

/** The declared subtype of the list or map of a bin. */
export interface BinLayout {
  readonly bin: string
  readonly kind: 'list' | 'map'
  readonly order: MapOrder
  readonly persistIndex: boolean
}

/** The layout of all lists and maps that the mapper itself keeps. */
export const orderedLayout = (bin: string, kind: BinLayout['kind']): BinLayout => ({
  bin,
  kind,
  order: 'ordered',
  persistIndex: true,
})

/** Gives a stored list or map its order and index; what is in it stays. */
export function toLayout({ bin, kind, order, persistIndex }: BinLayout): WriteOperation {
  return kind === 'map' ? mapCreate(bin, order, persistIndex) : listCreate(bin, order as 'ordered', persistIndex)
}

const ORDERS: Readonly<Record<number, MapOrder>> = { 0: 'unordered', 1: 'ordered', 3: 'keyValue' }
const FLAGS = 3

/** The order of a list or map as its stored bytes say it; undefined where they are none of that kind. */
export function storedOrder(kind: BinLayout['kind'], stored: Value | undefined): MapOrder | undefined {
  if (!(stored instanceof Uint8Array)) return undefined
  const header = headerBytes(kind, stored[0])
  if (header === undefined) return undefined
  // An order is an empty extension before the first item, whose type holds the flags.
  const isMarked = stored[header] === 0xc7 && stored[header + 1] === 0
  return ORDERS[isMarked ? stored[header + 2] & FLAGS : 0]
}

function headerBytes(kind: BinLayout['kind'], first: number): number | undefined {
  const [short, wide, wider] = kind === 'list' ? [0x90, 0xdc, 0xdd] : [0x80, 0xde, 0xdf]
  if ((first & 0xf0) === short) return 1
  return first === wide ? 3 : first === wider ? 5 : undefined
}
