import { DELETING_BIN, type EntityModel } from '../../model/index.js'
import { read, write, type ReadCommand, type WriteCommand } from '../../plan/command.js'
import { readExpression } from '../../plan/operations.js'
import type { Outcome, StoredRecord } from '../../plan/outcome.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { SplitAccess } from '../../plan/split-access.js'
import type { Finding } from '../contract/finding.js'
import type { LinkEnd, LinkVerification } from '../contract/link-verification.js'
import type { MemberStore, StoredMember } from '../contract/member-store.js'
import { describeHomeMarker, describeMember, type ShowKey } from './describe-finding.js'
import type { Reading } from './judge.js'
import { isUserKey } from './link-ends.js'
import { ABOUT_RECORD, readEnds, readingOf } from './read-ends.js'
import type { OwnWrites } from './own-writes.js'
import { resultOf, type RepairResult } from './repair-links.js'
import { tellOwners } from './tell-owners.js'

/** A record that may hold members of an owner, although it is another one or should be. */
export interface Home {
  readonly owner: { readonly model: EntityModel; readonly key: RecordKey }
  readonly key: RecordKey
  readonly store: MemberStore
  readonly relation: LinkVerification
}

/** A member in a record that it does not belong in. */
export interface Misplaced extends Home {
  readonly member: UserKey
  readonly generation: number
}

/** Result of telling an owner, and its generation then. */
interface Told {
  readonly result: RepairResult
  readonly generation?: number
}

interface HomeAccess {
  read(commands: readonly ReadCommand[]): Promise<(StoredRecord | null)[]>
  write(commands: readonly WriteCommand[]): Promise<Outcome[]>
  readonly split: SplitAccess
  readonly showKey: ShowKey
}

/** Checks records that hold members of others: each member is in its own home, and none is closed while its owner is there. */
export class HomeVerifier {
  readonly #access: HomeAccess
  readonly #repair: boolean
  readonly #settle: number
  readonly #unsettled: () => void
  readonly #own: OwnWrites

  constructor(
    access: HomeAccess,
    own: OwnWrites,
    { repair, settle }: { readonly repair: boolean; readonly settle: number },
    unsettled: () => void,
  ) {
    this.#access = access
    this.#own = own
    this.#repair = repair
    this.#settle = settle
    this.#unsettled = unsettled
  }

  /** A companion that is marked although its owner is not: a delete that was called off was cut short. */
  async *checkMarker(home: Home): AsyncGenerator<Finding> {
    const { owner, key, store } = home
    // The owner first: a delete marks it before its companions.
    const [root] = await this.#access.read([read(owner.model.name, owner.key, [DELETING_BIN])])
    const [record] = await this.#access.read([read(owner.model.name, key, 'none', ABOUT_RECORD)])
    const reading = readingOf(record)
    if (root === null || DELETING_BIN in root.bins || !reading.isDeleting) return
    if (reading.age < this.#settle) return this.#unsettled()
    const result = this.#repair
      ? resultOf(await this.#write(atGeneration(store.reopening(key), reading.generation)))
      : FOUND
    yield { ...describeHomeMarker(owner.model, owner.key, key, this.#nameOf(home), this.#access.showKey), ...result }
  }

  /** Copies the member to where it belongs before it is taken out of where it is, with what its link carries. */
  async *move(misplaced: Misplaced): AsyncGenerator<Finding> {
    const { owner, key, member } = misplaced
    const [here, there] = await Promise.all([this.#holds(misplaced, key), this.#readHome(misplaced)])
    if (!here.holds || here.isDeleting || there.isDeleting) return
    if (here.age < this.#settle && !this.#own.isLast(key, here)) return this.#unsettled()
    const result = this.#repair ? await this.#mend(misplaced, here, there) : FOUND
    const named = this.#nameOf(misplaced)
    yield {
      ...describeMember('misplacedMember', owner.model, owner.key, key, named, member, this.#access.showKey),
      ...result,
    }
  }

  async #mend(
    { owner, key, store, member, relation }: Misplaced,
    here: Reading,
    there: Reading,
  ): Promise<RepairResult> {
    const end = endOf(relation, owner.key, member)
    let generation: number | undefined = here.generation
    if (!there.holds) {
      const { isThere } = there.home!
      const told = isThere
        ? undefined
        : await this.#tell(store, owner.key, { owner: owner.key, member, attributes: here.carried })
      if (told !== undefined && told.result.state !== 'repaired') return told.result
      if (told !== undefined && recordId(owner.key) === recordId(key)) generation = told.generation
      // Made as writers make it: a split may have begun since.
      if (!isThere) await store.growing?.makeHome(owner.key, member, this.#access.split)
      const added = resultOf(await this.#write(end.add!(here.carried, isThere)))
      if (added.state !== 'repaired') return added
    }
    const removed = await this.#write(store.removal({ owner: owner.key, member }, key))
    // Written by nobody else since it was read: its other members are as settled as this one.
    const isOnlyHere = generation !== undefined && generation <= here.generation + 1
    if (removed.state === 'written' && isOnlyHere && removed.generation === generation! + 1)
      this.#own.note(key, removed.generation)
    return resultOf(removed)
  }

  /** Undefined where the owner has nothing to be told. */
  async #tell(store: MemberStore, owner: RecordKey, added: StoredMember): Promise<Told | undefined> {
    const told = await tellOwners([{ store, owner, added }], (commands) => this.#access.write(commands), this.#own)
    if (told.size === 0) return undefined
    const [outcome] = told.values()
    if (outcome === undefined) return { result: { state: 'leftAlone' } }
    return { result: resultOf(outcome), generation: outcome.generation }
  }

  async #readHome({ owner, member, relation }: Misplaced): Promise<Reading> {
    const [reading] = await readEnds([endOf(relation, owner.key, member)], (commands) => this.#access.read(commands))
    return reading
  }

  /** Tells whether the record that is read still holds the member, and with what. */
  async #holds({ owner, member, relation }: Misplaced, key: RecordKey): Promise<Reading> {
    const { holds, carries } = endOf(relation, owner.key, member)
    const operations = [
      ...ABOUT_RECORD,
      readExpression('_sk.holds', holds!),
      ...(carries === undefined ? [] : [readExpression('_sk.carries', carries)]),
    ]
    const [record] = await this.#access.read([read(owner.model.name, key, 'none', operations)])
    return { ...readingOf(record, Number(record?.bins['_sk.holds'] ?? 0) > 0), carried: record?.bins['_sk.carries'] }
  }

  async #write(command: WriteCommand): Promise<Outcome> {
    const [outcome] = await this.#access.write([command])
    return outcome
  }

  #nameOf({ relation }: Home): string {
    return relation.list!.property
  }
}

const FOUND: RepairResult = Object.freeze({ state: 'found' })

/** The end of the link that the owner is. */
function endOf(relation: LinkVerification, owner: RecordKey, member: UserKey): LinkEnd {
  const link = relation.link(owner, member)
  return relation.side === 'owner' ? link.owner : link.mirror
}

function atGeneration(command: WriteCommand, generation: number): WriteCommand {
  return write(command.entity, command.key, command.operations, { ...command, generation })
}

/** The record that is read, where this member does not belong in it. */
export function misplacedIn(home: Home | undefined, member: UserKey): Home | undefined {
  if (home === undefined || !isUserKey(member)) return undefined
  const { store, owner, key } = home
  if (store.lookup !== undefined) return store.lookup.isHome(owner.key, key) ? undefined : home
  return recordId(store.homeOf(owner.key, member)) === recordId(key) ? undefined : home
}
