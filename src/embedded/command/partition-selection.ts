import { DIGEST_SIZE, FieldId, PARTITIONS } from '../protocol/constants.js'
import type { Request } from '../protocol/request.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { partitionOf } from '../store/namespace.js'
import type { Slot } from '../store/slot.js'
import { toInteger } from '../value/value.js'

/** The last row that a client has of a partition. */
interface ResumePoint {
  readonly digestKey: string
  /** The value under which a secondary index gave that row; undefined for a primary-index query. */
  readonly key: number | bigint | undefined
}

/** The partitions that a query asks for: some whole, some from where an earlier page ended. */
export class PartitionSelection {
  readonly #wanted = new Array<boolean>(PARTITIONS).fill(false)
  readonly #resume = new Map<number, ResumePoint>()

  /** Undefined where a request names no partition, as background queries do: all are meant. */
  static of(request: Request, byIndex: boolean): PartitionSelection | undefined {
    const pids = request.fields?.get(FieldId.PID_ARRAY)
    const digests = request.fields?.get(FieldId.DIGEST_ARRAY)
    const values = request.fields?.get(FieldId.BVAL_ARRAY)
    if (pids === undefined && digests === undefined) return undefined
    const selection = new PartitionSelection()
    if (pids !== undefined) selection.#addWhole(pids)
    if (digests !== undefined) selection.#addResumed(digests, byIndex ? values : undefined, byIndex)
    else if (values !== undefined) throw malformed('values without digests')
    return selection
  }

  static where(isWanted: (partition: number) => boolean): PartitionSelection {
    const selection = new PartitionSelection()
    for (let partition = 0; partition < PARTITIONS; partition++) selection.#wanted[partition] = isWanted(partition)
    return selection
  }

  /** Leaves out partitions that cannot be read here, and returns them. */
  leaveOut(isUnavailable: (partition: number) => boolean): number[] {
    const left: number[] = []
    for (let partition = 0; partition < PARTITIONS; partition++) {
      if (!this.#wanted[partition] || !isUnavailable(partition)) continue
      this.#wanted[partition] = false
      left.push(partition)
    }
    return left
  }

  get first(): number {
    return this.#wanted.indexOf(true)
  }

  get last(): number {
    return this.#wanted.lastIndexOf(true)
  }

  includes(partition: number): boolean {
    return this.#wanted[partition]
  }

  /** True for a row that comes after everything the client has; `key` is the integer by which an index orders it first. */
  isNew(slot: Slot, key?: number | bigint): boolean {
    if (!this.#wanted[slot.partition]) return false
    const last = this.#resume.get(slot.partition)
    if (last === undefined) return true
    if (last.key !== undefined && key !== undefined && key !== last.key) return key > last.key
    return slot.digestKey > last.digestKey
  }

  #addWhole(pids: Buffer): void {
    const count = pids.length >> 1
    if (count === 0 || count > PARTITIONS) throw malformed('partitions')
    for (let i = 0; i < count; i++) this.#add(pids.readUInt16LE(i * 2))
  }

  #addResumed(digests: Buffer, values: Buffer | undefined, byIndex: boolean): void {
    const count = Math.floor(digests.length / DIGEST_SIZE)
    if (count === 0 || count > PARTITIONS) throw malformed('digests')
    if (byIndex && values?.length !== count * 8) throw malformed('values of digests')
    for (let i = 0; i < count; i++) {
      const digest = digests.subarray(i * DIGEST_SIZE, (i + 1) * DIGEST_SIZE)
      const partition = partitionOf(digest)
      this.#add(partition)
      const key = values === undefined ? undefined : toInteger(values.readBigInt64LE(i * 8))
      this.#resume.set(partition, { digestKey: digest.toString('latin1'), key })
    }
  }

  #add(partition: number): void {
    if (partition >= PARTITIONS || this.#wanted[partition]) throw malformed('a partition twice')
    this.#wanted[partition] = true
  }
}

function malformed(what: string): CommandError {
  return new CommandError(ResultCode.PARAMETER, `malformed query: ${what}`)
}
