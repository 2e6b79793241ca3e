import { SkeinError } from '../../errors/index.js'
import type { EntityClass } from '../../model/index.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import { checkBound, checkChoice, checkNames, shown, type NamesOf } from '../../model/call-options.js'
import type { KeyInput } from '../context/session-types.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import { Walk } from './walk.js'
import type { WalkNode } from './walk-node.js'
import type { WalkParts } from './walk-parts.js'
import type { WalkOptions } from './walk-types.js'

const WALK: NamesOf<WalkOptions> = { max: true, signal: true, outsideTransaction: true, deleted: true }
const MAX = 100_000

type Given = Pick<WalkParts, 'context' | 'loads' | 'checkMayLoad'> & {
  readonly managed: (entity: object) => ManagedEntity
}

/** A walk from entities of the session, or from a class and keys. */
export function startWalk<T extends object>(given: Given, args: readonly unknown[]): Walk<T> {
  const [first, second, third] = args
  const isByKey = typeof first === 'function'
  const options = (isByKey ? third : second) as WalkOptions | undefined
  checkNames('walk()', options, WALK)
  checkBound('max', options?.max)
  checkChoice('deleted', options?.deleted, ['include'])
  const places = isByKey ? byKeys(given, first as EntityClass, second) : ofEntities(given, first)
  const { context, loads, checkMayLoad } = given
  const [{ mapped }] = places
  return new Walk<T>({
    context,
    loads,
    checkMayLoad,
    options: { ...options, max: options?.max ?? MAX },
    reached: { kind: 'records', mapped },
    start: () => [...new Map(places.map((place) => [place.id, { ...place, from: [] }])).values()],
  })
}

type Place = Pick<WalkNode, 'id' | 'mapped' | 'key'>

function byKeys({ context }: Given, entityClass: EntityClass, given: unknown): readonly Place[] {
  const mapped = context.classes.of(entityClass)
  const keys = (Array.isArray(given) ? given : [given]) as readonly KeyInput[]
  if (keys.length === 0) throw nowhere()
  return keys.map((key) => placeOf(mapped, mapped.recordKeyOf(key, context.identity.tenant)))
}

function ofEntities({ managed }: Given, given: unknown): readonly Place[] {
  const entities = (Array.isArray(given) ? given : [given]) as readonly unknown[]
  if (entities.length === 0) throw nowhere()
  const starts = entities.map((entity) => {
    if (typeof entity !== 'object' || entity === null) throw noStart(entity)
    return managed(entity)
  })
  const { mapped } = starts[0]
  const other = starts.find((each) => each.mapped !== mapped)
  if (other !== undefined) throw severalClasses(mapped, other.mapped)
  return starts.map(({ key }) => placeOf(mapped, key))
}

const placeOf = (mapped: MappedClass, key: RecordKey): Place => ({ id: recordId(key), mapped, key })

function nowhere(): SkeinError {
  return new SkeinError('SKEIN_2321', 'A walk needs an entity or a key to start from.', {
    fix: 'Leave the walk out where the list is empty.',
  })
}

function noStart(given: unknown): SkeinError {
  return new SkeinError('SKEIN_2321', `${shown(given)} is not an entity to start a walk from.`, {
    fix: "Give an entity of this session, or a class and a key: session.walk(User, 'alice').",
  })
}

function severalClasses({ model }: MappedClass, other: MappedClass): SkeinError {
  return new SkeinError(
    'SKEIN_2321',
    `A walk starts from entities of one class, not of ${model.name} and ${other.model.name}.`,
    {
      className: model.name,
      fix: 'Walk from each class by itself.',
    },
  )
}
