import type { Bins, WriteCommand } from '../../../plan/command.js'
import { bin, mapCount } from '../../../plan/expression.js'
import { recordId, type RecordKey } from '../../../plan/record-key.js'
import type { InsideVerification, MisplacedPart, PartsApart } from '../../contract/inside-verification.js'
import type { PartClass } from '../consolidate/part-class.js'
import { PartVerification } from '../consolidate/part-verification.js'
import type { VerifiedHomes } from './part-homes.js'
import { partCreation, partPuts, partRemoval } from './part-transfer.js'

/** Children in companion records: each companion is checked as one record of children, and that each child is in its own. */
export class CompanionPartVerification extends PartVerification implements InsideVerification, PartsApart {
  readonly property: string
  readonly schemeBins: readonly string[]
  readonly #parts: PartClass
  readonly #homes: VerifiedHomes

  constructor(parts: PartClass, homes: VerifiedHomes) {
    super(parts)
    this.#parts = parts
    this.#homes = homes
    this.property = parts.relation.name
    this.schemeBins = homes.schemeBins
  }

  get apart(): PartsApart {
    return this
  }

  learn(owner: RecordKey, bins: Bins): void {
    this.#homes.learn(owner, bins)
  }

  homes(owner: RecordKey): readonly RecordKey[] {
    return this.#homes.companions(owner)
  }

  reopening(home: RecordKey): WriteCommand {
    return this.#homes.unmark(home)
  }

  misplacedIn(bins: Bins, from: RecordKey, owner: RecordKey): readonly MisplacedPart[] {
    return this.partsIn(bins).flatMap((found): MisplacedPart[] => {
      const home = this.#homes.homeOf(owner, found.id, found.rightPlace)
      if (recordId(home) === recordId(from)) return []
      const { sortKeyBin } = this.#parts.relation
      return [
        {
          id: found.id,
          route: this.#homes.routeOf(found.id, found.rightPlace),
          home,
          holds: mapCount(bin('map', sortKeyBin ?? this.#parts.bin), found.id),
          puts: partPuts(this.#parts, [found]),
          removal: partRemoval(this.#parts, [found]),
        },
      ]
    })
  }

  telling(owner: RecordKey, made: readonly RecordKey[]): WriteCommand {
    return this.#homes.tell(owner, made)
  }

  addition(parts: readonly MisplacedPart[], owner: RecordKey, isHomeThere: boolean): WriteCommand {
    const [{ home, route }] = parts
    const puts = parts.flatMap((part) => part.puts)
    const operations = isHomeThere ? puts : [...partCreation(this.#parts), ...puts]
    return this.#homes.addition(owner, home, route, operations, isHomeThere)
  }
}
