import type { KeyValue } from '../../../keys/index.js'
import type { EntityModel } from '../../../model/index.js'
import { MOST_REACHED, type Drain } from '../../../relations/contract/drain.js'
import { collectChanges } from '../collect/collect-changes.js'
import type { MappedClasses } from '../../mapping/mapped-classes.js'
import { membersOf } from './members-to-delete.js'
import type { SendParts } from '../session-parts.js'
import { inScratchSession } from './scratch-session.js'
import type { DrainOptions } from '../../context/option-types.js'

/**
 * Looks at everything that a drain will reach before anything is deleted, where something of it may forbid that. It is read in the
 * steps in which it is deleted, and nothing of it is kept.
 */
export async function checkRestrictions(drain: Drain, parts: SendParts, options: DrainOptions): Promise<void> {
  if (drain.fate.kind !== 'delete' || !mayForbid(drain.target, parts.context.classes)) return
  const { step = MOST_REACHED, signal } = options
  for await (const keys of drain.survey(Math.ceil(step / 2))) {
    signal?.throwIfAborted()
    await checkMembers(drain, keys, parts, options)
  }
}

function checkMembers(drain: Drain, keys: readonly KeyValue[], parts: SendParts, options: DrainOptions): Promise<void> {
  return inScratchSession(parts, drain.owner.key, async (session) => {
    const members = await membersOf(drain, keys, session)
    const { entities, reader, around } = session
    const look = { hooks: 'skip', step: options.step, around } as const
    const { drains } = await collectChanges(() => [...members], entities, reader, look)
    for (const inner of drains) await checkRestrictions(inner, session, options)
  })
}

/** True when deleting an entity of this class may reach a relation that forbids it. */
function mayForbid(model: EntityModel, classes: MappedClasses, seen = new Set<string>()): boolean {
  if (seen.has(model.name)) return false
  seen.add(model.name)
  if (model.several !== undefined) return model.several.some((each) => mayForbid(each, classes, seen))
  const subclasses = model.discriminator?.subclasses.map(({ entity }) => classes.of(entity).model) ?? []
  return [model, ...subclasses].some(({ relations }) =>
    relations.some(({ onDelete, target }) => {
      if (onDelete !== 'cascade') return onDelete === 'restrict'
      return mayForbid(classes.model.entity(target), classes, seen)
    }),
  )
}
