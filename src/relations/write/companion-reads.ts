import type { EntityModel, RelationModel } from '../../model/index.js'
import { read } from '../../plan/command.js'
import type { ReadOperation } from '../../plan/operation.js'
import type { StoredRecord } from '../../plan/outcome.js'
import { userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Reader } from '../contract/reader.js'
import type { Tracked } from '../contract/tracked.js'
import { askCompanions, type Answer, type CompanionQuestion } from './ask-companions.js'
import { mergeKeys } from './compare-keys.js'
import type { CompanionScheme } from './companion-scheme.js'
import { keysAmong, PAGE, type LinkBin } from './link-bin.js'
import { MembersApart } from './members-apart.js'

/** Asks companion records. The owner is read in the same batch: if it has another number of shards than is known here, those are asked. */
export class CompanionReads extends MembersApart {
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

  async count({ key }: Tracked, reader: Reader): Promise<number> {
    const answers = await this.#askAll(key, reader, this.layout.reads.size(this.bin))
    return answers.reduce((sum, { record }) => sum + Number(record?.bins[this.bin] ?? 0), 0)
  }

  async held(owner: RecordKey, members: readonly UserKey[], reader: Pick<Reader, 'read'>): Promise<readonly UserKey[]> {
    const [answers] = await this.ask([owner], reader, (home) => {
      const here = members.filter((member) => isKey(this.#scheme.homeOf(owner, member).key, home.key))
      if (here.length === 0) return undefined
      return read(this.model.name, home, 'none', [this.layout.among(this.bin, here)])
    })
    return answers.flatMap(({ record }) => keysAmong(record?.bins[this.bin]))
  }

  protected async firstKeys(
    owner: RecordKey,
    reader: Reader,
    count: number,
    from?: UserKey,
  ): Promise<readonly UserKey[]> {
    const answers = await this.#askAll(owner, reader, this.layout.page(this.bin, count, from))
    return mergeKeys(answers.map(({ record }) => pageIn(record)))
  }

  /** Keys of one companion after another, so many at a time, from each key on. */
  async *walk(owner: RecordKey, reader: Reader, count: number): AsyncGenerator<readonly UserKey[]> {
    for (const home of await this.#there(owner, reader)) {
      let last: UserKey | undefined
      for (;;) {
        const found = await this.#page(home, reader, count + 1, last)
        const isAgain = last !== undefined && found.length > 0 && isKey(found[0], last)
        const keys = (isAgain ? found.slice(1) : found).slice(0, count)
        if (keys.length > 0) yield keys
        if (found.length <= count) break
        last = keys.at(-1)
      }
    }
  }

  /** Keys of one companion after another, again and again from the first, until it has none. */
  async *firsts(owner: RecordKey, reader: Reader, count: number): AsyncGenerator<readonly UserKey[]> {
    for (const home of await this.#there(owner, reader)) {
      for (;;) {
        const keys = await this.#page(home, reader, count)
        if (keys.length === 0) break
        yield keys
      }
    }
  }

  async #there(owner: RecordKey, reader: Reader): Promise<readonly RecordKey[]> {
    const [answers] = await this.ask([owner], reader, (home) => read(this.model.name, home, 'none'))
    return answers.filter(({ record }) => record !== null).map(({ home }) => home)
  }

  async #page(home: RecordKey, reader: Reader, count: number, from?: UserKey): Promise<readonly UserKey[]> {
    const [page] = await reader.read([read(this.model.name, home, 'none', [this.layout.page(this.bin, count, from)])])
    return pageIn(page)
  }

  async #askAll(owner: RecordKey, reader: Reader, operation: ReadOperation): Promise<readonly Answer[]> {
    const [answers] = await this.ask([owner], reader, (home) => read(this.model.name, home, 'none', [operation]))
    return answers
  }
}

const pageIn = (record: StoredRecord | null): readonly UserKey[] => (record?.bins[PAGE] ?? []) as readonly UserKey[]

const isKey = (a: UserKey, b: UserKey): boolean => userKeyId(a) === userKeyId(b)
