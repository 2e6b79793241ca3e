import { SkeinError } from '../../errors/index.js'
import { describeKey, keyProblem, type KeyValue } from '../../keys/index.js'
import { untag, type EntityModel } from '../../model/index.js'
import { type ReadCommand, read } from '../../plan/command.js'
import { showUserKey, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { Reader } from './reader.js'
import type { StoredRecord } from '../../plan/outcome.js'

/** Place where keys are stored, for messages. */
export interface KeysPlace {
  readonly model: EntityModel
  readonly key: RecordKey
  readonly property: string
}

/** Keys of records as people use them. Throws SKEIN_3101 where another program has stored something else than a list of such keys. */
export function storedKeys(
  place: KeysPlace,
  target: EntityModel,
  read: () => unknown,
  reader: Pick<Reader, 'fromStored'>,
): KeyValue[] {
  const stored = keysOrUndefined(read)
  if (stored === undefined) throw unreadableKeys(place, `is not a list of keys of ${target.name}`)
  return stored.map((key) => {
    if (!isKeyOf(target, key))
      throw unreadableKeys(place, `holds ${describeKey(key)}, which is not a key of ${target.name}`)
    return reader.fromStored(target, key)
  })
}

/** The answer of one read of a list or map of keys. Throws SKEIN_3101 where another program has stored something else there. */
export async function readKeysBin(
  place: KeysPlace,
  asked: AskedBin,
  target: EntityModel,
  command: ReadCommand,
  reader: Pick<Reader, 'read'>,
): Promise<Value | undefined> {
  const wrong = (cause: Error): SkeinError => unreadableKeys(place, `is not a list of keys of ${target.name}`, cause)
  return (await readTyped(command, [asked], wrong, reader))?.bins[asked.bin]
}

function keysOrUndefined(read: () => unknown): readonly unknown[] | undefined {
  try {
    const keys = read()
    return Array.isArray(keys) ? keys : undefined
  } catch (error) {
    // A map key that is not a number, for instance.
    if (error instanceof SkeinError) throw error
    return undefined
  }
}

/** The client gives an integer as a number wherever it fits one. */
export function isKeyOf(target: EntityModel, key: unknown): key is UserKey {
  if (target.several !== undefined) return untag(target, key, 'storedKind') !== undefined
  const { storedKind } = target.key
  if (storedKind === 'bigint' && Number.isSafeInteger(key)) return true
  return keyProblem(key, storedKind, Infinity) === undefined
}

export function unreadableRef(place: KeysPlace, target: string, stored: unknown): SkeinError {
  return unreadableKeys(place, `${describeKey(stored)} is not a key of ${target}`)
}

function unreadableKeys({ model, key, property }: KeysPlace, problem: string, cause?: Error): SkeinError {
  return new SkeinError(
    'SKEIN_3101',
    `${model.name}.${property} of ${showUserKey(key.key)}: the stored value ${problem}.`,
    {
      className: model.name,
      property,
      key: key.key,
      fix: 'Repair the record; another program may have written it.',
      cause,
    },
  )
}

/** A bin that a question is about, and what it must hold to be asked. */
export interface AskedBin {
  readonly bin: string
  readonly holds: 'list' | 'map'
}

/**
 * Answers a question about the bins of one relation. Questions about several relations of a record are one command: where the server
 * refuses it because of the type of a bin, the bins are read to find out whose it is.
 */
export async function readTyped(
  command: ReadCommand,
  asked: readonly AskedBin[],
  wrong: (cause: SkeinError) => SkeinError,
  reader: Pick<Reader, 'read'>,
): Promise<StoredRecord | null> {
  const ask = async (): Promise<StoredRecord | null> => (await reader.read([command]))[0]
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof SkeinError) || error.code !== 'SKEIN_4210') throw error
    const bins = asked.map(({ bin }) => bin)
    const [record] = await reader.read([read(command.entity, command.key, bins)])
    if (asked.some(({ bin, holds }) => !isOfKind(holds, record?.bins[bin]))) throw wrong(error)
    return ask()
  }
}

/** True for a value of that kind, and where there is none. */
export function isOfKind(holds: AskedBin['holds'], stored: unknown): boolean {
  if (stored === undefined || stored === null) return true
  if (holds === 'list' || Array.isArray(stored)) return holds === 'list' && Array.isArray(stored)
  return stored instanceof Map || Object.getPrototypeOf(stored) === Object.prototype
}
