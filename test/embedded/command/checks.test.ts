import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { useRawClient, type RawClient } from '../raw-client.js'
import { field, message, op } from '../raw-message.js'

const READ = [0x03, 0, 0, 0]
const WRITE = [0, 0x01, 0, 0]
const DELETE = [0, 0x03, 0, 0]
const INT = Buffer.alloc(8)

/** Requests that only another client than the official one could send. */
describe('embedded server: checks of what is asked', () => {
  let client: RawClient
  useRawClient((connected) => void (client = connected))

  const record = (digest: Buffer, set = 'demo', namespace = 'test') => [
    field(0, Buffer.from(namespace)),
    field(1, Buffer.from(set)),
    field(4, digest),
  ]
  const userKey = (text: string) => field(2, Buffer.from(`\u0003${text}`))
  const write = (fields: readonly Buffer[], name = 'a') => client.send(message(WRITE, fields, [op(2, 1, name, INT)]))

  it('keeps the first user key it is sent, and refuses another with 19', async () => {
    const keyed = record(randomBytes(20))
    expect((await write(keyed)).code).to.equal(0)
    expect((await write([...keyed, userKey('first')])).code).to.equal(0)
    expect((await write([...keyed, userKey('other')])).code).to.equal(19)
    expect((await client.send(message(READ, [...keyed, userKey('other')], []))).code).to.equal(19)
    expect((await client.send(message(DELETE, [...keyed, userKey('other')], []))).code).to.equal(19)
    expect((await write(keyed)).code).to.equal(0)
    expect((await write([...keyed, userKey('first')])).generation).to.equal(4)
  })

  it('refuses a set name above 63 bytes', async () => {
    expect((await write(record(randomBytes(20), 's'.repeat(63)))).code).to.equal(0)
    expect((await write(record(randomBytes(20), 's'.repeat(64)))).code).to.equal(4)
  })

  it('counts the bytes of a bin name, not its characters', async () => {
    const bytes = (name: string) => Buffer.from(name).toString('latin1')
    expect((await write(record(randomBytes(20)), bytes(`${'ä'.repeat(7)}a`))).code).to.equal(0)
    expect((await write(record(randomBytes(20)), bytes('ä'.repeat(8)))).code).to.equal(21)
  })

  it('answers 20 for a namespace it does not have', async () => {
    expect((await write(record(randomBytes(20), 'demo', 'nowhere'))).code).to.equal(20)
  })

  it('refuses a command that neither reads nor writes, and a time to live above 10 years', async () => {
    const fields = record(randomBytes(20))
    expect((await client.send(message([0, 0, 0, 0], fields, []))).code).to.equal(4)
    const ops = [op(2, 1, 'a', INT)]
    expect((await client.send(message(WRITE, fields, ops, 0, 10 * 365 * 86_400 + 1))).code).to.equal(4)
    expect((await client.send(message(WRITE, fields, ops, 0, 10 * 365 * 86_400))).code).to.equal(0)
  })

  it('reads everything once, and not beside other answers', async () => {
    const fields = record(randomBytes(20))
    await write(fields)
    const [all, named] = [op(1, 0, '', Buffer.alloc(0)), op(1, 0, 'a', Buffer.alloc(0))]
    const operate = async (...ops: Buffer[]) =>
      (await client.send(message([0x03, 0x01, 0, 0], fields, [op(2, 1, 'a', INT), ...ops]))).code
    expect([await operate(all), await operate(all, all), await operate(all, named)]).to.deep.equal([0, 4, 4])
    expect(await operate(all, op(4, 4, 'l', Buffer.from('920101', 'hex')))).to.equal(4)
    const read = await client.send(message(READ, fields, [named]))
    expect(read.ops, 'a read of everything has no use for operations').to.deep.equal(['1:a=0'])
  })

  it('lets a replace write expressions, and nothing that looks at what was there', async () => {
    const fields = record(randomBytes(20))
    await write(fields, 'old')
    const replace = async (change: Buffer) => (await client.send(message([0, 0x01, 0x10, 0], fields, [change]))).code
    expect(await replace(op(5, 1, 'old', INT))).to.equal(4)
    expect(await replace(op(4, 4, 'l', Buffer.from('920101', 'hex')))).to.equal(4)
    expect(await replace(op(11, 0, '', Buffer.alloc(0)))).to.equal(4)
    expect(await replace(op(14, 0, '', Buffer.alloc(0)))).to.equal(4)
    expect(await replace(op(8, 4, 'w', Buffer.from('920500', 'hex')))).to.equal(0)
    expect((await client.send(message(READ, fields, []))).ops).to.deep.equal(['1:w=5'])
  })

  it('refuses writes and deletes that name another set than the record has', async () => {
    const digest = randomBytes(20)
    await write(record(digest))
    expect((await write(record(digest, 'other'))).code).to.equal(4)
    expect((await write(record(digest, ''))).code).to.equal(4)
    expect((await client.send(message(DELETE, record(digest, 'other'), []))).code).to.equal(4)
    expect((await client.send(message(DELETE, record(digest, ''), []))).code).to.equal(0)
  })

  it('checks the bin names of a read', async () => {
    const fields = record(randomBytes(20))
    await write(fields)
    const select = async (name: string) =>
      (await client.send(message([0x01, 0, 0, 0], fields, [op(1, 0, name, Buffer.alloc(0))]))).code
    expect([await select('b'.repeat(15)), await select('b'.repeat(16))]).to.deep.equal([0, 21])
  })
})
