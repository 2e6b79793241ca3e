import { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import { ServerThread } from '#src/embedded/server-thread.js'
import { SkeinError } from 'skein'

const READY = "const { parentPort } = require('node:worker_threads'); parentPort.postMessage({ ready: [] });"

/** A server whose thread runs a script instead; a test that hangs here has failed. */
async function threadThat(script: string, megabytes?: number): Promise<ServerThread> {
  const limits = megabytes === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: megabytes } }
  const thread = new ServerThread(new Worker(READY + script, { eval: true, ...limits }))
  await thread.ready
  return thread
}

const STUCK = 'for (;;);'
const IDLE = "parentPort.on('message', ({ id }) => parentPort.postMessage({ id }))"

describe('embedded server: its thread', () => {
  it('is ended by stop() while it is stuck', async () => {
    const thread = await threadThat(STUCK)
    await thread.stop()
    expect(await thread.ended).to.equal(undefined)
  })

  it('is ended while it is stuck, although clients wait for their last answers', async () => {
    const thread = await threadThat(STUCK)
    const answers = thread.ended.then(() => undefined)
    await thread.stopAfter(answers)
  })

  it('goes on while clients wait for their last answers and it is not stuck', async () => {
    const thread = await threadThat(IDLE)
    let isEnded = false
    void thread.ended.then(() => (isEnded = true))
    const work = async () => {
      for (let i = 0; i < 3; i++) await thread.call('ping')
      expect(isEnded).to.equal(false)
    }
    await thread.stopAfter(work())
    expect(await thread.ended).to.equal(undefined)
  })

  it('stops also when the last work of the clients fails, and passes the failure on', async () => {
    const thread = await threadThat(IDLE)
    const error = await thread.stopAfter(Promise.reject(new Error('no'))).catch((thrown: Error) => thrown.message)
    expect(error).to.equal('no')
    expect(await thread.ended).to.equal(undefined)
  })

  it('says that it ran out of memory, to those who wait and to those who come later', async () => {
    const thread = await threadThat('parentPort.on("message", () => { const all = []; for (;;) all.push({}) })', 16)
    const waiting = await thread.call('ping').catch((error: unknown) => error)
    const later = await thread.call('ping').catch((error: unknown) => error)
    for (const error of [waiting, later, await thread.ended]) {
      expect(error).to.be.instanceOf(SkeinError).and.to.include({ code: 'SKEIN_4108' })
      expect((error as SkeinError).message).to.contain('ran out of memory')
    }
    await thread.stop()
  })

  it('says what it failed with', async () => {
    const thread = await threadThat('parentPort.on("message", () => { throw new Error("the reason") })')
    await thread.call('ping').catch(() => undefined)
    expect(await thread.ended).to.include({ code: 'SKEIN_4108' })
    expect((await thread.ended)?.message).to.contain('the reason')
  })
})
