import type { KeyValue } from '../../keys/index.js'
import type { LinkVerification } from './link-verification.js'
import type { Reader } from './reader.js'
import type { Tracked } from './tracked.js'

/** Links of a collection that were ended and stay stored. */
export interface EndedLinks {
  /** The attribute that says when a link was ended. */
  readonly property: string
  keys(owner: Tracked, reader: Reader): Promise<readonly KeyValue[]>
  /** Attributes of such a link, with the time at which it was ended; null where there is none. */
  attributesOf(owner: Tracked, key: KeyValue, reader: Reader): Promise<object | null>
  /** All of them, with their attributes. */
  links(owner: Tracked, reader: Reader): Promise<readonly (readonly [KeyValue, object])[]>
  readonly verification: LinkVerification
}
