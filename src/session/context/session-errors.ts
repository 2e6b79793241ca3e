import { EntityGoneError, NotFoundError, quoted, shown, SkeinError } from '../../errors/index.js'
import { describeKey, type KeyValue } from '../../keys/index.js'
import type { EmbeddableModel } from '../../model/index.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import type { MappedClass } from '../mapping/mapped-class.js'

const title = (mapped: MappedClass, key: unknown): string => `${mapped.model.name} ${describeKey(key)}`

const about = (mapped: MappedClass, key?: KeyValue) => ({
  className: mapped.model.name,
  namespace: mapped.model.namespace,
  set: mapped.model.set,
  key,
})

export function sessionClosed(): SkeinError {
  return new SkeinError('SKEIN_2301', 'The session is closed.', { fix: 'Open another one with db.session().' })
}

export function transactionOver(): SkeinError {
  return new SkeinError('SKEIN_4304', 'The transaction of this session is already over.', {
    fix: 'Await everything inside the function that db.transaction runs.',
  })
}

export function databaseClosed(): SkeinError {
  return new SkeinError('SKEIN_4104', 'The database is closed.', { fix: 'Open it again with open().' })
}

/** `who` is what the database waits for before it closes. */
export function closedWithin(who: string): SkeinError {
  return new SkeinError('SKEIN_2308', `${who} called db.close(), which waits for the call that it is part of.`, {
    fix: 'Close the database after that call.',
  })
}

export function sweepWithoutTenant(mapped: MappedClass): SkeinError {
  const { name } = mapped.model
  return new SkeinError('SKEIN_2105', `${name} belongs to tenants, and its records do not say which.`, {
    ...about(mapped),
    fix: `Sweep them one by one: db.sweep(${name}, { tenant: '…' }).`,
  })
}

export function otherSession({ mapped, key }: ManagedEntity): SkeinError {
  return new SkeinError('SKEIN_2303', `${title(mapped, key.key)} belongs to another session.`, {
    ...about(mapped, key.key),
    fix: 'Use the session it was loaded in, or load it in this one.',
  })
}

export function otherInstance(mapped: MappedClass, { key }: RecordKey): SkeinError {
  return new SkeinError('SKEIN_2304', `This session already has another instance of ${title(mapped, key)}.`, {
    ...about(mapped, key),
    fix: 'Change that one (load gives it to you), or detach it first.',
  })
}

/** Error for a new entity beside a handle on its record, whose own entity nobody has. */
export function hasHandle(mapped: MappedClass, { key }: RecordKey): SkeinError {
  return new SkeinError('SKEIN_2304', `This session has a handle on ${title(mapped, key)}.`, {
    ...about(mapped, key),
    fix: 'Change the record through the handle, or save the entity in another session.',
  })
}

export function beingDeleted(mapped: MappedClass, { key }: RecordKey): SkeinError {
  return new SkeinError('SKEIN_2304', `This session is deleting ${title(mapped, key)}.`, {
    ...about(mapped, key),
    fix: 'Await the delete before you store another under its key.',
  })
}

export function notManaged(mapped: MappedClass): SkeinError {
  return new SkeinError('SKEIN_2305', `This ${mapped.model.name} is not managed by the session.`, {
    ...about(mapped),
    fix: 'Load it here, or hand it to persist or save first.',
  })
}

export function partlyLoaded({ mapped, key }: ManagedEntity): SkeinError {
  return new SkeinError(
    'SKEIN_2306',
    `${title(mapped, key.key)} is only partly loaded, so it cannot replace a record.`,
    {
      ...about(mapped, key.key),
      fix: 'Refresh it first, or save its changes with save. If its record is gone, detach it and store a whole one.',
    },
  )
}

export function abstractClass(mapped: MappedClass): SkeinError {
  return new SkeinError(
    'SKEIN_2307',
    `${mapped.model.name} has no records of its own: only its subclasses are stored.`,
    {
      ...about(mapped),
      fix: 'Use one of its subclasses, or give it a discriminatorValue.',
    },
  )
}

export function insideHook(): SkeinError {
  return new SkeinError('SKEIN_2308', 'A hook called its own session and would wait for itself.', {
    fix: 'In a hook, change entities or call persist and remove: the same flush sends them. To send something at once, use another session.',
  })
}

export function badTtl(mapped: MappedClass, ttl: unknown): SkeinError {
  return new SkeinError('SKEIN_2309', `${mapped.model.name}: ${shown(ttl)} is not a time to live.`, {
    ...about(mapped),
    fix: "Give whole seconds between 1 and 315,360,000 (ten years), or 'never'.",
  })
}

