import type { EntityModel } from '../../model/index.js'
import { holds, type Bins, type Guard } from '../../plan/command.js'
import { bin, binExists, eq, mapCountOf, mapSize, not, or, value, type Expression } from '../../plan/expression.js'
import type { ReadOperation } from '../../plan/operation.js'
import type { UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { EndedLink } from '../contract/ended-entries.js'
import type { LinkBin, LinkEntry } from '../write/link-bin.js'

/** Bins of one record that hold members of a collection: a second one has the links that were ended, which move with the others. */
export class StoredLinks {
  readonly names: readonly string[]
  readonly #bin: string
  readonly #layout: LinkBin
  readonly #target: EntityModel

  constructor(name: string, layout: LinkBin, target: EntityModel) {
    this.#bin = name
    this.#layout = layout
    this.#target = target
    this.names = layout.ended === undefined ? [name] : [name, layout.ended.name]
  }

  /** Members as they were read; ended links say that they are. */
  in(bins: Bins | undefined): readonly LinkEntry[] {
    const ended = this.#layout.ended && this.#entries(bins?.[this.#layout.ended.name])
    const linked = this.#entries(bins?.[this.#bin])
    return ended === undefined ? linked : [...ended.map(([key, link]): LinkEntry => [key, link, 'ended']), ...linked]
  }

  /** Questions which of these keys a copy must not replace. */
  unreplaced(keys: readonly UserKey[]): readonly { readonly bin: string; readonly question: ReadOperation }[] {
    const { unreplaced, ended } = this.#layout
    if (unreplaced !== undefined) return [{ bin: unreplaced.bin, question: unreplaced.among(keys) }]
    return ended === undefined
      ? []
      : this.names.map((name) => ({ bin: name, question: this.#layout.among(name, keys) }))
  }

  #entries(stored: Value | undefined): readonly LinkEntry[] {
    return stored === undefined || stored === null ? [] : this.#layout.entriesIn(stored, this.#target)
  }
}

/** Holds of a record that has nothing of these links, neither as they are nor ended. */
export const lacksLinks = (names: readonly string[], keys: readonly UserKey[]): readonly Guard[] =>
  names.map((name) => holds(unlessThere(name, eq(mapCountOf(bin('map', name), keys), value(0)))))

/** Holds of a record without ended links. */
export const hasNoneEnded = (name: string): Guard => holds(unlessThere(name, eq(mapSize(bin('map', name)), value(0))))

/** A record gets the bin with its first ended link. */
const unlessThere = (name: string, condition: Expression): Expression => or(not(binExists(name)), condition)

/** An entry as it is stored: the client does not return every number so. */
export function recodedEntry([key, carried, kind]: LinkEntry, recode: (carried: Value) => Value): LinkEntry {
  if (carried === undefined) return [key, undefined]
  if (kind === undefined) return [key, recode(carried)]
  const [at, attributes] = carried as EndedLink
  return [key, [at, recode(attributes)], kind]
}
