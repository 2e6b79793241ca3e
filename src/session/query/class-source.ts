import { keyOfStoredRef } from '../../codec/index.js'
import type { Driver } from '../../driver/driver.js'
import type { KeyValue, Tenant } from '../../keys/index.js'
import type { FoundRecord } from '../../plan/outcome.js'
import type { Expression } from '../../plan/expression.js'
import type { QueryCommand } from '../../plan/query-command.js'
import { COMPANION_ROOT_BIN, type IndexModel } from '../../model/index.js'
import { onlyIf, read, type ReadCommand } from '../../plan/command.js'
import { recordKey, type UserKey } from '../../plan/record-key.js'
import { digestOf } from '../context/digest.js'
import type { StatisticsOf } from '../../query/choose-index.js'
import type { Field } from '../../query/field.js'
import { fieldsOf, memberFieldsOf, type EncodeRef } from '../../query/fields-of.js'
import type { QueryOptions } from '../../query/query-source.js'
import { hasCalculatedIndexes, usableIndexes, type UsableIndex } from '../../query/usable-indexes.js'
import { checkDeleted } from '../context/check-arguments.js'
import { foundKey, type FoundKey } from '../load/key-of-found.js'
import { checkTexts } from '../../model/call-options.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { classOfKey, keyInTarget } from '../mapping/several-classes.js'
import { storedRef } from '../../relations/contract/member.js'
import { projectionOf } from '../mapping/projection.js'
import { checkTenantOf } from './check-tenant-of.js'
import { classConditions } from './class-conditions.js'

/** Source of a query's records, with or without a session that manages the entities. */
export class ClassSource {
  readonly driver: Driver
  readonly options: QueryOptions
  readonly always: readonly Expression[]
  readonly isCheckedByKey: boolean
  readonly keyBins: readonly string[]
  protected readonly mapped: MappedClass
  protected readonly classes: MappedClasses
  readonly tenant: Tenant | undefined
  #fields: ReadonlyMap<string, Field> | undefined

  constructor(
    mapped: MappedClass,
    classes: MappedClasses,
    driver: Driver,
    tenant: Tenant | undefined,
    options: QueryOptions,
  ) {
    this.mapped = mapped
    this.classes = classes
    this.driver = driver
    this.tenant = tenant
    this.options = options
    const { key } = mapped.model
    checkTenantOf(mapped, tenant, options)
    checkDeleted(mapped, options.deleted)
    this.always = classConditions(mapped, tenant, options.deleted)
    this.keyBins = mapped.codec.keyBins
    this.isCheckedByKey = key.tenant && tenant !== undefined
  }

  get model(): MappedClass['model'] {
    return this.mapped.model
  }

  get fields(): ReadonlyMap<string, Field> {
    return (this.#fields ??= fieldsOf(this.model, this.classes.codecs, this.#encodeRef, (name, stored) =>
      keyOfStoredRef(this.classes.codecs, this.classes.model.entity(name), stored as KeyValue, this.tenant),
    ))
  }

  get indexes(): readonly UsableIndex[] {
    const indexes = usableIndexes(this.model, () => this.fields)
    return hasCalculatedIndexes(this.driver.capabilities.build)
      ? indexes
      : indexes.filter(({ expression }) => expression === undefined)
  }

  get members(): ReadonlyMap<string, Field> {
    return memberFieldsOf(this.model, this.#encodeRef)
  }

  get statistics(): StatisticsOf {
    return this.classes.statisticsOf(this.driver).of(this.model.namespace)
  }

  learn(indexes: readonly IndexModel[]): Promise<void> {
    return this.classes.statisticsOf(this.driver).learn(this.model.namespace, indexes)
  }

  bins(only: readonly string[] | undefined, paths: readonly string[]): QueryCommand['bins'] {
    return projectionOf(this.mapped, only, paths.map(firstStep)).bins
  }

  isOwn(record: FoundRecord): boolean {
    return this.found(record) !== undefined
  }

  keyOf(record: FoundRecord): KeyValue {
    return this.isCheckedByKey ? this.found(record)!.key : this.mapped.keyOfBins(record.bins, this.tenant)
  }

  async owners(
    companions: readonly FoundRecord[],
    bins: QueryCommand['bins'],
    filter: Expression | undefined,
  ): Promise<readonly (FoundRecord | null)[]> {
    const { name, namespace, set } = this.model
    const keys = companions.map((found) => {
      const root = found.bins[COMPANION_ROOT_BIN] as UserKey | undefined
      return root === undefined ? undefined : recordKey(namespace, set, root)
    })
    const commands = keys.flatMap((key) => (key === undefined ? [] : [read(name, key, bins)]))
    const asked = filter === undefined ? commands : commands.map((command) => onlyIf(command, filter))
    const records = await this.driver.read(asked, { signal: this.options.signal })
    let at = 0
    return keys.map((key) => {
      const record = key === undefined ? null : records[at++]
      return record && { ...record, digest: digestOf(key!) }
    })
  }

  hold(relation: string, owners: readonly FoundRecord[], members: readonly UserKey[]): Promise<readonly boolean[]> {
    const { store } = this.mapped.relations.find((each) => each.relation === relation)!
    const reader = { read: (commands: readonly ReadCommand[]) => this.driver.read(commands, this.options) }
    return Promise.all(
      owners.map(async (owner) => {
        const key = this.mapped.recordKey(this.keyOf(owner), this.tenant)
        return (await store!.held(key, members, reader)).length > 0
      }),
    )
  }

  checkOnly(only: readonly string[]): void {
    // A query reads whole bins.
    checkTexts('only', only)
    projectionOf(this.mapped, only)
  }

  protected found(record: FoundRecord): FoundKey | undefined {
    return foundKey(this.mapped, record, this.tenant)
  }

  get #encodeRef(): EncodeRef {
    return refEncoder(this.classes, this.tenant)
  }
}

/** Records hold the keys of others as they are stored; parts hold them as people use them. */
export function refEncoder(classes: MappedClasses, tenant: Tenant | undefined): EncodeRef {
  return (name, given, isInPart) => {
    const model = classes.model.entity(name)
    const isEntity = typeof given === 'object' && given !== null && given instanceof model.class
    if (model.several !== undefined) {
      const { mapped, key: own } = isEntity
        ? { mapped: classes.ofEntity(given), key: classes.ofEntity(given).codec.key.keyOf(given) }
        : classOfKey(classes, model, given)
      if (isInPart) return keyInTarget({ mapped, key: mapped.codec.key.scheme.toKey(own, tenant) }, model)
      return storedRef(model, mapped.recordKey(own, tenant))
    }
    const { key } = classes.of(name).codec
    const own = isEntity ? key.keyOf(given) : key.scheme.toKey(given, tenant)
    return isInPart ? own : key.scheme.toStored(own, tenant)
  }
}

const firstStep = (path: string): string => path.split('.')[0]
