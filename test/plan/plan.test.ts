import { expect } from 'chai'
import { commandBytes } from '#src/plan/wire-bytes.js'
import { versionIs, write, writeBins } from '#src/plan/command.js'
import { mergeCommands } from '#src/plan/merge-commands.js'
import { addToBin, writeBin } from '#src/plan/operations.js'
import { plan, stage } from '#src/plan/plan.js'
import { recordKey } from '#src/plan/record-key.js'

const key = recordKey('test', 'agent', 17)
const options = { exists: 'mustNotExist', ttl: 60, sendKey: true } as const
const byOperations = write('Agent', key, [writeBin('name', 'Alma'), writeBin('age', 7)], options)
const byBins = writeBins('Agent', key, { name: 'Alma', age: 7 }, options)

describe('a plan', () => {
  it('is frozen all the way down', () => {
    const update = write('Agent', key, [addToBin('version', 1)], { exists: 'mustExist', guards: [versionIs('v', 1)] })
    const shown = plan([stage('write', [update, byBins])])
    expect(shown.stages).to.be.frozen
    for (const command of shown.stages[0].commands) {
      expect(command).to.be.frozen
      expect(command.key).to.be.frozen
      expect(command.operations).to.be.frozen
      for (const operation of command.operations!) expect(operation).to.be.frozen
    }
  })
})

describe('a write that holds its bins', () => {
  it('is shown as the operations that write them', () => {
    expect(plan([stage('write', [byBins])])).to.deep.equal(plan([stage('write', [byOperations])]))
  })

  it('has the size of them', () => {
    expect(commandBytes(byBins)).to.equal(commandBytes(byOperations))
  })

  it('is merged with other changes of the record', () => {
    const change = write('Agent', key, [writeBin('age', 8)], { exists: 'mustExist' })
    expect(mergeCommands([byBins, change])).to.deep.equal(mergeCommands([byOperations, change]))
  })
})
