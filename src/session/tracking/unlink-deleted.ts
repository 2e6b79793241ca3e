import { DeletedKeys } from '../../relations/contract/deleted-keys.js'
import type { OnRollback } from '../../relations/contract/contributor.js'
import { forgetAtOthers, keepKeys } from '../../relations/state/unlink-detached.js'
import { forgetLinks, hideLinks, rollbackLinks } from '../../relations/state/unlink-deleted.js'
import type { Deleted } from '../../relations/contract/contributor.js'
import type { RelationStrategy } from '../../relations/contract/relation-strategy.js'
import { refStateOf } from '../../relations/state/state-of.js'
import { tagKey } from '../../keys/index.js'
import { readProperty } from '../../codec/index.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { ManagedEntity } from './managed-entity.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { SessionContext } from '../context/session-context.js'

/** Rolls back links to entities that are to be deleted or detached, where they were made here and are not stored yet. */
export function rollbackLinksTo(
  removed: Iterable<ManagedEntity>,
  context: SessionContext,
  onRollback: OnRollback = () => {},
  isPreview = false,
): void {
  walk([...removed], context, (managed, strategies, deleted) =>
    rollbackLinks(managed, strategies, deleted, onRollback, isPreview),
  )
}

/** Drops deleted entities from the collections and references of the session, after they were sent. */
export function forgetDeleted(removed: Iterable<ManagedEntity>, context: SessionContext): void {
  const deleted = [...removed].filter(({ state }) => state === 'gone' || state === 'new')
  const isSoft = ({ model }: ManagedEntity): boolean => model.deletedAt !== undefined
  walk(
    deleted.filter((managed) => !isSoft(managed)),
    context,
    forgetting,
  )
  walk(deleted.filter(isSoft), context, hideLinks)
}

/** Drops links to a record that is deleted, or was not there, without an entity. */
export function forgetKey(mapped: MappedClass, key: RecordKey, context: SessionContext): void {
  walk([{ mapped, key }], context, forgetting)
}

/** Rolls back links of a detached entity, but for those that others have to it alone: they know its key. */
export function forgetDetached(managed: ManagedEntity, context: SessionContext): void {
  forgetAtOthers(managed, managed.mapped.relations)
  walk([managed], context, keepKeys)
}

/** A link record that was not stored, and has lost an end, goes with it. */
const forgetting: Visit = (managed, strategies, deleted) => {
  const isLost = managed.state === 'new' && strategies.some((each) => isLeftBy(managed, each, deleted))
  forgetLinks(managed, strategies, deleted)
  if (isLost) managed.home.remove(managed)
}

function isLeftBy({ entity }: ManagedEntity, strategy: RelationStrategy, deleted: Deleted): boolean {
  if (strategy.isEndOfLink !== true) return false
  const { key } = refStateOf(readProperty(entity, strategy.relation) as object)
  return key !== null && deleted(strategy.model.target).has(key)
}

type Visit = (managed: ManagedEntity, strategies: readonly RelationStrategy[], deleted: Deleted) => void

/** Walks once for each class that is deleted from, through the entities with a relation that leads there, and no others. */
function walk(
  removed: readonly Pick<ManagedEntity, 'mapped' | 'key'>[],
  { identity, classes }: SessionContext,
  visit: Visit,
): void {
  const keys = new Map<number, GoneKeys>()
  for (const { mapped, key } of removed) {
    if (mapped.standsAlone) continue
    const known = keys.get(mapped.place) ?? { plain: new DeletedKeys(), tagged: new DeletedKeys() }
    const own = mapped.codec.key.scheme.fromStored(key.key, identity.tenant)
    known.plain.add(own)
    if (classes.linksTo(mapped.place).areTagged) known.tagged.add(tagKey(mapped.model.set, own))
    keys.set(mapped.place, known)
  }
  for (const [place, { plain, tagged }] of keys) {
    const deleted: Deleted = (target) => {
      const isSeveral = classes.target(target).several !== undefined
      if (!classes.severalOf(target).some((mapped) => mapped.place === place)) return NOTHING
      return isSeveral ? tagged : plain
    }
    const links = classes.linksTo(place)
    const gone = links.areTagged ? DeletedKeys.of([...plain, ...tagged]) : plain
    for (const managed of identity.holdersOf(place, links, gone))
      visit(managed, links.relationsOf.get(managed.mapped)!, deleted)
  }
}

const NOTHING = new DeletedKeys()

/** Deleted keys of one set, as references to its class hold them, and as references to several classes do. */
interface GoneKeys {
  readonly plain: DeletedKeys
  readonly tagged: DeletedKeys
}
