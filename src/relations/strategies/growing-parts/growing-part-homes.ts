import type { EntityModel } from '../../../model/index.js'
import type { KeyValue } from '../../../keys/index.js'
import type { Bins, WriteCommand } from '../../../plan/command.js'
import type { WriteOperation } from '../../../plan/operation.js'
import { readBin } from '../../../plan/operations.js'
import type { RecordKey, UserKey } from '../../../plan/record-key.js'
import type { SplitAccess } from '../../../plan/split-access.js'
import type { GrowingMembers } from '../../contract/growing-members.js'
import type { Reader } from '../../contract/reader.js'
import type { Placement } from '../../growth/placement.js'
import { NOT_MARKED } from '../../write/companion-commands.js'
import type { Answer, CompanionQuestion } from '../../write/ask-companions.js'
import { beside, type Companions } from '../../write/companion-lifecycle.js'
import type { AskedHomes, VerifiedHomes } from '../companion-parts/part-homes.js'
import type { PartClass } from '../consolidate/part-class.js'
import { partGrowthOf, type PartGrowth } from './part-growth.js'

/** Says that children move, and that only all records together tell which there are. */
class ChildrenMove extends Error {}

/** The records that may hold the children of one collection: their owner's own, or companions. */
export class GrowingPartHomes implements AskedHomes, VerifiedHomes, GrowingMembers {
  readonly model: EntityModel
  readonly growth: PartGrowth
  readonly schemeBins: readonly string[]
  readonly moveBin: string
  readonly #bin: string

  constructor(model: EntityModel, parts: PartClass) {
    this.model = model
    this.#bin = parts.relation.bin!
    this.growth = partGrowthOf(model, parts)
    this.schemeBins = this.growth.scheme.names
    this.moveBin = this.growth.scheme.bins.move
  }

  placement(owner: RecordKey): Placement {
    return this.growth.scheme.of(owner)
  }

  routeOf(id: KeyValue): KeyValue {
    return id
  }

  homeOf(owner: RecordKey, id: KeyValue): RecordKey {
    return this.growth.scheme.homeOf(owner, id, this.placement(owner).shards)
  }

  /** Throws while children of one of the owners move: see `isMoving`. */
  ask(
    owners: readonly RecordKey[],
    reader: Reader,
    question: CompanionQuestion,
  ): Promise<readonly (readonly Answer[])[]> {
    return Promise.all(
      owners.map(async (owner) => {
        const answers = await this.growth.reads.askEach(owner, reader, (home) => {
          const command = question(home, owner)
          if (command === undefined) return undefined
          return command.operations ?? (Array.isArray(command.bins) ? command.bins.map(readBin) : [])
        })
        if (answers === undefined) throw new ChildrenMove()
        return answers.map(({ home, bins }) => ({ home, record: { bins, generation: 0 } as Answer['record'] }))
      }),
    )
  }

  isMoving(error: unknown): boolean {
    return error instanceof ChildrenMove
  }

  learn(owner: RecordKey, bins: Bins): void {
    this.growth.scheme.learn(owner, bins)
  }

  isUnsettled(owner: RecordKey): boolean {
    return this.placement(owner).move !== undefined
  }

  settled(owner: RecordKey, stored: Bins, companion: Bins): Bins {
    return this.growth.scheme.settled(owner, stored, companion)
  }

  async finish(owner: RecordKey, access: SplitAccess): Promise<void> {
    await this.growth.mover.finish(owner, access)
  }

  async makeHome(owner: RecordKey, member: UserKey, access: SplitAccess): Promise<void> {
    await this.growth.growth.makeHome(owner, member, access)
  }

  async reshard(owner: RecordKey, shards: number, access: SplitAccess): Promise<void> {
    await this.growth.mover.move(owner, shards, 'call', access)
  }

  homes(owner: RecordKey): readonly RecordKey[] {
    return [owner, ...this.companions(owner)]
  }

  companions(owner: RecordKey): readonly RecordKey[] {
    return beside(owner, this.growth.scheme)
  }

  /** Companions as they are closed when their owner is deleted. */
  get closable(): Companions {
    const { commands, scheme, reads } = this.growth
    return { commands, scheme, bin: this.#bin, there: (owner, reader) => reads.there(owner, reader) }
  }

  unmark(home: RecordKey): WriteCommand {
    return this.growth.commands.unmark(home)
  }

  /** Owners whose children are elsewhere always say so. */
  tell(owner: RecordKey): WriteCommand {
    return this.growth.commands.ask(owner, 'change')
  }

  /** Only into a record that is there: `makeHome` makes those that are missing. */
  addition(owner: RecordKey, home: RecordKey, _first: KeyValue, operations: readonly WriteOperation[]): WriteCommand {
    const command = this.growth.commands.change(operations, home, this.placement(owner))
    return { ...command, guards: [...command.guards, NOT_MARKED] }
  }
}
