import { holds, write, type WriteCommand } from '../../plan/command.js'
import { bin, gt, listCount, mapGet, value } from '../../plan/expression.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { EndedEntries, EndedEntry, EndedLink } from '../contract/ended-entries.js'
import type { Reader } from '../contract/reader.js'
import { BucketReads } from './bucket-reads.js'

/** Questions about ended links in buckets. Where a process died before it dropped earlier entries of a link, the last end counts. */
export class EndedBucketReads extends BucketReads implements EndedEntries {
  async of(owner: RecordKey, member: UserKey, reader: Pick<Reader, 'read'>): Promise<readonly EndedEntry[]> {
    const answers = await this.askAll(owner, reader, this.layout.attributesOf!(this.bin, member))
    return answers
      .flatMap(({ home, record }) => {
        const stored = record?.bins[this.bin]
        return stored == null ? [] : [{ home, link: stored as unknown as EndedLink }]
      })
      .sort((a, b) => endOf(a.link) - endOf(b.link))
  }

  drop({ home, link: [at] }: EndedEntry, member: UserKey): WriteCommand {
    const times = mapGet(bin('map', this.bin), member, 'list')
    return write(this.model.name, home, [this.layout.take(this.bin, [member])], {
      exists: 'mustExist',
      ttl: 'keep',
      guards: [holds(gt(listCount(times, at), value(0)))],
    })
  }

  override async attributesOf(
    owner: RecordKey,
    member: UserKey,
    reader: Pick<Reader, 'read'>,
  ): Promise<Value | undefined> {
    return (await this.of(owner, member, reader)).at(-1)?.link
  }

  protected override merged(bins: readonly (Value | undefined)[]): Value {
    const newest = new Map<string, EndedLink>()
    for (const stored of bins)
      for (const [key, link] of Object.entries((stored ?? {}) as { readonly [key: string]: EndedLink }))
        if (endOf(link) >= endOf(newest.get(key))) newest.set(key, link)
    return Object.fromEntries(newest)
  }
}

const endOf = (link: EndedLink | undefined): number => Number(link?.[0] ?? -Infinity)
