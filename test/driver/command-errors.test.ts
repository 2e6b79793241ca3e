import { expect } from 'chai'
import { ERROR_CODES } from '#src/errors/index.js'
import { remove, versionIs, write } from '#src/plan/command.js'
import { writeBin } from '#src/plan/operations.js'
import { recordKey } from '#src/plan/record-key.js'
import { explainFailure, failureOf, inDoubtError, notSentError } from '#src/driver/command-errors.js'
import type { ClientError } from '#src/driver/aerospike-client.js'

const key = recordKey('test', 'agent', 'ann')
const command = write('Agent', key, [writeBin('secret', 'value')], { exists: 'mustExist', guards: [versionIs('v', 3)] })
const expiring = write('Agent', key, [writeBin('x', 1)], { exists: 'upsert', ttl: 60 })

describe('errors of commands', () => {
  const cases: [number, string, string][] = [
    [2, 'missing', 'SKEIN_3003'],
    [3, 'generation', 'SKEIN_3004'],
    [5, 'exists', 'SKEIN_3002'],
    [27, 'guard', 'SKEIN_3004'],
    [13, 'tooLarge', 'SKEIN_3006'],
    [26, 'partMissing', 'SKEIN_3004'],
    [12, 'refused', 'SKEIN_4210'],
    [120, 'unavailable', 'SKEIN_4203'],
    [22, 'refused', 'SKEIN_4204'],
    [25, 'refused', 'SKEIN_4301'],
    [123, 'refused', 'SKEIN_4302'],
    [81, 'refused', 'SKEIN_4207'],
    [14, 'unavailable', 'SKEIN_4202'],
    [18, 'unavailable', 'SKEIN_4202'],
    [-7, 'unavailable', 'SKEIN_4212'],
    [-11, 'unavailable', 'SKEIN_4212'],
    [9, 'unavailable', 'SKEIN_4201'],
    [-10, 'unavailable', 'SKEIN_4205'],
    [-15, 'unavailable', 'SKEIN_4205'],
    [4, 'refused', 'SKEIN_4204'],
    [8, 'refused', 'SKEIN_4204'],
    [-2, 'refused', 'SKEIN_4204'],
  ]
  for (const [code, reason, errorCode] of cases) {
    it(`code ${code} is ${reason}: ${ERROR_CODES[errorCode as keyof typeof ERROR_CODES]}`, () => {
      const explained = explainFailure(command, { code })
      expect(explained.reason).to.equal(reason)
      expect(explained.error.code).to.equal(errorCode)
      expect(explained.error.message).to.contain('Agent agent/"ann"').and.not.contain('value')
      expect(explained.error.details).to.deep.include({
        className: 'Agent',
        key: 'ann',
        namespace: 'test',
        set: 'agent',
      })
      expect(explained.error.details.fix).to.be.a('string').with.length.above(10)
    })
  }

  for (const code of [120, 121, 122, 125, -17]) {
    it(`code ${code} inside a transaction is a conflict`, () => {
      expect(explainFailure(command, { code }, true)).to.have.property('reason', 'conflict')
    })
  }

  it('a time to live that the namespace refuses is told apart from other refusals', () => {
    expect(explainFailure(expiring, { code: 22 }).error.code).to.equal('SKEIN_4208')
    expect(explainFailure(remove('Agent', key), { code: 22 }).error.code).to.equal('SKEIN_4204')
  })

  it("carry the client's error with its command redacted", () => {
    const error = Object.assign(new Error('refused'), { code: 4, command: { args: ['value'] } }) as ClientError
    const { cause } = explainFailure(command, failureOf(error)).error
    expect(cause).to.equal(error)
    expect(error.command)
      .to.be.a('string')
      .that.contains('write Agent')
      .and.not.contains('value')
      .and.not.contains('ann')
  })

  it('treat an exception of the binding as a bad parameter', () => {
    expect(failureOf(new TypeError('Operations array invalid') as unknown as ClientError).code).to.equal(-2)
  })

  it('say what is not known and what was not sent', () => {
    expect(inDoubtError(command, { code: 9 }).message).to.contain('may or may not')
    const reason = new Error('enough')
    expect(notSentError(command, reason)).to.deep.include({ code: 'SKEIN_4209', cause: reason })
  })
})
