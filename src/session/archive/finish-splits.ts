import { splitAccess } from '../../driver/split-access.js'
import type { Driver } from '../../driver/driver.js'
import { EntityGoneError } from '../../errors/index.js'
import type { GrowingMembers } from '../../relations/contract/growing-members.js'
import type { RelationStrategy } from '../../relations/contract/relation-strategy.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import type { ReadRecord } from './move-members.js'

/**
 * Finishes splits that are under way in records that are to be moved: their members are in two places, and no move of the record can tell
 * which. True where there was one, so that the records are read again; once a record is claimed, none begins.
 */
export async function finishSplits(
  records: readonly ReadRecord[],
  mapped: MappedClass,
  classes: MappedClasses,
  driver: Driver,
): Promise<boolean> {
  let isFinished = false
  for (const { key, bins } of records)
    for (const growing of growingIn(classes.ofEntity(mapped.codec.hydrate(bins)).relations)) {
      growing.learn(key, bins)
      if (!growing.isUnsettled(key)) continue
      isFinished = true
      await growing.finish(key, splitAccess(driver)).catch(unlessGone)
    }
  return isFinished
}

const growingIn = (relations: readonly RelationStrategy[]): readonly GrowingMembers[] =>
  relations.flatMap(({ growing, store }) => growing ?? store?.growing ?? [])

/** Passes over a record that is gone: the next read of it shows that. */
function unlessGone(error: unknown): void {
  if (!(error instanceof EntityGoneError)) throw error
}
