import { expect } from 'chai'
import { binEquals, read, remove, versionIs, write, type WriteCommand } from '#src/plan/command.js'
import { mergeCommands } from '#src/plan/merge-commands.js'
import {
  addToBin,
  atKey,
  listAppendUnique,
  listRemoveValues,
  mapPut,
  mapRemoveKeys,
  mapSetAside,
  readBin,
  removeBin,
  writeBin,
} from '#src/plan/operations.js'
import { recordKey } from '#src/plan/record-key.js'

const agent = recordKey('test', 'agent', 17)
const listing = recordKey('test', 'listing', 'a')

function mergedWrite(...commands: WriteCommand[]): WriteCommand {
  const [only, ...others] = mergeCommands(commands)
  expect(others).to.have.length(0)
  return only as WriteCommand
}

describe('merging commands', () => {
  it('makes one write of several changes to one record and leaves other records alone', () => {
    const commands = mergeCommands([
      write('Agent', agent, [writeBin('name', 'Ann')], { exists: 'mustExist' }),
      write('Listing', listing, [writeBin('city', 'Rome')], { exists: 'mustNotExist' }),
      write('Agent', agent, [listAppendUnique('listings', ['a'])], { exists: 'mustExist' }),
    ])
    expect(commands.map((command) => command.key)).to.deep.equal([agent, listing])
    expect(commands[0].operations).to.deep.equal([writeBin('name', 'Ann'), listAppendUnique('listings', ['a'])])
  })

  it('tells the keys 1 and "1" apart', () => {
    const one = write('A', recordKey('test', 'a', 1), [writeBin('x', 1)], { exists: 'upsert' })
    const text = write('A', recordKey('test', 'a', '1'), [writeBin('x', 1)], { exists: 'upsert' })
    expect(mergeCommands([one, text])).to.have.length(2)
  })

  it('creates a record that another change of the same stage links to', () => {
    const link = write('Agent', agent, [listAppendUnique('listings', ['a'])], { exists: 'mustExist', ttl: 'keep' })
    const create = write('Agent', agent, [writeBin('name', 'Ann')], { exists: 'mustNotExist', ttl: 60 })
    for (const merged of [mergedWrite(link, create), mergedWrite(create, link)]) {
      expect(merged.exists).to.equal('mustNotExist')
      expect(merged.ttl).to.equal(60)
    }
  })

  it('lets a link-only write keep the expiry that another change sets', () => {
    const link = write('Agent', agent, [listAppendUnique('listings', ['a'])], { exists: 'mustExist' })
    const refresh = write('Agent', agent, [writeBin('name', 'Ann')], { exists: 'mustExist', ttl: 60 })
    expect(mergedWrite(link, refresh).ttl).to.equal(60)
    expect(mergedWrite(refresh, link).ttl).to.equal(60)
  })

  it('keeps every guard once', () => {
    const a = write('Agent', agent, [writeBin('x', 1)], { exists: 'mustExist', guards: [versionIs('v', 3)] })
    const b = write('Agent', agent, [writeBin('y', 1)], {
      exists: 'mustExist',
      guards: [versionIs('v', 3), binEquals('owner', 'ann')],
    })
    expect(mergedWrite(a, b).guards).to.deep.equal([versionIs('v', 3), binEquals('owner', 'ann')])
  })

  it('deletes a record once, whatever else was wanted of it, under all conditions', () => {
    const commands = mergeCommands([
      write('Agent', agent, [writeBin('x', 1)], { exists: 'mustExist', guards: [versionIs('v', 3)] }),
      remove('Agent', agent),
      remove('Agent', agent, { guards: [binEquals('owner', 'ann')] }),
    ])
    expect(commands).to.deep.equal([remove('Agent', agent, { guards: [versionIs('v', 3), binEquals('owner', 'ann')] })])
  })

  it('leaves reads alone', () => {
    expect(mergeCommands([read('Agent', agent), read('Agent', agent)])).to.have.length(2)
  })

  it('refuses two generations for one record', () => {
    const at = (generation: number): WriteCommand =>
      write('Agent', agent, [writeBin('x', 1)], { exists: 'mustExist', generation })
    expect(() => mergeCommands([at(1), at(2)])).to.throw('generation 1 and 2')
  })
})

describe('joining operations of one record', () => {
  const join = (...operations: WriteCommand['operations']): WriteCommand['operations'] =>
    mergedWrite(write('Agent', agent, operations, { exists: 'mustExist' })).operations

  it('lets the last write of a bin win', () => {
    expect(join(writeBin('x', 1), writeBin('y', 1), writeBin('x', 2))).to.deep.equal([
      writeBin('x', 2),
      writeBin('y', 1),
    ])
    expect(join(writeBin('x', 1), removeBin('x'))).to.deep.equal([removeBin('x')])
  })

  it('adds up what is added to and removed from a list', () => {
    expect(join(listAppendUnique('l', ['a']), listAppendUnique('l', ['b']))).to.deep.equal([
      listAppendUnique('l', ['a', 'b']),
    ])
    expect(join(listRemoveValues('l', ['a']), listRemoveValues('l', ['b']))).to.deep.equal([
      listRemoveValues('l', ['a', 'b']),
    ])
  })

  it('keeps the order of an add and a remove', () => {
    const operations = [listAppendUnique('l', ['a']), listRemoveValues('l', ['a']), listAppendUnique('l', ['a'])]
    expect(join(...operations)).to.deep.equal(operations)
  })

  it('joins puts into one map but not into different places of it', () => {
    const joined = join(mapPut('m', 'a', 1), mapPut('m', 'b', 2))
    expect(joined).to.have.length(1)
    expect(joined[0]).to.deep.include({ kind: 'mapPutItems', bin: 'm' })
    const nested = [mapPut('m', 'f', 1, [atKey('a')]), mapPut('m', 'f', 2, [atKey('b')])]
    expect(join(...nested)).to.deep.equal(nested)
  })

  it('never joins increments or moves a write across a read of its bin', () => {
    expect(join(addToBin('n', 1), addToBin('n', 2))).to.have.length(2)
    expect(join(writeBin('x', 1), readBin('x'), writeBin('x', 2))).to.have.length(3)
    const ending = ['a', 'b'].flatMap((key) => [mapSetAside('ended', 'links', key, 1), mapRemoveKeys('links', [key])])
    expect(join(...ending)).to.deep.equal(ending)
  })
})
