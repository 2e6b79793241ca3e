import type { UserKey } from '../plan/record-key.js'
import type { Reveal } from '../plan/show-command.js'
import type { SplitDone } from '../plan/split-access.js'

/** Published on `skein:split` when members of a collection have moved to other records, or could not all be moved. */
export interface SplitEvent {
  readonly class: string
  readonly property: string
  readonly namespace: string
  readonly set: string
  /** Key of the owner; only when `reveal.keys` was asked for. */
  readonly key?: UserKey
  /** Companion records that held the members; 0: the owner's own record held them. */
  readonly from: number
  readonly to: number
  /** The threshold that was passed (`bytes`, `members`, `busyPerSecond`), `tooLarge`: the server refused a larger record, or `call`. */
  readonly reason: string
  /** Members that the process moved which ended the split; others may have moved more. */
  readonly members: number
  /** In one transaction, or in steps beside others who read and wrote. */
  readonly how: 'transaction' | 'steps'
  readonly ms: number
  /** Reason why it did not end: the next writer, `db.sweep` or `verify` goes on with it. Without `reveal.keys` only a `HiddenError`. */
  readonly error?: unknown
}

export function splitEvent(
  { entity, owner: { namespace, set, key }, error, ...rest }: SplitDone,
  reveal: Reveal,
  hide: (error: unknown) => unknown,
): SplitEvent {
  return {
    class: entity,
    namespace,
    set,
    ...(reveal.keys && { key }),
    ...rest,
    ...(error !== undefined && { error: reveal.keys ? error : hide(error) }),
  }
}

export const splitLine = ({ entity, property, from, to, reason, how, ms }: SplitDone): string =>
  `skein split       ${entity}.${property} from ${from} to ${to}  ${reason}  in ${how === 'steps' ? how : 'one transaction'}  ${ms.toFixed(1)} ms`
