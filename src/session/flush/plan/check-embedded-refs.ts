import { embeddedParts, readProperty } from '../../../codec/index.js'
import { SkeinError } from '../../../errors/index.js'
import { describeKey } from '../../../keys/index.js'
import type { BinType, EntityModel, Model, RelationModel } from '../../../model/index.js'
import type { Reader } from '../../../relations/contract/reader.js'
import { isEntity } from '../../../relations/contract/member.js'
import { findRefState } from '../../../relations/state/state-of.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'

interface FoundRef {
  readonly ref: object
  readonly relation: RelationModel
}

/** References inside embedded parts: they are stored as keys with their record, and what they point to is not saved along. */
export class EmbeddedRefs {
  readonly #entity: EntityModel
  readonly #model: Model
  readonly #properties: EntityModel['properties']

  constructor(entity: EntityModel, model: Model) {
    this.#entity = entity
    this.#model = model
    this.#properties = entity.properties.filter(({ type }) => this.#mayHaveRefs(type, new Set()))
  }

  get isEmpty(): boolean {
    return this.#properties.length === 0
  }

  /** Throws where one points to an entity that nobody would save. */
  check({ entity, mapped, snapshot, state, overwrite }: ManagedEntity, reader: Reader): void {
    const isWhole = state === 'new' || overwrite === true || snapshot === undefined
    const changed = isWhole ? undefined : mapped.codec.changedProperties(entity, snapshot)
    for (const { name, type } of this.#properties) {
      if (changed?.includes(name) === false) continue
      for (const { ref, relation } of this.#refsIn(readProperty(entity, name), type)) {
        const state = findRefState(ref)
        const target = state?.target
        if (state === undefined || !isEntity(target)) continue
        if (reader.tracked(target) === undefined) throw this.#unsaved(name, relation, target, reader)
        const key = reader.keyOf(target, relation.target)
        if (key !== null) state.noteKey(key)
      }
    }
  }

  *#refsIn(value: unknown, type: BinType): Iterable<FoundRef> {
    if (type.kind !== 'embedded') return
    const { relations, properties } = this.#model.embeddable(type.part)
    for (const part of embeddedParts(value, type)) {
      for (const relation of relations) {
        const ref = readProperty(part, relation.name)
        if (typeof ref === 'object' && ref !== null) yield { ref, relation }
      }
      for (const inner of properties) yield* this.#refsIn(readProperty(part, inner.name), inner.type)
    }
  }

  #mayHaveRefs(type: BinType, seen: Set<string>): boolean {
    if (type.kind !== 'embedded' || seen.has(type.part)) return false
    seen.add(type.part)
    const { relations, properties } = this.#model.embeddable(type.part)
    return relations.length > 0 || properties.some((inner) => this.#mayHaveRefs(inner.type, seen))
  }

  #unsaved(property: string, { name, target }: RelationModel, entity: object, reader: Reader): SkeinError {
    const key = reader.keyOf(entity) ?? undefined
    const which = key === undefined ? `a ${target} without a key` : `${target} ${describeKey(key)}`
    const message = `${this.#entity.name}.${property} points in ${name} to ${which}, which this session does not have: it would not be saved along.`
    return new SkeinError('SKEIN_2409', message, {
      className: this.#entity.name,
      property,
      key,
      fix: `Hand the ${target} to session.persist first, or set its key.`,
    })
  }
}
