import { read } from '../../plan/command.js'
import type { ReadOperation } from '../../plan/operation.js'
import type { StoredRecord } from '../../plan/outcome.js'
import { userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { Reader } from '../contract/reader.js'
import type { Tracked } from '../contract/tracked.js'
import type { Answer, CompanionQuestion } from './ask-companions.js'
import { mergeKeys } from './compare-keys.js'
import { PAGE } from './link-bin.js'
import { MembersApart } from './members-apart.js'

/** Asks the records that hold the members of an owner, all at once or one after another; a subclass says which they are. */
export abstract class HomeReads extends MembersApart {
  /** Asks those records of each owner for which there is a question. */
  abstract ask(
    owners: readonly RecordKey[],
    reader: Pick<Reader, 'read'>,
    question: CompanionQuestion,
  ): Promise<readonly (readonly Answer[])[]>

  async there(owner: RecordKey, reader: Reader): Promise<readonly RecordKey[]> {
    const [answers] = await this.ask([owner], reader, (home) => read(this.model.name, home, 'none'))
    return answers.filter(({ record }) => record !== null).map(({ home }) => home)
  }

  /** Records to read one after another. */
  protected toWalk(owner: RecordKey, reader: Reader): Promise<readonly RecordKey[]> {
    return this.there(owner, reader)
  }

  async stored(owners: readonly RecordKey[], reader: Reader): Promise<readonly Value[]> {
    const all = await this.ask(owners, reader, (home) => read(this.model.name, home, [this.bin]))
    return all.map((answers) => this.merged(answers.map(({ record }) => record?.bins[this.bin])))
  }

  async count({ key }: Tracked, reader: Reader): Promise<number> {
    const answers = await this.askAll(key, reader, this.layout.reads.size(this.bin))
    return answers.reduce((sum, { record }) => sum + Number(record?.bins[this.bin] ?? 0), 0)
  }

  protected async firstKeys(
    owner: RecordKey,
    reader: Reader,
    count: number,
    from?: UserKey,
  ): Promise<readonly UserKey[]> {
    const answers = await this.askAll(owner, reader, this.layout.page(this.bin, count, from))
    return mergeKeys(answers.map(({ record }) => pageIn(record)))
  }

  /** Keys of one record after another, so many at a time, from each key on. */
  async *walk(owner: RecordKey, reader: Reader, count: number): AsyncGenerator<readonly UserKey[]> {
    for (const home of await this.toWalk(owner, reader)) {
      let last: UserKey | undefined
      for (;;) {
        const found = await this.#page(home, reader, count + 1, last)
        const isAgain = last !== undefined && found.length > 0 && userKeyId(found[0]) === userKeyId(last)
        const keys = (isAgain ? found.slice(1) : found).slice(0, count)
        if (keys.length > 0) yield keys
        if (found.length <= count) break
        last = keys.at(-1)
      }
    }
  }

  /** Keys of one record after another, again and again from the first, until it has none. */
  async *firsts(owner: RecordKey, reader: Reader, count: number): AsyncGenerator<readonly UserKey[]> {
    for (const home of await this.toWalk(owner, reader)) {
      for (;;) {
        const keys = await this.#page(home, reader, count)
        if (keys.length === 0) break
        yield keys
      }
    }
  }

  protected async askAll(
    owner: RecordKey,
    reader: Pick<Reader, 'read'>,
    operation: ReadOperation,
  ): Promise<readonly Answer[]> {
    const [answers] = await this.ask([owner], reader, (home) => read(this.model.name, home, 'none', [operation]))
    return answers
  }

  async #page(home: RecordKey, reader: Reader, count: number, from?: UserKey): Promise<readonly UserKey[]> {
    const [page] = await reader.read([read(this.model.name, home, 'none', [this.layout.page(this.bin, count, from)])])
    return pageIn(page)
  }
}

const pageIn = (record: StoredRecord | null): readonly UserKey[] => (record?.bins[PAGE] ?? []) as readonly UserKey[]
