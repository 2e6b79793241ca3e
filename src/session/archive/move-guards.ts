import { CLOSED_BIN, MOVED_BIN } from '../../model/index.js'
import { binEquals, holds, type Bins, type Guard } from '../../plan/command.js'
import { bin, binExists, le, not, or, value } from '../../plan/expression.js'

/** A copy that an older mover has made, or anything that none has: a mover never replaces what a newer one has copied. */
export const notNewer = (claim: number): Guard =>
  holds(or(not(binExists(MOVED_BIN)), le(bin('int', MOVED_BIN), value(claim))))

/** The record is still claimed by the mover that has claimed it when it was read. */
export const claimedBy = ({ [MOVED_BIN]: claim }: Bins): Guard => binEquals(MOVED_BIN, (claim ?? null) as number | null)

export const IS_CLOSED = holds(binExists(CLOSED_BIN))
