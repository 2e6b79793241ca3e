import { expect } from 'chai'
import { inspect } from 'node:util'
import {
  bug,
  ModelError,
  NotFoundError,
  PartialFailureError,
  SkeinError,
  VersionConflictError,
} from '#src/errors/index.js'
import * as errors from '#src/errors/index.js'

describe('SkeinError', () => {
  it('carries code, details and cause, and ends its message with the fix', () => {
    const cause = new Error('client says no')
    const error = new SkeinError('SKEIN_2001', 'Agent is not mapped.', {
      className: 'Agent',
      fix: 'Add it to entities.',
      cause,
    })
    expect(error.message).to.equal('Agent is not mapped. Add it to entities.')
    expect(error.code).to.equal('SKEIN_2001')
    expect(error.details).to.deep.equal({ className: 'Agent', fix: 'Add it to entities.' })
    expect(error.cause).to.equal(cause)
  })

  it('has no cause property when there is none', () => {
    expect(new SkeinError('SKEIN_2001', 'x')).not.to.have.property('cause')
  })

  it('shows its class name and code when printed', () => {
    const text = inspect(new NotFoundError('Agent 17 is not stored.', { key: 17 }))
    expect(text).to.match(/^NotFoundError: Agent 17 is not stored\./)
    expect(text).to.include("code: 'SKEIN_3001'").and.include('key: 17')
  })

  it('is told apart by class', () => {
    const error: unknown = new NotFoundError('gone')
    expect(error).to.be.instanceOf(SkeinError).and.be.instanceOf(Error).and.not.be.instanceOf(VersionConflictError)
    expect(new SkeinError('SKEIN_2001', 'x')).not.to.be.instanceOf(NotFoundError)
    expect(undefined).not.to.be.instanceOf(SkeinError)
    expect('SkeinError').not.to.be.instanceOf(SkeinError)
  })

  it('is recognised when another copy of the package made it', async () => {
    const copyPath = new URL('?second-copy', import.meta.resolve('#src/errors/data-errors.js')).href
    const copy = (await import(copyPath)) as { NotFoundError: typeof NotFoundError }
    expect(copy.NotFoundError).not.to.equal(NotFoundError)
    const foreign: unknown = new copy.NotFoundError('gone')
    expect(foreign).to.be.instanceOf(NotFoundError).and.be.instanceOf(SkeinError)
    expect(foreign).not.to.be.instanceOf(VersionConflictError)
  })

  it('lets a user subclass be recognised as itself only', () => {
    class Mine extends NotFoundError {}
    expect(new Mine('x')).to.be.instanceOf(Mine).and.be.instanceOf(NotFoundError)
    expect(new NotFoundError('x')).not.to.be.instanceOf(Mine)
  })

  it('keeps what a caller needs to react', () => {
    const conflict = new VersionConflictError('stale', { expected: 3, stored: 4 })
    expect(conflict).to.include({ expected: 3, stored: 4, code: 'SKEIN_3004' })
    const partial = new PartialFailureError('half', { records: [{ className: 'Agent', key: 1, outcome: 'written' }] })
    expect(partial.records).to.have.length(1)
  })

  it('has one class for each thing that people catch, with its own name and code', () => {
    const made: SkeinError[] = [
      new errors.NotFoundError('x'),
      new errors.AlreadyExistsError('x'),
      new errors.EntityGoneError('x'),
      new errors.VersionConflictError('x'),
      new errors.ValidationFailedError('x', { failures: [] }),
      new errors.RecordTooLargeError('x', { size: 2, limit: 1 }),
      new errors.RestrictedError('x'),
      new errors.PartialFailureError('x', { records: [] }),
      new errors.RetriesExhaustedError('x', { attempts: 3 }),
      new errors.CommitInDoubtError('x'),
      new errors.InDoubtError('x'),
      new errors.BulkStoppedError('x', { written: 2, failed: 1, keys: [7] }),
      new errors.ModelError([]),
    ]
    expect(made.map(({ name, code }) => `${name} ${code}`)).to.deep.equal([
      'NotFoundError SKEIN_3001',
      'AlreadyExistsError SKEIN_3002',
      'EntityGoneError SKEIN_3003',
      'VersionConflictError SKEIN_3004',
      'ValidationFailedError SKEIN_3005',
      'RecordTooLargeError SKEIN_3006',
      'RestrictedError SKEIN_3007',
      'PartialFailureError SKEIN_4001',
      'RetriesExhaustedError SKEIN_4002',
      'CommitInDoubtError SKEIN_4003',
      'InDoubtError SKEIN_4206',
      'BulkStoppedError SKEIN_4004',
      'ModelError SKEIN_1000',
    ])
    expect(made[5]).to.include({ size: 2, limit: 1 })
    expect(made[8]).to.include({ attempts: 3 })
  })

  it('says so when the fault is in Skein', () => {
    expect(bug('two snapshots'))
      .to.include({ code: 'SKEIN_5001' })
      .and.have.property('message')
      .that.match(/^Bug in Skein: two snapshots.*report/)
  })

  it('lists every problem of a model in one message', () => {
    const problem = {
      code: 'SKEIN_1000',
      className: 'Agent',
      property: 'id',
      message: 'Bad.',
      fix: 'Do good.',
    } as const
    const error = new ModelError([problem, { ...problem, property: 'name' }])
    expect(error.message).to.include('2 problems').and.include('Agent.id: Bad.').and.include('Agent.name: Bad.')
    expect(error.problems).to.have.length(2).and.be.frozen
  })
})
