import { expect } from 'chai'
import { read, remove, versionIs, write } from '#src/plan/command.js'
import { Explanation } from '#src/plan/explain.js'
import { addToBin, atKey, listAppendUnique, mapPut, writeBin } from '#src/plan/operations.js'
import { plan, stage } from '#src/plan/plan.js'
import { recordKey } from '#src/plan/record-key.js'
import { REVEAL_NOTHING, REVEAL_KEYS, showCommandInFull } from '#src/plan/show-command.js'
import { DoubleValue } from '#src/plan/value.js'

const agent = recordKey('test', 'agent', 17)
const listing = recordKey('test', 'listing', 'l-1')

const create = write('Listing', listing, [writeBin('city', 'Rome'), writeBin('price', new DoubleValue(2))], {
  exists: 'mustNotExist',
  ttl: 3600,
})
const link = write('Agent', agent, [listAppendUnique('listings', ['l-1']), addToBin('version', 1)], {
  exists: 'mustExist',
  guards: [versionIs('version', 7)],
})

describe('explaining a plan', () => {
  it('prints each command with key, operations, guards and bytes', () => {
    const text = String(new Explanation([plan([stage('create', [create]), stage('add references', [link])])]))
    expect(text).to.equal(
      [
        '2 commands, about 261 bytes',
        'stage 1: create',
        '  write Listing listing/"l-1" · must not exist · expires in 3600 s · 113 bytes',
        '      write city = "Rome"',
        '      write price = 2.0',
        'stage 2: add references',
        '  write Agent agent/17 · must exist · keep expiry · if version is 7 · 148 bytes',
        '      add to listings if absent: "l-1"',
        '      add 1 to version',
      ].join('\n'),
    )
  })

  it('tells of the size that is read along', () => {
    const text = String(new Explanation([plan([stage('add', [{ ...link, watchSize: true }])])]))
    expect(text).to.match(/add 1 to version\n {6}read the size of the record$/)
  })

  it('gives the same as JSON', () => {
    const json: unknown = JSON.parse(
      JSON.stringify(new Explanation([plan([stage('add references', [link])], { transaction: true })])),
    )
    expect(json).to.deep.equal({
      bytes: 148,
      plans: [
        {
          transaction: true,
          stages: [
            {
              title: 'add references',
              commands: [
                {
                  kind: 'write',
                  class: 'Agent',
                  namespace: 'test',
                  set: 'agent',
                  key: 17,
                  operations: ['add to listings if absent: "l-1"', 'add 1 to version'],
                  guards: ['must exist', 'keep expiry', 'if version is 7'],
                  bytes: 148,
                },
              ],
            },
          ],
        },
      ],
    })
  })

  it('says when nothing would be sent, and drops empty stages', () => {
    expect(String(new Explanation([plan([stage('create', [])])]))).to.equal('Nothing to do: no command would be sent.')
  })

  it('shows a step that depends on a read as such', () => {
    const text = String(new Explanation([plan([stage('delete', [], 'one delete for each key in listings')])]))
    expect(text).to.contain('stage 1: delete\n  after a read: one delete for each key in listings')
  })

  it('marks what happens in one transaction', () => {
    const text = String(new Explanation([plan([stage('delete', [remove('Agent', agent)])], { transaction: true })]))
    expect(text).to.contain('in one transaction\n  stage 1: delete\n    delete Agent agent/17')
  })

  it('shows neither keys nor values unless asked', () => {
    const put = write('Agent', agent, [mapPut('parts', 'secret-key', 'secret', [atKey('secret-path')])], {
      exists: 'mustExist',
    })
    const hidden = showCommandInFull(put, REVEAL_NOTHING)
    expect(hidden).to.not.match(/secret|17/)
    expect(hidden).to.contain('parts')
    expect(showCommandInFull(put, REVEAL_KEYS)).to.contain('agent/17').and.not.contain('secret')
  })

  it('reads well for reads', () => {
    expect(showCommandInFull(read('Agent', agent, ['name', 'city']), REVEAL_KEYS)).to.contain('read name, city')
    expect(showCommandInFull(read('Agent', agent, 'none'), REVEAL_KEYS)).to.contain('read whether it exists')
  })
})
