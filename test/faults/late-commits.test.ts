import { expect } from 'chai'
import { isNamedServer } from '../server.js'
import { CASES, COMPANION_CASES, type Case } from './families.js'
import { useLanes, type Lane } from './lane.js'
import { oneSided, show } from './world.js'

const MODE = 'sc'
const LANES = 2
const IS_WHOLE = process.env.SKEIN_FAULTS === 'all'
const ALL = [...CASES, ...COMPANION_CASES]

/** A commit is decided, and one record has not heard of it: until the server completes it, the record shows its former values. */
describe(`a commit that one record has not heard of${isNamedServer ? ' (skipped: faults need the embedded server)' : ''}`, function () {
  this.timeout(300_000)
  const results = useLanes(ALL, atEachRecord, { lanes: LANES })

  for (const each of ALL) it(`is not taken for damage by verify: ${each.title}`, () => results().get(each))
})

async function atEachRecord(each: Case, lane: Lane): Promise<void> {
  const clean = await lane.begin(each, MODE)
  const kind = 'txn-roll-forward'
  const count = await lane.disturb({ kind, namespace: MODE, delay: 0, times: Infinity }, () => clean.session.flush())
  const after = show(await clean.world.stored())
  await clean.world.clear(MODE)
  const turn = ALL.indexOf(each)
  const skips = IS_WHOLE ? [...Array(count).keys()] : [...new Set([turn % count, (turn + 1) % count])]
  for (const skip of count === 0 ? [] : skips) {
    const { world, session } = await lane.begin(each, MODE)
    const where = `record ${skip} of ${count}`
    expect(await lane.disturb({ kind, namespace: MODE, skip, answer: 9 }, () => session.flush()), where).to.equal(1)
    await world.repair()
    await lane.server.clock.advance(30)
    const end = await world.stored()
    expect(show(end), where).to.equal(after)
    expect(oneSided(end, each.family), where).to.deep.equal([])
    await world.clear(MODE)
  }
}