export function cannotExpire(mapped: MappedClass): SkeinError {
  const { name, countOf } = mapped.shards!.counters[0]
  const what = countOf === undefined ? 'counter' : 'count'
  return new SkeinError('SKEIN_2309', `${mapped.model.name} has a sharded ${what}, so its records cannot expire.`, {
    ...about(mapped),
    property: name,
    fix: `Leave the ttl out, or @Sharded at ${name}: the server lets each record expire by itself, and the ${what} would be wrong.`,
  })
}

const named = (name: unknown): { readonly property?: string } => (typeof name === 'string' ? { property: name } : {})

export function unknownProperty(mapped: MappedClass, name: unknown): SkeinError {
  const known = mapped.model.properties.map((property) => property.name).join(', ')
  return new SkeinError('SKEIN_2310', `${mapped.model.name} has no stored property ${quoted(name)}.`, {
    ...about(mapped),
    ...named(name),
    fix: `It has: ${known}.`,
  })
}

export function sharedSet(mapped: MappedClass): SkeinError {
  return new SkeinError(
    'SKEIN_2311',
    `${mapped.model.name} shares the set '${mapped.model.set}' with other classes, whose records would go too.`,
    { ...about(mapped), fix: 'Truncate the base class of the set, or delete these records one by one.' },
  )
}

export function otherClass(mapped: MappedClass, found: ManagedEntity): SkeinError {
  const used = found.isUnread ? 'is used in this session as' : 'is stored as'
  const message = `${title(mapped, found.key.key)} ${used} a ${found.mapped.model.name}.`
  return new SkeinError('SKEIN_3102', message, {
    ...about(mapped, found.key.key),
    fix: 'Load it through its own class or a base class.',
  })
}

/** As above, where only the server has looked at the record. */
export function anotherClass(mapped: MappedClass, { key }: RecordKey): SkeinError {
  return new SkeinError('SKEIN_3102', `${title(mapped, key)} is stored as another class of its set.`, {
    ...about(mapped, key),
    fix: 'Go through its own class or a base class.',
  })
}

export function notFound(
  mapped: MappedClass,
  keys: readonly KeyValue[],
  fix = 'Use find or findMany where it may be missing.',
): NotFoundError {
  const names = [...new Set(keys.map(describeKey))]
  const shown = names.slice(0, 10).join(', ')
  const more = names.length > 10 ? ` and ${names.length - 10} more` : ''
  return new NotFoundError(`No ${mapped.model.name} is stored under ${shown}${more}.`, {
    ...about(mapped, keys[0]),
    fix,
  })
}

export function unknownRelation(mapped: MappedClass, relation: unknown): SkeinError {
  const known = mapped.contributors.flatMap((each) => (each.relation === undefined ? [] : [each.relation]))
  return new SkeinError('SKEIN_2312', `${mapped.model.name} has no relation ${quoted(relation)} to load.`, {
    ...about(mapped),
    ...named(relation),
    fix: known.length === 0 ? 'It has none.' : `It has: ${known.join(', ')}.`,
  })
}

export function unknownPartRelation({ name, relations }: EmbeddableModel, relation: unknown): SkeinError {
  const known = relations.map((each) => each.name)
  return new SkeinError('SKEIN_2312', `${name} has no relation ${quoted(relation)} to load.`, {
    className: name,
    ...named(relation),
    fix: known.length === 0 ? 'It has none.' : `It has: ${known.join(', ')}.`,
  })
}

export function unknownKind(mapped: MappedClass): SkeinError {
  const { name } = mapped.model
  const classes = mapped.kinds.filter(
    ({ kinds, model }) => kinds.length === 1 && model.discriminator?.value !== undefined,
  )
  const own = classes.map(({ model }) => model.name).join(' or ')
  return new SkeinError('SKEIN_2404', `Only its record tells which class a ${name} is.`, {
    ...about(mapped),
    fix: `Name the class that it is stored as, ${own}, or load it: (await session.load(${name}, key)).`,
  })
}

export function gone({ mapped, key, loaded, isUnread }: ManagedEntity): EntityGoneError {
  return new EntityGoneError(`${title(mapped, key.key)} is not stored, or no longer stored.`, {
    ...about(mapped, key.key),
    fix: isUnread
      ? 'Nothing of it was loaded: detach it, or store it first.'
      : loaded === undefined
        ? 'Detach it, or store it again with upsert.'
        : 'Detach it: only a part of it was loaded, and the rest is lost.',
  })
}

export function notOfClass({ mapped, key }: ManagedEntity): EntityGoneError {
  const message = `${title(mapped, key.key)} is not stored, or is stored as another class of its set.`
  return new EntityGoneError(message, { ...about(mapped, key.key), fix: 'Load it again to see what is stored.' })
}

export function withoutHistory(mapped: MappedClass): SkeinError {
  const { name } = mapped.model
  return new SkeinError('SKEIN_2317', `${name} keeps no history.`, {
    ...about(mapped),
    fix: `Put @History() on ${name}.`,
  })
}
