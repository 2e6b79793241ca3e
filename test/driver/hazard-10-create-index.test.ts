import { expect } from 'chai'
import type { SkeinError } from '#src/errors/index.js'
import { createIndex, dropIndex, type IndexDefinition } from '#src/driver/create-index.js'
import type { Driver } from '#src/driver/driver.js'
import { connectTo, freshSet } from './set-up.js'
import { sharedServer } from '../shared-server.js'

describe('hazard 10: the client cuts long bin names of an index and needs its set', () => {
  let driver: Driver
  let index: IndexDefinition

  before(async () => {
    const server = await sharedServer()
    driver = await connectTo(server)
    const { namespace, set } = freshSet(server.namespaces[0])(1)
    index = { name: `idx-${set}`, namespace, set, bin: 'fourteen-chars', type: 'string' }
  })
  after(() => driver?.close())

  const refusal = async (given: IndexDefinition): Promise<SkeinError> =>
    (await createIndex(driver.client, given).catch((error: unknown) => error)) as SkeinError

  it('refuses a bin of 15 characters, and an index without a set', async () => {
    const long = await refusal({ ...index, bin: 'fifteen-charsss' })
    expect(long.code).to.equal('SKEIN_2590')
    expect(long.message).to.contain(`'fifteen-charsss'`)
    expect((await refusal({ ...index, set: '' })).code).to.equal('SKEIN_2590')
  })

  it('creates the index that was asked for, as often as asked, and drops it', async () => {
    const known = async (): Promise<string> => driver.client.infoAny(`sindex-list:namespace=${index.namespace}`)
    await createIndex(driver.client, index)
    await createIndex(driver.client, index)
    expect(await known())
      .to.contain(index.name)
      .and.contain('fourteen-chars')
    await dropIndex(driver.client, index.namespace, index.name)
    await dropIndex(driver.client, index.namespace, index.name)
    expect(await known()).to.not.contain(index.name)
  })
})
