import 'reflect-metadata'
import { expect } from 'chai'
import { Bin, Key, Record, Version } from 'skein'
import { emptySets } from '../../empty-sets.js'
import { sharedServer } from '../../shared-server.js'

@Record({ set: 'agent' })
class Agent {
  @Key() id!: number
  @Bin() name!: string
  @Bin() joinedAt!: Date
  @Version() version?: number
}

describe('the example of the guide', () => {
  it('opens, saves, loads, changes, explains and deletes', async () => {
    const server = await sharedServer()
    const db = await server.open({ namespace: server.namespaces[0], entities: [Agent] })
    await emptySets(db, [Agent])

    const session = db.session()
    const alma = session.create(Agent, { id: 17, name: 'Alma', joinedAt: new Date(2024, 0, 1) })
    await session.flush()
    expect(alma.version).to.equal(1)

    const later = db.session()
    const agent = await later.load(Agent, 17)
    expect(agent).to.be.instanceOf(Agent)
    expect(agent).to.deep.equal(alma)
    agent.name = 'Alma Jonsson'
    expect(later.changes(agent).properties).to.deep.equal(['name'])
    const plan = String(await later.explain())
    expect(plan).to.contain('1 command').and.contain('write Agent agent/17')
    await later.save(agent)
    expect(agent.version).to.equal(2)

    expect(await later.delete(agent)).to.equal(true)
    expect(await later.find(Agent, 17)).to.equal(null)

    await db.close()
  })
})
