import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { useRawClient, type RawClient } from '../raw-client.js'
import { field, message } from '../raw-message.js'
import { OBSERVED, READ_ALL, WRITE, writeInt, writeText } from './observed-commands.js'

describe('embedded server: single-record commands as observed on a real server', () => {
  let client: RawClient
  useRawClient((connected) => void (client = connected))

  const recordFields = (digest: Buffer, set: string) => [
    field(0, Buffer.from('test')),
    field(1, Buffer.from(set)),
    field(4, digest),
  ]

  for (const observed of OBSERVED) {
    it(observed.name, async () => {
      const { before: content, info = [0, WRITE], ops = [], generation, ttl, set = 'demo' } = observed
      const digest = randomBytes(20)
      const fields = recordFields(digest, 'demo')
      if (content) {
        const bins = Object.entries(content).map(([name, value]) =>
          typeof value === 'string' ? writeText(name, value) : writeInt(name, value),
        )
        expect((await client.send(message([0, WRITE, 0, 0], fields, bins))).code).to.equal(0)
      }
      const reply = await client.send(message(info, recordFields(digest, set), ops, generation, ttl))
      expect([`rc ${reply.code} gen ${reply.generation}`, ...reply.ops].join(' ')).to.equal(observed.answers)
      const now = await client.send(message([READ_ALL, 0, 0, 0], fields, []))
      const bins = now.ops.map((bin) => bin.replace(/^1:/, ''))
      const found = now.code === 0 ? [`gen ${now.generation}`, ...bins].join(' ') : `rc ${now.code}`
      expect(found).to.equal(observed.after)
    })
  }
})
