import { expect } from 'chai'
import { need } from '../../server.js'
import { Person } from '../models.js'
import { inEachMode } from '../modes.js'
import { rejection } from '../rejection.js'

inEachMode('a signal', (bed) => {
  it('may be shared by any number of calls without a warning', async () => {
    const { db } = bed()
    const { signal } = new AbortController()
    const warnings: Error[] = []
    const note = (warning: Error): void => void warnings.push(warning)
    process.on('warning', note)
    const ids = Array.from({ length: 20 }, () => bed().fresh())
    await Promise.all(
      ids.map((id) =>
        db.withSession(async (session) => {
          await session.save(Object.assign(new Person(), { id, name: 'Ada' }), { signal })
          await session.load(Person, id, { signal })
          await session.refresh(await session.load(Person, id), { signal })
          await db.read(Person, [id, bed().fresh()], { signal })
          session.remove(await session.load(Person, id, { signal }))
          await session.flush({ signal })
        }),
      ),
    )
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', note)
    expect(warnings).to.deep.equal([])
  })

  it('rejects all the calls that share it', async function () {
    const embedded = need(this, bed().server.embedded, 'holding commands back needs the embedded server')
    const controller = new AbortController()
    const fault = await embedded.faults.add({ kind: 'read', set: 'person', delay: 200, times: Infinity })
    const loads = Array.from({ length: 5 }, () =>
      rejection(() => bed().db.session().load(Person, bed().fresh(), { signal: controller.signal })),
    )
    const reason = new Error('enough')
    controller.abort(reason)
    expect(await Promise.all(loads)).to.deep.equal(Array(5).fill(reason))
    await fault.remove()
  })

  it('ends at once the waiting of a flush for another flush, and nothing of it is sent', async function () {
    const embedded = need(this, bed().server.embedded, 'holding commands back needs the embedded server')
    const session = bed().db.session()
    const [first, second] = [bed().fresh(), bed().fresh()]
    session.create(Person, { id: first, name: 'Ada' })
    const fault = await embedded.faults.add({ kind: 'write', set: 'person', delay: 300 })
    let isFirstDone = false
    const flush = session.flush().then(() => (isFirstDone = true))
    const later = session.create(Person, { id: second, name: 'Bo' })
    const controller = new AbortController()
    const waiting = rejection(() => session.flush({ signal: controller.signal }))
    const saving = rejection(() => session.save(later, { signal: controller.signal }))
    const reason = new Error('enough')
    controller.abort(reason)
    expect(await Promise.all([waiting, saving])).to.deep.equal([reason, reason])
    expect(isFirstDone).to.equal(false)
    await flush
    await fault.remove()
    expect(await bed().db.read(Person, [second])).to.deep.equal([null])
    await session.flush()
    expect((await bed().db.read(Person, [second]))[0]!.name).to.equal('Bo')
  })
})
