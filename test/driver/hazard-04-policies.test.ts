import Aerospike from 'aerospike'
import { expect } from 'chai'
import { write } from '#src/plan/command.js'
import * as op from '#src/plan/operations.js'
import { mergePolicies, Policies, type WriteTerms } from '#src/driver/policies.js'
import { connectTo, freshSet } from './set-up.js'
import { sharedServer } from '../shared-server.js'
import { need } from '../server.js'

const terms: WriteTerms = { exists: 'mustExist', ttl: 'keep', sendKey: false, durableDelete: false }

describe('hazard 4: a policy given to a call replaces all configured defaults', () => {
  it("every policy carries the configured time-outs and the user's own settings", () => {
    const policies = new Policies(
      mergePolicies({
        operate: new Aerospike.OperatePolicy({ totalTimeout: 123, key: Aerospike.policy.key.SEND }),
        batchWrite: new Aerospike.BatchWritePolicy({ commitLevel: 1 }),
      }),
    )
    const configured = { totalTimeout: 123, maxRetries: 0, key: Aerospike.policy.key.SEND }
    expect(policies.operate(terms)).to.deep.include({ ...configured, exists: Aerospike.policy.exists.UPDATE })
    expect(policies.operate({ ...terms, filter: 'abc' })).to.deep.include({ ...configured, filterExpression: 'abc' })
    expect(policies.remove({ ...terms, generation: 3 })).to.deep.include({
      totalTimeout: 3000,
      maxRetries: 0,
      generation: 3,
    })
    expect(policies.writeRow(terms)).to.deep.include({ commitLevel: 1, ttl: -2 })
  })

  it('the terms of a read hold for batches of reads, and the times of a write for all writes, unless these have their own', () => {
    const { batch, operate, remove, batchParentWrite } = mergePolicies({
      read: { socketTimeout: 5, totalTimeout: 6, replica: 1 },
      write: { totalTimeout: 7, maxRetries: 3 },
      remove: { totalTimeout: 8 },
    })
    expect(batch).to.include({ socketTimeout: 5, totalTimeout: 6, maxRetries: 2, replica: 1 })
    expect(operate).to.include({ totalTimeout: 7, maxRetries: 0 })
    expect(batchParentWrite).to.include({ totalTimeout: 7, maxRetries: 0 })
    expect(remove).to.include({ totalTimeout: 8 })
    expect(mergePolicies({ read: { totalTimeout: 6 }, batch: { totalTimeout: 9 } }).batch.totalTimeout).to.equal(9)
  })

  it('tells apart what differs only in its terms', () => {
    const policies = new Policies(mergePolicies())
    const row = (ttl: WriteTerms['ttl']): unknown => policies.writeRow({ ...terms, ttl }).ttl
    expect([row('keep'), row(5), row('never'), row('default'), row(6)]).to.deep.equal([-2, 5, -1, 0, 6])
    expect(policies.operate({ ...terms, sendKey: true }).key).to.equal(Aerospike.policy.key.SEND)
    expect(policies.operate(terms).key).to.equal(undefined)
    expect(policies.remove({ ...terms, durableDelete: true }).durableDelete).to.equal(true)
    expect(policies.remove(terms).durableDelete).to.equal(false)
  })

  it('does not grow with the number of different expiries', () => {
    const policies = new Policies(mergePolicies())
    const rows = Array.from({ length: 2000 }, (_, ttl) => policies.writeRow({ ...terms, ttl: ttl + 1 }).ttl)
    expect(rows).to.deep.equal(Array.from({ length: 2000 }, (_, ttl) => ttl + 1))
  })

  it('a configured time-out ends a command that is never answered', async function () {
    const server = await sharedServer()
    const embedded = need(this, server.embedded, 'needs a server that does not answer')
    const at = freshSet(server.namespaces[0])
    const driver = await connectTo(server, {
      policies: { operate: { totalTimeout: 1000, timeoutDelay: 0 } },
      retry: { attempts: 1 },
    })
    const fault = await embedded.faults.add({ kind: 'write', set: at(1).set, hang: true })
    const [outcome] = await driver.run([write('Thing', at(1), [op.addToBin('n', 1)], { exists: 'upsert' })])
    await driver.close()
    expect(await fault.hits()).to.equal(1)
    expect(outcome).to.deep.include({ state: 'inDoubt' })
    expect((outcome.error?.cause as { code: number }).code).to.equal(Aerospike.status.ERR_TIMEOUT)
  })
})
