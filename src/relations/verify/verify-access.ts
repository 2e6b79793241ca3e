import type { KeyValue } from '../../keys/index.js'
import type { EntityModel } from '../../model/index.js'
import type { DeleteCommand, ReadCommand, WriteCommand } from '../../plan/command.js'
import type { Outcome, StoredRecord } from '../../plan/outcome.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { SplitAccess } from '../../plan/split-access.js'
import type { InsideVerification } from '../contract/inside-verification.js'
import type { LinkVerification } from '../contract/link-verification.js'
import type { ShowKey } from './describe-finding.js'
import type { AreHeld } from './read-ends.js'
import type { RepairResult } from './repair-links.js'

export interface VerifyTerms {
  readonly repair: boolean
  /** Milliseconds for which a record must not have changed to be judged. */
  readonly settle: number
}

/** Commands that verifying may send. */
export interface VerifyAccess {
  read(commands: readonly ReadCommand[]): Promise<(StoredRecord | null)[]>
  write(commands: readonly (WriteCommand | DeleteCommand)[]): Promise<Outcome[]>
  readonly areHeld: AreHeld
  readonly showKey: ShowKey
  /** Undefined for what is not a key of the class. */
  recordKeyOf(className: string, key: KeyValue): RecordKey | undefined
  /** Access for those who go on with a move of members. */
  readonly split: SplitAccess
  /** Goes on with a delete that was cut short. */
  finishDelete(model: EntityModel, key: RecordKey): Promise<RepairResult>
}

/** A record whose links are to be checked. */
export interface Subject {
  readonly model: EntityModel
  readonly key: RecordKey
  readonly relations: readonly LinkVerification[]
  readonly inside: readonly InsideVerification[]
}
