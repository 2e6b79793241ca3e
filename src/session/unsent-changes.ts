import { typeCodecOf, unreadable, type Codecs } from '../codec/index.js'
import { goneBinsOf, isGoneBy } from '../model/index.js'
import { read } from '../plan/command.js'
import type { WriteOperation } from '../plan/operation.js'
import type { Value } from '../plan/value.js'
import { applyChanges } from '../records/apply-changes.js'
import { tooManyUnsent } from '../records/handle-errors.js'
import { fitQuestion, pendingAt } from '../records/join-changes.js'
import type { Place } from '../records/place.js'
import type { RecordTarget } from '../records/record-target.js'
import type { Reader } from '../relations/contract/reader.js'
import type { LocatedPart } from '../relations/contract/relation-strategy.js'
import { withRecorded } from './flush/plan/patch.js'
import type { ManagedEntity } from './tracking/managed-entity.js'

export type BinChange = Extract<WriteOperation, { readonly bin: string }>

/** Everything that the next flush would do to a bin. */
export function unsentOf(managed: ManagedEntity, bin: string): readonly BinChange[] {
  const { entity, snapshot, loaded, mapped } = managed
  const all = withRecorded(managed, mapped.codec.diff(entity, snapshot!, loaded))
  return all.filter((operation): operation is BinChange => 'bin' in operation && operation.bin === bin)
}

/** The value of a bin that the next flush would create with the record. */
export function createdValue(managed: ManagedEntity, bin: string): Value | undefined {
  if (managed.stored?.createsRecord !== true) return undefined
  return applyChanges(undefined, unsentOf(managed, bin).filter(({ kind }) => kind !== 'changeByPath')) // prettier-ignore
}

/** The stored value of a property with changes that are more than a server takes in a question. */
export async function changedHere(
  managed: ManagedEntity,
  { property, bin }: Place,
  changes: readonly BinChange[],
  codecs: Codecs,
  reader: Reader,
): Promise<Value | undefined> {
  const { model, key } = managed
  const [record] = await reader.read([read(model.name, key, [bin, ...goneBinsOf(model)])])
  if (record === null || isGoneBy(model, record.bins)) return createdValue(managed, bin)
  const stored = record.bins[bin] ?? undefined
  if (stored === undefined) return applyChanges(undefined, changes)
  const codec = typeCodecOf(model.properties.find(({ name }) => name === property)!.type, codecs)
  try {
    // Encoded again, because the client shows integral doubles as integers, which have another order.
    return applyChanges(codec.encode(codec.decode(stored), 0), changes)
  } catch (error) {
    throw unreadable(model, key.key, error)
  }
}

/** True where a child has to be read for its unsent changes to be shown: they are more than the server takes in a question. */
export function exceedsQuestion(
  { part, apart }: LocatedPart,
  { property, bin, path }: Place,
  managed: ManagedEntity,
  target: RecordTarget,
): boolean {
  if (part !== undefined) return false
  const changes = pendingAt(path, (apart?.recorded as readonly BinChange[] | undefined) ?? unsentOf(managed, bin))
  if (fitQuestion(changes)) return false
  if (changes.some(({ kind }) => kind === 'changeByPath')) throw tooManyUnsent(target, property)
  return true
}
