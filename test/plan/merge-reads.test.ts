import { expect } from 'chai'
import { read } from '#src/plan/command.js'
import { mergeReads } from '#src/plan/merge-reads.js'
import { listGetIndexRange, listSize } from '#src/plan/operations.js'
import { recordKey } from '#src/plan/record-key.js'

const a = recordKey('test', 'user', 1)
const b = recordKey('test', 'user', 2)

describe('reads of one tick', () => {
  it('are one for each record, with all bins that are asked for', () => {
    const { commands, answeredBy } = mergeReads([
      read('User', a, ['x']),
      read('User', b, ['x']),
      read('User', a, ['y', 'x']),
      read('User', a, 'none'),
    ])
    expect(commands.map(({ key, bins }) => [key, bins])).to.deep.equal([
      [a, ['x', 'y']],
      [b, ['x']],
    ])
    expect(answeredBy).to.deep.equal([0, 1, 0, 0])
  })

  it('take all bins where one of them does, and none where none does', () => {
    const [all] = mergeReads([read('User', a, ['x']), read('User', a, 'all'), read('User', a, 'none')]).commands
    expect(all.bins).to.equal('all')
    const [none] = mergeReads([read('User', a, 'none'), read('User', a, 'none')]).commands
    expect(none.bins).to.equal('none')
  })

  it('put operations together whose results have names of their own, and nothing else', () => {
    const { commands, answeredBy } = mergeReads([
      read('User', a, 'none', [listSize('x')]),
      read('User', a, 'none', [listSize('y')]),
      read('User', a, 'none', [listGetIndexRange('x', 0, 1)]),
      read('User', a, ['x']),
    ])
    expect(commands.map(({ operations }) => operations?.length)).to.deep.equal([2, 1, undefined])
    expect(answeredBy).to.deep.equal([0, 0, 1, 2])
  })
})
