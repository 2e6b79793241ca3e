import type { WriteCommand } from '../../plan/command.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { Reader } from './reader.js'

/** When a link was ended, in milliseconds, and its attributes: times come first, so that the server can order by them. */
export type EndedLink = readonly [number, Value]

/** Entry that one record keeps of an ended link. */
export interface EndedEntry {
  readonly home: RecordKey
  readonly link: EndedLink
}

/** Ended links of which several records may keep an entry: the one that was ended last counts, and none where the link is there again. */
export interface EndedEntries {
  /** Entries of a link, from that which was ended first. */
  of(owner: RecordKey, member: UserKey, reader: Pick<Reader, 'read'>): Promise<readonly EndedEntry[]>
  /** Drops an entry, unless the link was made again and ended anew in that record since it was read. */
  drop(entry: EndedEntry, member: UserKey): WriteCommand
}
