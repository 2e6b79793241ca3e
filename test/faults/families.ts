import type { Family, Operation } from './operation.js'
import { COMPANIONS } from './operations/companions.js'
import { COMPANION_PARTS } from './operations/companion-parts.js'
import { CONSOLIDATED } from './operations/consolidated.js'
import { DATED } from './operations/dated.js'
import { INDEXED } from './operations/indexed.js'
import { KEY_LISTS } from './operations/key-lists.js'
import { LINK_MAPS } from './operations/link-maps.js'
import { MANY_TO_MANY } from './operations/many-to-many.js'
import { NESTED } from './operations/nested.js'
import { NESTED_COMPANIONS } from './operations/nested-companions.js'
import { ONE_SIDED } from './operations/one-sided.js'
import { PAIRS, SHARED_KEY } from './operations/one-to-one.js'

export const FAMILIES: readonly Family[] = [
  KEY_LISTS,
  ONE_SIDED,
  MANY_TO_MANY,
  LINK_MAPS,
  PAIRS,
  SHARED_KEY,
  CONSOLIDATED,
  INDEXED,
]

export const CLASSES = [...FAMILIES, COMPANIONS, COMPANION_PARTS, DATED, NESTED, NESTED_COMPANIONS].flatMap(
  ({ classes }) => classes,
)

/** An operation on one way to store relations. */
export interface Case {
  readonly title: string
  readonly family: Family
  readonly operation: Operation
}

export const CASES: readonly Case[] = FAMILIES.flatMap(casesOf)

/** Cases that have a test of their own: they send more commands, and are repaired by a scan. */
export const COMPANION_CASES: readonly Case[] = casesOf(COMPANIONS)
export const COMPANION_PART_CASES: readonly Case[] = casesOf(COMPANION_PARTS)
export const DATED_CASES: readonly Case[] = casesOf(DATED)
export const NESTED_CASES: readonly Case[] = casesOf(NESTED)
export const NESTED_COMPANION_CASES: readonly Case[] = casesOf(NESTED_COMPANIONS)

function casesOf(family: Family): Case[] {
  return family.operations.map((operation) => ({ title: `${family.name}: ${operation.title}`, family, operation }))
}
