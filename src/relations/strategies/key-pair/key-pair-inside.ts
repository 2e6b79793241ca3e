import type { Draft } from '../../../plan/draft.js'
import { removeBin } from '../../../plan/operations.js'
import { recordId, userKeyId, type UserKey } from '../../../plan/record-key.js'
import type { Reader } from '../../contract/reader.js'
import { linkWrite } from '../../write/link-bin.js'
import { isInKey } from '../../write/ref-in-key.js'
import { clearId, isCreated, keysIn, parting, pointId, type End, type Parting } from './key-pair-ends.js'
import { settleParted } from './key-pair-states.js'

/** Partner of an end by its key; it has the class of the other end. */
type PartnerOf = (end: End, key: UserKey) => End

/** Clears those that still point back, as the transaction sees them: the given ones, and whoever these ends are paired with now. */
export async function partInside(
  partings: Parting[],
  ends: readonly End[],
  partnerOf: PartnerOf,
  draft: Draft,
  reader: Reader,
): Promise<void> {
  const stored = ends.filter((end) => !isCreated(end))
  // Others of the same plan may have looked at it already.
  const open = partings.filter(({ from, to }) => draft.once(clearId('inside', from, to)))
  const [now, partners] = await Promise.all([
    keysIn(
      open.map(({ from }) => from),
      reader,
    ),
    keysIn(stored, reader),
  ])
  open.forEach((each, i) => clearInside(each, now[i], draft, reader))
  const seen = new Set(partings.map(({ from }) => recordId(from.key)))
  const unseen = stored.flatMap((end, i) => {
    const partner = partners[i]
    const other = ends.find((each) => each !== end)
    if (partner === undefined || (other !== undefined && userKeyId(partner) === userKeyId(other.key.key))) return []
    const from = partnerOf(end, partner)
    return seen.has(recordId(from.key)) ? [] : [parting(from, end)]
  })
  if (unseen.length > 0) await partInside(unseen, [], partnerOf, draft, reader)
}

/** Keeps to one write per record: if it is linked again in the same transaction, that write replaces its key. */
function clearInside({ from, to }: Parting, now: UserKey | undefined, draft: Draft, reader: Reader): void {
  const isPaired = now !== undefined && userKeyId(now) === userKeyId(to.key.key)
  if (!isPaired || isInKey(from.model, from.relation)) return draft.beforeSending(() => settleParted(from, to, reader))
  const change = draft.isPlanned(pointId(from)) ? [] : [removeBin(from.relation.bin!)]
  draft.add('remove references', linkWrite(from.model, from.key, change), ({ state }) => {
    if (state === 'written') settleParted(from, to, reader)
    return state === 'written'
  })
}
