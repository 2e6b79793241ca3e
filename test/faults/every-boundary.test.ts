import { expect } from 'chai'
import type { Session } from 'skein'
import type { FaultOptions } from 'skein/embedded'
import { Lane, NAMESPACE, runInLanes } from './lane.js'
import { OPERATIONS, type Operation } from './operations.js'
import { dangling, oneSided, show } from './world.js'

/** What happens to the command at the boundary, and to those after it. */
const FAULTS: { readonly [title: string]: FaultOptions } = {
  'an error before': { answer: 4 },
  'a time-out before': { answer: 9 },
  'a time-out after the effect': { answer: 9, after: true },
  'the connection lost before': { drop: true },
  'the connection lost after the effect': { drop: true, after: true },
  'cut off from there on': { drop: true, times: 1_000_000 },
  'cut off right after the effect': { drop: true, after: true, times: 1_000_000 },
}

const MORE_THAN_ANY = 200
const LANES = 6

/** After many errors the client itself refuses commands until its next look at the cluster, a second later. */
async function flushAgain(session: Session): Promise<void> {
  for (let wait = 0; wait < 3; wait++) {
    const error: unknown = await session.flush().then(
      () => undefined,
      (reason: unknown) => reason,
    )
    if (error === undefined) return
    if (!(error instanceof Error && error.message.includes('code -14'))) throw error as Error
    await new Promise((resolve) => setTimeout(resolve, 1100))
  }
  await session.flush()
}

for (const mode of ['sc', 'ap'] as const) {
  describe(`a fault at every command (${mode})`, function () {
    this.timeout(120_000)
    let lanes: Lane[] = []
    let results: Map<Operation, Promise<void>>

    before(async () => {
      lanes = await Promise.all(Array.from({ length: LANES }, () => Lane.start(mode)))
      results = runInLanes(OPERATIONS, lanes, everyBoundary)
    })
    after(async () => {
      await Promise.allSettled(results.values())
      await Promise.all(lanes.map((lane) => lane.stop()))
    })

    for (const operation of OPERATIONS) it(operation.title, () => results.get(operation))

    async function everyBoundary(operation: Operation, lane: Lane): Promise<void> {
      const clean = await lane.begin(operation)
      await clean.session.flush()
      const after = show(await clean.world.stored())
      for (const [title, fault] of Object.entries(FAULTS)) {
        let skip = 0
        while (await isCommandAt(operation, lane, skip, title, fault, after)) skip++
        expect(skip).to.be.within(1, MORE_THAN_ANY)
      }
    }

    /** False when the operation has no such command: then nothing went wrong. */
    async function isCommandAt(
      operation: Operation,
      lane: Lane,
      skip: number,
      title: string,
      fault: FaultOptions,
      after: string,
    ): Promise<boolean> {
      const { world, session, before } = await lane.begin(operation)
      const { server } = lane
      const where = `${title}, command ${skip}`
      const set = await server.faults.add({ ...fault, namespace: NAMESPACE, skip })
      const error: unknown = await session.flush().then(
        () => undefined,
        (reason: unknown) => reason,
      )
      const hits = await set.hits()
      await server.faults.clear()
      if (hits === 0) return false
      // What a transaction left behind is undone by the server when its time is over.
      if (mode === 'sc') await server.clock.advance(30)
      const stored = await world.stored()
      const now = show(stored)
      expect(dangling(stored), where).to.deep.equal([])
      if (error === undefined) expect(now, where).to.equal(after)
      else if (mode === 'sc') expect([before, after], `${where}\n${now}`).to.include(now)
      await flushAgain(session).catch((reason: unknown) => {
        throw new Error(`${where}: the second flush failed\n${now}`, { cause: reason })
      })
      // Without transactions, a lost answer may have taken along which list a child was on: that is what repair is for.
      if (mode === 'ap' && show(await world.stored()) !== after) await world.repair()
      const end = await world.stored()
      expect(show(end), `${where}, second flush`).to.equal(after)
      expect(oneSided(end), where).to.deep.equal([])
      expect(session.isDirty(), where).to.equal(false)
      return true
    }
  })
}
