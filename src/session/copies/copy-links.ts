import type { Codecs } from '../../codec/index.js'
import type { CopyModel, EntityModel, Model, RelationModel } from '../../model/index.js'
import type { Bins, DeleteCommand, WriteCommand } from '../../plan/command.js'
import type { CompleteWrite } from '../../plan/draft.js'
import { isWrite } from '../../plan/effects.js'
import type { WriteOperation } from '../../plan/operation.js'
import { removeBin, writeBin } from '../../plan/operations.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'

/** A copied property: where it is stored, and where it comes from. */
export interface CopyLink {
  readonly holder: EntityModel
  readonly property: string
  readonly bin: string
  readonly relation: RelationModel
  /** The bin of the reference that says whose value it is. */
  readonly refBin: string
  readonly source: EntityModel
  /** Property and bin of the source. */
  readonly from: string
  readonly fromBin: string
  readonly refresh: CopyModel['refresh']
}

type AnyWrite = WriteCommand | DeleteCommand

/** All copied properties (`@Copy`) of a model. */
export class CopyLinks {
  readonly all: readonly CopyLink[]
  readonly #codecs: Codecs
  readonly #byHolder = new Map<string, CopyLink[]>()
  readonly #bySource = new Map<string, CopyLink[]>()

  private constructor(all: readonly CopyLink[], codecs: Codecs) {
    this.all = all
    this.#codecs = codecs
    for (const link of all) {
      note(this.#byHolder, placeOf(link.holder), link)
      note(this.#bySource, placeOf(link.source), link)
    }
  }

  /** Undefined where no class has copies. */
  static of(model: Model, codecs: Codecs): CopyLinks | undefined {
    const links = new Map<string, CopyLink>()
    for (const holder of model.entities.values())
      for (const link of linksOf(holder, model)) {
        const id = `${placeOf(holder)}|${link.bin}`
        // Subclasses inherit those of their base.
        if (!links.has(id) || holder.base === undefined) links.set(id, link)
      }
    return links.size === 0 ? undefined : new CopyLinks([...links.values()], codecs)
  }

  /** Copies that are stored in the records of that set. */
  heldIn(place: Place): readonly CopyLink[] {
    return this.#byHolder.get(placeOf(place)) ?? NONE
  }

  /** Copies of what is stored in that set. */
  takenFrom(place: Place): readonly CopyLink[] {
    return this.#bySource.get(placeOf(place)) ?? NONE
  }

  /** Adds to a write that sets or clears a reference what becomes of its copies; one that is not known is removed until it is. */
  completing(known: (link: CopyLink, key: UserKey) => Value | undefined): CompleteWrite {
    return <C extends AnyWrite>(command: C): C => {
      const links = this.heldIn(command.key)
      if (links.length === 0 || command.kind !== 'write') return command
      const { operations, exists } = command
      const added = links.flatMap((link): readonly WriteOperation[] => {
        const key = referenceSetBy(command, link)
        if (key === undefined || operations.some((one) => 'bin' in one && one.bin === link.bin && isWrite(one)))
          return []
        const value = key === null ? null : (known(link, key) ?? null)
        if (value !== null) return [writeBin(link.bin, value)]
        return exists === 'mustNotExist' ? [] : [removeBin(link.bin)]
      })
      return added.length === 0 ? command : { ...command, bins: undefined, operations: [...operations, ...added] }
    }
  }

  /** The value of a source record as a copy stores it; null where it has none. */
  valueIn(link: CopyLink, bins: Bins): Value | null {
    return this.valueOf(link, this.#codecs.entity(link.source.name).hydrate(bins, new Set([link.from])))
  }

  valueOf(link: CopyLink, source: object): Value | null {
    const [operation] = this.#codecs.of(source).binOperations(source, link.from)
    return operation?.kind === 'writeBin' ? operation.value : null
  }

  /** Bins that tell the value of a source. */
  binsOf({ source, from }: CopyLink): readonly string[] {
    return this.#codecs.entity(source.name).binsOf([from])
  }
}

interface Place {
  readonly namespace: string
  readonly set: string
}

const NONE: readonly never[] = Object.freeze([])

const placeOf = ({ namespace, set }: Place): string => `${namespace}|${set}`

function note(links: Map<string, CopyLink[]>, place: string, link: CopyLink): void {
  const known = links.get(place)
  if (known === undefined) links.set(place, [link])
  else known.push(link)
}

function linksOf(holder: EntityModel, model: Model): CopyLink[] {
  return holder.properties.flatMap(({ name: property, bin, copy }) => {
    const relation = holder.relations.find(({ name }) => name === copy?.relation)
    if (copy === undefined || relation?.bin === undefined) return []
    const source = model.entity(relation.target)
    const fromBin = source.properties.find(({ name }) => name === copy.from)!.bin
    const { from, refresh } = copy
    return [{ holder, property, bin, relation, refBin: relation.bin, source, from, fromBin, refresh }]
  })
}

/** The key that a command writes into the reference; null where it clears it, undefined where it leaves it alone. */
export function referenceSetBy({ operations }: AnyWrite, { refBin }: CopyLink): UserKey | null | undefined {
  let key: UserKey | null | undefined
  for (const operation of operations) {
    if (operation.kind === 'writeBin' && operation.bin === refBin) key = operation.value as UserKey
    if (operation.kind === 'removeBin' && operation.bin === refBin) key = null
  }
  return key
}

/** The record that a reference leads to. */
export const sourceKey = ({ source: { namespace, set } }: CopyLink, key: UserKey): RecordKey => ({
  namespace,
  set,
  key,
})
