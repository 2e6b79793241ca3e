import { expect } from 'chai'
import { encodeMsgpack } from '#src/embedded/value/msgpack-writer.js'
import { ListValue, MapValue, type Value } from '#src/embedded/value/value.js'
import { expressionBytes, type Written } from './expression/expression-bytes.js'
import { useRawClient, type RawClient } from './raw-client.js'
import { field, message, op } from './raw-message.js'

const RECORD = [field(0, Buffer.from('test')), field(1, Buffer.from('s')), field(4, Buffer.alloc(20, 1))]
const LIST = 20
const ALL: Written[] = [4, true]
const VALUES = 1
const KEYS = 2
const CHANGE = 4
const NO_FAIL = 16

const many = (count: number, value: Value): ListValue => new ListValue(Array<Value>(count).fill(value))
const select = (levels: Written[], flags: number): Buffer => op(3, LIST, 'l', expressionBytes([254, levels, flags]))
const modify = (levels: Written[], value: Written): Buffer =>
  op(4, LIST, 'l', expressionBytes([254, levels, CHANGE | NO_FAIL, value]))
const read = (...ops: Buffer[]): Buffer => message([1, 0, 0, 0], RECORD, ops)
const write = (...ops: Buffer[]): Buffer => message([0, 1, 0, 0], RECORD, ops)

/** A test that hangs here has failed. */
describe('embedded server: paths that cost more than they should', () => {
  const numbers = many(500_000, 1)
  const maps = many(100_000, new MapValue([1], [1]))
  const nested = many(700, many(700, many(1, 1)))
  let client: RawClient
  useRawClient((connected) => void (client = connected))
  afterEach('the server goes on', async () => {
    expect(await client.info('status\n')).to.deep.equal({ status: 'ok' })
  })

  const store = async (value: ListValue): Promise<void> => {
    const { code } = await client.send(message([0, 1, 0x10, 0], RECORD, [op(2, LIST, 'l', encodeMsgpack(value))]))
    expect(code).to.equal(0)
  }
  const codeOf = async (value: ListValue, request: Buffer): Promise<number> => {
    await store(value)
    return (await client.send(request)).code
  }

  it('a selection from a large document is answered', async () => {
    expect(await codeOf(nested, read(select([...ALL, ...ALL, ...ALL], VALUES)))).to.equal(0)
    expect(await codeOf(nested, read(select([...ALL, ...ALL, 4, [1, [122, 2, 1], 1]], 0)))).to.equal(0)
    expect(await codeOf(numbers, read(select([4, [1, [122, 2, 1], 1]], VALUES)))).to.equal(0)
  })

  it('a change of a large document is carried out', async () => {
    expect(await codeOf(nested, write(modify([...ALL, ...ALL, ...ALL], [20, [122, 2, 1], 1])))).to.equal(0)
    expect(await codeOf(numbers, write(modify(ALL, [100])))).to.equal(0)
  })

  it('thousands of selections of a large document in one request are refused', async () => {
    const all = select([...ALL, ...ALL, ...ALL], VALUES)
    expect(await codeOf(nested, read(...Array<Buffer>(10_000).fill(all)))).to.be.oneOf([4, 13])
  })

  it('a filter that looks through a long list for each child is refused', async () => {
    const inList: Written = [9, [122, 2, 1], [126, many(100_000, 2)]]
    expect(await codeOf(numbers, read(select([4, inList], VALUES)))).to.equal(4)
  })

  it('a path over a long list for each child is refused', async () => {
    const inner: Written = [127, 4, 0, [254, [4, [1, [122, 2, 1], 2]], VALUES], [126, many(100_000, 1)]]
    const empty: Written = [126, many(0, 1)]
    expect(await codeOf(numbers, read(select([4, [1, inner, empty]], VALUES)))).to.equal(4)
  })

  it('a long filter for each child is refused', async () => {
    const or: Written = [17, ...Array.from({ length: 20_000 }, (): Written => [1, [122, 2, 1], 2])]
    expect(await codeOf(numbers, read(select([4, or], VALUES)))).to.equal(4)
  })

  it('many keys to look for in each child are refused', async () => {
    const keys = new ListValue(Array.from({ length: 60_000 }, (_, i) => i))
    expect(await codeOf(maps, read(select([...ALL, 0x2a, keys], KEYS)))).to.equal(4)
  })

  it('a large new value for each child is refused', async () => {
    expect(await codeOf(numbers, write(modify(ALL, [126, many(100_000, 1)])))).to.be.oneOf([4, 13])
  })

  it('new values that double the document again and again are refused', async () => {
    const twice: Written = [126, many(2, 1)]
    const changes = Array.from({ length: 30 }, (_, i) =>
      modify(
        Array<Written[]>(i + 1)
          .fill(ALL)
          .flat(),
        twice,
      ),
    )
    expect(await codeOf(many(2, 1), write(...changes))).to.be.oneOf([4, 13])
  })
})
