import { expect } from 'chai'
import { ItemStream } from '#src/query/item-stream.js'
import { rejection } from '../session/rejection.js'

describe('a stream of items', () => {
  const closed: string[] = []
  beforeEach(() => void (closed.length = 0))
  const streamOf = (steps: (readonly number[] | Error)[], signal?: AbortSignal): ItemStream<number> =>
    new ItemStream(
      () => {
        const step = steps.shift()
        if (step instanceof Error) return Promise.reject(step)
        return Promise.resolve(step === undefined ? { value: undefined, done: true } : { value: step, done: false })
      },
      () => Promise.resolve(closed.push('closed')),
      signal,
    )

  it('gives the items of all steps in their order, also of empty ones', async () => {
    const seen: number[] = []
    for await (const item of streamOf([[1, 2], [], [3]])) seen.push(item)
    expect(seen).to.deep.equal([1, 2, 3])
  })

  it('answers calls that do not wait for one another in their order', async () => {
    const stream = streamOf([[1], [2, 3]])
    const results = await Promise.all([stream.next(), stream.next(), stream.next(), stream.next(), stream.next()])
    expect(results.map(({ value, done }) => done || value)).to.deep.equal([1, 2, 3, true, true])
  })

  it('is closed by a reader that leaves, and has ended then', async () => {
    const stream = streamOf([[1, 2], [3]])
    for await (const item of stream) if (item === 1) break
    expect(closed).to.deep.equal(['closed'])
    expect(await stream.next()).to.deep.equal({ value: undefined, done: true })
  })

  it('is closed by a step that fails, and has ended then', async () => {
    const stream = streamOf([[1], new Error('lost')])
    await stream.next()
    expect(await rejection(() => stream.next())).to.have.property('message', 'lost')
    expect(closed).to.deep.equal(['closed'])
    expect((await stream.next()).done).to.equal(true)
  })

  it('rejects with the reason of its signal, also between two items of a step', async () => {
    const controller = new AbortController()
    const stream = streamOf([[1, 2]], controller.signal)
    await stream.next()
    controller.abort(new Error('enough'))
    expect(await rejection(() => stream.next())).to.have.property('message', 'enough')
    expect(closed).to.deep.equal(['closed'])
  })
})
