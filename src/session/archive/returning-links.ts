import { setTimeout as pause } from 'node:timers/promises'
import { linkedApart, type EntityModel, type Model, type RelationModel } from '../../model/index.js'
import type { Bins } from '../../plan/command.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { LinkEnd, StoredLink } from '../../relations/contract/link-verification.js'
import type { RelationStrategy } from '../../relations/contract/relation-strategy.js'
import { OwnWrites } from '../../relations/verify/own-writes.js'
import { readEnds } from '../../relations/verify/read-ends.js'
import { repairLinks, type Confirmed } from '../../relations/verify/repair-links.js'
import type { VerifyAccess } from '../../relations/verify/verify-access.js'
import { layoutOf } from '../../relations/write/store-of.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { ATTEMPTS, type MoveAccess } from './move-access.js'

/** Links that are compared together. */
const CHUNK = 500

/** A link of the record that has come back, and the end of it that the record is. */
interface OwnLink {
  readonly link: StoredLink
  readonly side: 'owner' | 'mirror'
}

/**
 * Drops links of a record that has come back from the archive, where the other side has dropped them meanwhile or is gone. The record is
 * still closed, so that nobody adds one; whoever drops one from now on finds the record.
 */
export class ReturningLinks {
  readonly #classes: MappedClasses
  readonly #access: MoveAccess
  readonly #ends: VerifyAccess

  constructor(classes: MappedClasses, access: MoveAccess, ends: VerifyAccess) {
    this.#classes = classes
    this.#access = access
    this.#ends = ends
  }

  async settle(mapped: MappedClass, key: RecordKey, bins: Bins): Promise<void> {
    const own = this.#classes.ofEntity(mapped.codec.hydrate(bins))
    for (const strategy of own.relations.filter((each) => isApart(own.model, each.model, this.#classes.model))) {
      const keys = keysIn(strategy, bins, this.#classes.target(strategy.model.target))
      for (let i = 0; i < keys.length; i += CHUNK) await this.#settleAll(key, strategy, keys.slice(i, i + CHUNK))
    }
  }

  async #settleAll(key: RecordKey, { verification }: RelationStrategy, others: readonly UserKey[]): Promise<void> {
    const { side } = verification!
    let left = others.map((other): OwnLink => ({ link: verification!.link(key, other), side }))
    for (let attempt = 1; left.length > 0; attempt++) {
      left = await this.#drop(left)
      if (left.length === 0) return
      if (attempt === ATTEMPTS) throw this.#access.overtaken(key)
      // A transaction that holds a record is soon committed.
      await pause(Math.random() * 2 ** attempt)
    }
  }

  /** Returns those that could not be dropped, because somebody has written to a record meanwhile or a transaction holds one. */
  async #drop(links: readonly OwnLink[]): Promise<OwnLink[]> {
    const far = links.map(farEnd)
    // Asked before the ends are read: one that is not held any more then shows the result.
    const held = await this.#ends.areHeld(far.map(({ model, key }) => ({ entity: model.name, key })))
    const there = await readEnds(far, (commands) => this.#ends.read(commands))
    const lost = links.filter((_, i) => !held[i] && !there[i].holds)
    const here = await readEnds(lost.map(nearEnd), (commands) => this.#ends.read(commands))
    const dropped = lost.flatMap(({ link, side }, i): Confirmed[] =>
      here[i].holds
        ? [{ link, verdict: { kind: 'oneSidedLink', wrong: side, change: 'remove' }, reading: here[i] }]
        : [],
    )
    const results = await repairLinks(dropped, (commands) => this.#ends.write(commands), new OwnWrites())
    const failed = results.find(({ state }) => state === 'failed')
    if (failed?.error !== undefined) throw failed.error
    const refused = new Set(dropped.filter((_, i) => results[i].state === 'leftAlone').map(({ link }) => link))
    return links.filter(({ link }, i) => held[i] || refused.has(link))
  }
}

const nearEnd = ({ link, side }: OwnLink): LinkEnd => link[side]
const farEnd = ({ link, side }: OwnLink): LinkEnd => (side === 'owner' ? link.mirror : link.owner)

const isApart = (owner: EntityModel, relation: RelationModel, { entities }: Model): boolean =>
  linkedApart(owner, relation, entities)

/** True where records of a class have links to others that stay when they are archived. */
export const hasLinksApart = (owner: EntityModel, model: Model): boolean =>
  owner.archive !== undefined && owner.relations.some((relation) => isApart(owner, relation, model))

/** Stored keys of the other sides. */
function keysIn({ model }: RelationStrategy, bins: Bins, target: EntityModel): readonly UserKey[] {
  const stored = bins[model.bin!]
  if (stored == null) return []
  return model.holds === 'ref' ? [stored as UserKey] : layoutOf(model).keysIn(stored, target)
}
