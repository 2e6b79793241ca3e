import { expect } from 'chai'
import fc from 'fast-check'
import { Pace } from '#src/embedded/cluster/pace.js'
import { runQuery } from '#src/embedded/command/query.js'
import { writeRecord } from '#src/embedded/command/write.js'
import { resolveOptions } from '#src/embedded/options.js'
import { FieldId, Info2, OpCode } from '#src/embedded/protocol/constants.js'
import { emptyRequest, type Request, type RequestOp } from '#src/embedded/protocol/request.js'
import { IndexKind } from '#src/embedded/store/index-definition.js'
import { QueryJobs } from '#src/embedded/store/query-jobs.js'
import { Store } from '#src/embedded/store/store.js'
import { ParticleType } from '#src/embedded/value/value.js'

const integer = (value: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(value))
  return bytes
}

function sampleStore(): Store {
  const store = new Store(resolveOptions({ namespaces: ['test:ap'] }))
  const namespace = store.namespace('test')
  const definition = { setName: '', bin: 'n', type: ParticleType.INTEGER, kind: IndexKind.DEFAULT }
  namespace.indexes.create('on_n', { ...definition, contextBytes: Buffer.alloc(0), context: [] })
  for (let id = 0; id < 20; id++) {
    const ops: RequestOp[] = [{ op: OpCode.WRITE, type: ParticleType.INTEGER, name: 'n', value: integer(id % 3) }]
    const digest = Buffer.alloc(20, id)
    writeRecord(namespace, { ...emptyRequest(), namespace: 'test', setName: 'demo', digest, info2: Info2.WRITE, ops })
  }
  return store
}

/** Result codes and their number of rows in a streamed reply; fails where the reply is not well formed. */
function messages(reply: Buffer): { code: number; last: boolean }[] {
  const found: { code: number; last: boolean }[] = []
  for (let frame = 0; frame < reply.length;) {
    const end = frame + 8 + reply.readUIntBE(frame + 2, 6)
    let at = frame + 8
    while (at < end) {
      found.push({ code: reply[at + 5], last: (reply[at + 3] & 1) !== 0 })
      const fields = reply.readUInt16BE(at + 18)
      const ops = reply.readUInt16BE(at + 20)
      at += 22
      for (let i = 0; i < fields + ops; i++) at += 4 + reply.readUInt32BE(at)
    }
    expect(at).to.equal(end)
    frame = end
  }
  return found
}

async function ask(store: Store, request: Request): Promise<{ code: number; last: boolean }[]> {
  const chunks: Buffer[] = []
  const node = { pace: new Pace(), jobs: new QueryJobs(), serves: () => true, isMaster: () => true, holds: () => true }
  await runQuery(store, node, request, { closed: false, write: async (bytes) => void chunks.push(bytes) })
  return messages(Buffer.concat(chunks))
}

const range = Buffer.concat([
  Buffer.from([1, 1, 0x6e, ParticleType.INTEGER, 0, 0, 0, 8]),
  integer(0),
  Buffer.from([0, 0, 0, 8]),
  integer(2),
])
const everyPartition = Buffer.from(Uint16Array.from({ length: 4096 }, (_, pid) => pid).buffer)

describe('Whatever is sent as a query', () => {
  const store = sampleStore()
  const query = (fields: [number, Buffer][], changes: Partial<Request> = {}): Request => ({
    ...emptyRequest(),
    namespace: 'test',
    info1: 1,
    fields: new Map(fields),
    ...changes,
  })

  it('is answered when it is sound', async () => {
    const answer = await ask(
      store,
      query([
        [FieldId.INDEX_RANGE, range],
        [FieldId.PID_ARRAY, everyPartition],
      ]),
    )
    expect(answer).to.have.length(21)
    expect(answer.at(-1)).to.deep.equal({ code: 0, last: true })
  })

  it('is refused without the mark of a last message when it is not', async () => {
    const noIndex = Buffer.from(range)
    noIndex[2] = 0x7a
    const answer = await ask(
      store,
      query([
        [FieldId.INDEX_RANGE, noIndex],
        [FieldId.PID_ARRAY, everyPartition],
      ]),
    )
    expect(answer).to.deep.equal([{ code: 201, last: false }])
  })

  it('gets an answer that ends, however it is damaged', async () => {
    const ids = [11, 12, 13, 15, 21, 22, 23, 24, 26, 30, 43]
    const data = fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc.tuple(fc.nat(range.length - 1), fc.nat(255)).map(([at, value]) => {
        const bytes = Buffer.from(range)
        bytes[at] = value
        return bytes
      }),
      fc.constantFrom(everyPartition, Buffer.alloc(20, 7), Buffer.alloc(8, 1), Buffer.from('on_n'), range),
    )
    const field = fc.tuple(fc.constantFrom(...ids), data)
    const op = fc.record({
      op: fc.nat(17),
      type: fc.nat(23),
      name: fc.string({ maxLength: 17 }),
      value: fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(field, { maxLength: 5 }),
        fc.array(op, { maxLength: 2 }),
        fc.nat(255),
        async (fields, ops, info2) => {
          const sound: [number, Buffer][] = [[FieldId.PID_ARRAY, everyPartition]]
          const answer = await ask(store, query([...sound, ...fields], { ops, info2 }))
          const end = answer.at(-1)!
          expect(end.last || end.code !== 0).to.equal(true)
          expect(answer.slice(0, -1).every(({ code }) => code === 0)).to.equal(true)
        },
      ),
      { numRuns: 2000 },
    )
  })
})
