import type { EntityModel } from '../model/index.js'
import { versionIs, type Guard } from '../plan/command.js'
import type { WriteOperation } from '../plan/operation.js'
import { addToBin, writeBin } from '../plan/operations.js'
import { readProperty, writeProperty } from './own-property.js'

/** Metadata of a record. */
export interface RecordMeta {
  readonly generation: number
  /** Seconds until the record expires; `null` when it never does. */
  readonly ttl: number | null
}

/** Operations and guards that a changed entity sends besides its changes. */
interface Stamp {
  readonly operations: readonly WriteOperation[]
  readonly guards: readonly Guard[]
}

const NO_STAMP: Stamp = Object.freeze({ operations: Object.freeze([]), guards: Object.freeze([]) })

/** Properties that the mapper itself maintains: version, times, generation and time to live. */
export class Stamps {
  readonly #model: EntityModel
  /** True for most classes, which have neither version nor times and pay nothing for them. */
  readonly isEmpty: boolean
  /** True when a stamp depends on the time. */
  readonly isTimed: boolean
  /** True when the class shows the record's own generation or time to live. */
  readonly hasMeta: boolean

  constructor(model: EntityModel) {
    this.#model = model
    this.isEmpty = (model.version ?? model.createdAt ?? model.updatedAt) === undefined
    this.hasMeta = (model.generationProperty ?? model.ttlProperty) !== undefined
    this.isTimed = (model.createdAt ?? model.updatedAt ?? model.deletedAt) !== undefined
  }

  /** Goes with a new entity: version 1, and the times. One that already says when it was created keeps that. */
  creation(entity: object, now: Date): readonly WriteOperation[] {
    if (this.isEmpty) return NO_STAMP.operations
    const { version, createdAt, updatedAt } = this.#model
    const operations: WriteOperation[] = []
    if (version !== undefined) operations.push(writeBin(this.#binOf(version), 1))
    if (createdAt !== undefined) operations.push(writeBin(this.#binOf(createdAt), createdTime(entity, createdAt, now)))
    if (updatedAt !== undefined) operations.push(writeBin(this.#binOf(updatedAt), now.getTime()))
    return operations
  }

  /** Shows on the entity what `creation` did, once it is confirmed. */
  created(entity: object, now: Date): void {
    if (this.isEmpty) return
    const { version, createdAt, updatedAt } = this.#model
    if (version !== undefined) writeProperty(entity, version, 1)
    if (createdAt !== undefined) writeProperty(entity, createdAt, new Date(createdTime(entity, createdAt, now)))
    if (updatedAt !== undefined) writeProperty(entity, updatedAt, new Date(now))
  }

  /** Goes with every change of a stored entity: the version must be the known one and is counted up, the time is written. */
  update(knownVersion: number | undefined, now: Date): Stamp {
    if (this.isEmpty) return NO_STAMP
    const { version, updatedAt } = this.#model
    const operations: WriteOperation[] = []
    const guards: Guard[] = []
    if (version !== undefined) {
      operations.push(addToBin(this.#binOf(version), 1))
      guards.push(versionIs(this.#binOf(version), knownVersion ?? null))
    }
    if (updatedAt !== undefined) operations.push(writeBin(this.#binOf(updatedAt), now.getTime()))
    return { operations, guards }
  }

  /** Shows on the entity what `update` did, once it is confirmed. */
  updated(entity: object, knownVersion: number | undefined, now: Date): void {
    if (this.isEmpty) return
    const { version, updatedAt } = this.#model
    if (version !== undefined) writeProperty(entity, version, (knownVersion ?? 0) + 1)
    if (updatedAt !== undefined) writeProperty(entity, updatedAt, new Date(now))
  }

  /** Shows the record's own generation and time to live where the class asks for them. */
  meta(entity: object, meta: RecordMeta): void {
    const { generationProperty, ttlProperty } = this.#model
    if (generationProperty !== undefined) writeProperty(entity, generationProperty, meta.generation)
    if (ttlProperty !== undefined) writeProperty(entity, ttlProperty, meta.ttl)
  }

  #binOf(name: string): string {
    return this.#model.properties.find((property) => property.name === name)!.bin
  }
}

function createdTime(entity: object, property: string, now: Date): number {
  const known = readProperty(entity, property)
  return known instanceof Date && !Number.isNaN(known.getTime()) ? known.getTime() : now.getTime()
}
