import { expect } from 'chai'
import * as e from '#src/plan/expression.js'
import type { Operation } from '#src/plan/operation.js'
import * as op from '#src/plan/operations.js'
import { showOperation } from '#src/plan/show-operation.js'
import { DoubleValue, GeoValue } from '#src/plan/value.js'

const shown: [Operation, string, string][] = [
  [op.writeBin('x', 'a'), 'write x = "a"', 'write x = …'],
  [op.removeBin('x'), 'remove bin x', 'remove bin x'],
  [op.addToBin('n', 2), 'add 2 to n', 'add … to n'],
  [op.readBin('x'), 'read x', 'read x'],
  [
    op.readExpression('old', e.cond(e.binExists('x'), e.bin('str', 'x'), e.value('none'))),
    'read old := cond(binExists("x"), x, "none")',
    'read old := cond(binExists("x"), x, …)',
  ],
  [op.touch(), 'touch', 'touch'],
  [op.deleteRecord(), 'drop all bins', 'drop all bins'],
  [
    op.listCreate('l', 'ordered', true),
    'create ordered list l with a persisted index',
    'create ordered list l with a persisted index',
  ],
  [op.mapCreate('m', 'unordered', false), 'create unordered map m', 'create unordered map m'],
  [op.listAppend('l', [1, 2], 'unordered'), 'append to l: 1, 2', 'append to l: … (2)'],
  [op.listAppendUnique('l', [1, 2, 3, 4]), 'add to l if absent: 1, 2, 3, … (4 in all)', 'add to l if absent: … (4)'],
  [op.listRemoveValues('l', ['a']), 'remove from l: "a"', 'remove from l: … (1)'],
  [op.listRemoveIndexRange('l', 2, 5), 'remove 5 items of l from index 2', 'remove 5 items of l from index 2'],
  [op.listSet('l', 0, true), 'set l[0] = true', 'set l[0] = …'],
  [op.listClear('l'), 'clear l', 'clear l'],
  [op.listSize('l'), 'read size of l', 'read size of l'],
  [op.listGetIndexRange('l', 0, 10), 'read 10 items of l from index 0', 'read 10 items of l from index 0'],
  [op.listGetValues('l', ['a']), 'look for "a" in l', 'look for … (1) in l'],
  [op.mapPut('m', 'k', new DoubleValue(2)), 'put m["k"] = 2.0', 'put m[…] = …'],
  [
    op.mapPut('m', 'f', new GeoValue('{}'), [op.atKey('k'), op.atIndex(3)]),
    'put m["k"][#3]["f"] = {}',
    'put m[…][#3][…] = …',
  ],
  [op.mapPutItems('m', new Map([['a', 1]])), 'put into m: "a"', 'put into m: … (1)'],
  [op.mapIncrement('m', 'k', 1, [{ in: 'listRank', rank: 0 }]), 'add 1 to m[rank 0]["k"]', 'add … to m[rank 0][…]'],
  [op.mapRemoveKeys('m', ['a', 'b']), 'remove from m by key: "a", "b"', 'remove from m by key: … (2)'],
  [op.mapClear('m', [{ in: 'listValue', value: 'v' }]), 'clear m[= "v"]', 'clear m[= …]'],
  [
    op.mapSize('m', [
      { in: 'mapIndex', index: 1 },
      { in: 'mapRank', rank: 2 },
    ]),
    'read size of m[#1][rank 2]',
    'read size of m[#1][rank 2]',
  ],
  [op.mapGetKeys('m', ['a']), 'read m by key: "a"', 'read m by key: … (1)'],
  [op.mapGetKeyRange('m', 'a', null), 'read keys of m from "a" to null', 'read keys of m from … to …'],
  [op.mapGetIndexRange('m', 1, 2), 'read 2 items of m from index 1', 'read 2 items of m from index 1'],
]

describe('operations as text', () => {
  for (const [operation, full, redacted] of shown) {
    it(full, () => {
      expect(showOperation(operation, true)).to.equal(full)
      expect(showOperation(operation, false)).to.equal(redacted)
    })
  }
})
