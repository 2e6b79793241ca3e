import type { EntityModel, RelationModel } from '../../model/index.js'
import { read } from '../../plan/command.js'
import { userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { Reader } from '../contract/reader.js'
import { askCompanions, type Answer, type CompanionQuestion } from './ask-companions.js'
import type { CompanionScheme } from './companion-scheme.js'
import { keysAmong, type LinkBin } from './link-bin.js'
import { HomeReads } from './home-reads.js'

/** Asks companion records. The owner is read in the same batch: if it has another number of shards than is known here, those are asked. */
export class CompanionReads extends HomeReads {
  readonly #scheme: CompanionScheme

  constructor(
    model: EntityModel,
    relation: RelationModel,
    target: EntityModel,
    layout: LinkBin,
    scheme: CompanionScheme,
  ) {
    super(model, relation, target, layout)
    this.#scheme = scheme
  }

  /** Asks those companions of each owner for which there is a question. */
  ask(
    owners: readonly RecordKey[],
    reader: Pick<Reader, 'read'>,
    question: CompanionQuestion,
  ): Promise<readonly (readonly Answer[])[]> {
    return askCompanions(this.model, this.#scheme, owners, reader, question)
  }

  async held(owner: RecordKey, members: readonly UserKey[], reader: Pick<Reader, 'read'>): Promise<readonly UserKey[]> {
    const [answers] = await this.ask([owner], reader, (home) => {
      const here = members.filter((member) => isKey(this.#scheme.homeOf(owner, member).key, home.key))
      if (here.length === 0) return undefined
      return read(this.model.name, home, 'none', [this.layout.among(this.bin, here)])
    })
    return answers.flatMap(({ record }) => keysAmong(record?.bins[this.bin]))
  }

  async attributesOf(owner: RecordKey, member: UserKey, reader: Pick<Reader, 'read'>): Promise<Value | undefined> {
    const [[answer]] = await this.ask([owner], reader, (home) =>
      isKey(this.#scheme.homeOf(owner, member).key, home.key)
        ? read(this.model.name, home, 'none', [this.layout.attributesOf!(this.bin, member)])
        : undefined,
    )
    return answer.record?.bins[this.bin]
  }
}

const isKey = (a: UserKey, b: UserKey): boolean => userKeyId(a) === userKeyId(b)
