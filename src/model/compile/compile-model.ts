import type { EmbeddableModel, EntityClass, EntityModel, Model } from '../model.js'
import { deepFreeze } from './deep-freeze.js'
import { checkByteKeys } from './check-byte-keys.js'
import { checkPartCounters } from './check-part-counters.js'
import { checkHooks } from './check-hooks.js'
import { checkCountOf } from './check-count-of.js'
import { checkShardedCounters } from './check-counters.js'
import { checkNamespace } from './check-names.js'
import { checkArchives } from './check-archives.js'
import { checkCopies } from './compile-copy.js'
import { checkHistories } from './compile-history.js'
import { checkEndedLinks } from './check-ended-links.js'
import { checkSoftDeletes } from './check-soft-deletes.js'
import { checkTenants } from './check-tenants.js'
import { collectClasses } from './collect-classes.js'
import { compileEntity } from './compile-entity.js'
import { checkNested } from './compile-nested.js'
import { compilePart } from './compile-part.js'
import { CompiledModel } from './compiled-model.js'
import { checkFamilies } from './families.js'
import { Problems } from './problems.js'

/**
 * Turns annotated classes into one frozen model, or throws one ModelError that lists everything that is wrong with them.
 *
 * @example
 * console.log(compileModel([Agent, Listing], { namespace: 'test' }).describe())
 */
export function compileModel(classes: readonly EntityClass[], { namespace }: { readonly namespace: string }): Model {
  const problems = new Problems()
  checkNamespace(problems, namespace, 'Model')
  const compilation = collectClasses(classes, namespace, problems)
  const { entities, parts } = compilation
  checkFamilies(entities.values(), problems)
  checkHooks([...entities.values(), ...parts.values()], problems)
  const partModels = byName(
    [...parts.values()].map((part) => compilePart(part, compilation)),
    problems,
  )
  const entityModels = byName(
    [...entities.values()].map((entity) => compileEntity(entity, compilation, partModels)),
    problems,
    partModels,
  )
  checkPartCounters(entityModels.values(), partModels, problems)
  checkByteKeys(entityModels.values(), problems)
  checkNested(entityModels.values(), partModels, problems)
  checkTenants(entityModels, partModels, problems)
  checkShardedCounters(entityModels, problems)
  checkCountOf(entityModels.values(), problems)
  checkSoftDeletes(entityModels, problems)
  checkEndedLinks(entityModels.values(), partModels, problems)
  checkHistories(entityModels, problems)
  checkCopies(entityModels, problems)
  checkArchives(entityModels, problems)
  checkIndexNames(entityModels.values(), problems)
  checkCompanionSets([...entityModels.values()], problems)
  problems.throwIfAny()
  return new CompiledModel(namespace, deepFreeze(entityModels), deepFreeze(partModels))
}

function byName<T extends EntityModel | EmbeddableModel>(
  models: readonly T[],
  problems: Problems,
  others: ReadonlyMap<string, unknown> = new Map(),
): Map<string, T> {
  const named = new Map<string, T>()
  for (const model of models) {
    if (named.has(model.name) || others.has(model.name)) {
      const message = 'Another class of this model has the same name.'
      problems.add(
        'SKEIN_1037',
        { className: model.name },
        message,
        "Give it a name of its own: @Record({ name: '…' }).",
      )
    }
    named.set(model.name, model)
  }
  return named
}

/** Companion records share their set with nothing else; subclasses that inherit a collection share it. */
function checkCompanionSets(entities: readonly EntityModel[], problems: Problems): void {
  const taken = new Map(entities.map(({ namespace, set, name }) => [`${namespace}\0${set}`, name]))
  for (const { name: className, namespace, set, relations, history } of entities) {
    const claim = (companions: string, holder: string, property?: string): void => {
      const place = `${namespace}\0${companions}`
      const other = taken.get(place)
      if (other !== undefined && other !== holder) {
        const message = `The set '${companions}' of its companion records belongs to ${other} already.`
        problems.add('SKEIN_1051', { className, property }, message, "Give it another with the option set: '…'.")
      }
      taken.set(place, holder)
    }
    for (const { name: property, companions } of relations)
      if (companions !== undefined) claim(companions.set, `${set}.${property}`, property)
    if (history !== undefined) claim(history.set, `the history of ${set}`)
  }
}

/** Index names are unique in a namespace; subclasses that inherit an index share it. */
function checkIndexNames(entities: Iterable<EntityModel>, problems: Problems): void {
  const known = new Map<string, string>()
  for (const { name: className, namespace, set, indexes } of entities) {
    for (const { name, bin, steps = [], on, property } of indexes) {
      const what = [set, bin, ...steps, on].join('\0')
      const other = known.get(`${namespace}\0${name}`)
      if (other !== undefined && other !== what) {
        const message = `The index name '${name}' is already used in the namespace '${namespace}'.`
        problems.add('SKEIN_1028', { className, property }, message, "Give it another: @Index({ name: '…' }).")
      }
      known.set(`${namespace}\0${name}`, what)
    }
  }
}
