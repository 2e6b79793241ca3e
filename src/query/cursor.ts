import { createHash } from 'node:crypto'
import { encodeExpression } from '../driver/encode-expression.js'
import { notACursor, type SkeinError } from '../errors/index.js'
import type { Tenant } from '../keys/index.js'
import type { EntityModel } from '../model/index.js'
import type { Expression } from '../plan/expression.js'
import { allOf, type Term } from './term.js'

/** Bytes of a cursor that tie it to its query. */
const SEAL = 8

/** Query that a cursor belongs to: a class, its conditions, a tenant, an order. The index does not count: it may be another one next time. */
export function queryIdentity(
  model: EntityModel,
  always: readonly Expression[],
  terms: readonly Term[],
  tenant: Tenant | undefined,
  order: string,
): string {
  const filter = allOf([...always, ...terms.map(({ total }) => total)])
  const conditions = filter === undefined ? '' : encodeExpression(filter)
  return JSON.stringify([model.namespace, model.set, model.name, typeof tenant, String(tenant), conditions, order])
}

/** A position as a text that people keep between two pages, tied to its query. */
export function sealCursor(position: Uint8Array, identity: string): string {
  return Buffer.concat([position, sealOf(position, identity)]).toString('base64url')
}

/** The position in a cursor; throws for one that is damaged or of another query. */
export function openCursor(cursor: unknown, identity: string, model: EntityModel): Buffer {
  const bytes = Buffer.from(typeof cursor === 'string' ? cursor : '', 'base64url')
  const position = bytes.subarray(0, Math.max(0, bytes.length - SEAL))
  const isWhole = bytes.length > SEAL && bytes.toString('base64url') === cursor
  if (!isWhole || !sealOf(position, identity).equals(bytes.subarray(-SEAL))) throw badCursor(model, cursor)
  return position
}

function sealOf(position: Uint8Array, identity: string): Buffer {
  return createHash('sha256').update(identity).update('\0').update(position).digest().subarray(0, SEAL)
}

function badCursor({ name }: EntityModel, cursor: unknown): SkeinError {
  const fix =
    'Give the `next` of an earlier page as it is, to a query with the same class, conditions, tenant and order.'
  return notACursor(cursor, fix, `this query for ${name}`, { className: name })
}
