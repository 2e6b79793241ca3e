import { expect } from 'chai'
import { compileExpression, evaluate } from '#src/embedded/expression/index.js'
import { CommandError } from '#src/embedded/protocol/result-code.js'
import { Bytes, ParticleType } from '#src/embedded/value/value.js'
import { expressionBytes, raw } from './expression-bytes.js'
import { sampleRecord } from './sample-record.js'

const INVALID = { code: 4 }

/** Pattern, options (1 extended, 2 ignore case, 4 newline), text, and what the C library of a server answered. */
const RECORDED: [string, number, string, boolean | typeof INVALID][] = [
  ['a+', 0, 'aa', false],
  ['a+', 0, 'a+', true],
  ['a\\+', 0, 'aa', true],
  ['a?', 0, 'b', false],
  ['ab\\?c', 0, 'ac', true],
  ['a\\|b', 0, 'b', true],
  ['a|b', 0, 'b', false],
  ['a|b', 1, 'b', true],
  ['(a)', 0, '(a)', true],
  ['(a)', 1, 'a', true],
  ['\\(a\\)\\1', 0, 'aa', true],
  ['(a)\\1', 1, 'ab', false],
  ['*a', 0, '*a', true],
  ['*a', 1, '*a', INVALID],
  ['^*a', 0, '*a', true],
  ['\\(*a\\)', 0, '*a', true],
  ['a**', 0, 'a', INVALID],
  ['a**', 1, 'a', true],
  ['a{2}', 0, 'aa', false],
  ['a{2}', 1, 'aa', true],
  ['^a\\{2\\}$', 0, 'aaa', false],
  ['^a{2,}$', 1, 'aaa', true],
  ['^a{,1}$', 1, 'aa', false],
  ['a{2,1}', 1, 'aa', INVALID],
  ['a{x}', 1, 'a', INVALID],
  ['a{', 1, 'a{', INVALID],
  ['a{40000}', 1, 'a', INVALID],
  ['a^b', 0, 'a^b', true],
  ['a^b', 1, 'a^b', false],
  ['a$b', 0, 'a$b', true],
  ['^a', 0, 'ba', false],
  ['a$', 0, 'ab', false],
  ['^^a', 0, '^a', true],
  ['(^a|b)', 1, 'ca', false],
  ['a)', 1, 'a)', true],
  ['a)', 0, 'a)', true],
  ['a\\)', 0, 'a', INVALID],
  ['(a', 1, 'a', INVALID],
  ['()', 1, '', true],
  ['a||b', 1, '', true],
  ['[]a]', 0, ']', true],
  ['[^]a]', 0, ']', false],
  ['[a-c]', 0, 'b', true],
  ['[c-a]', 0, 'b', INVALID],
  ['[a-]', 0, '-', true],
  ['[\\n]', 0, '\\', true],
  ['[[:alpha:]]', 0, '1', false],
  ['[[:digit:][:space:]]', 0, ' ', true],
  ['[[:foo:]]', 0, 'f', INVALID],
  ['[[.-.]]', 0, '-', true],
  ['[[=a=]]', 0, 'a', true],
  ['[a', 0, 'a', INVALID],
  ['[[:punct:]]', 0, '_', true],
  ['a.b', 0, 'a\nb', true],
  ['a.b', 4, 'a\nb', false],
  ['^b', 0, 'a\nb', false],
  ['^b', 4, 'a\nb', true],
  ['a$', 4, 'a\nb', true],
  ['a[^x]b', 4, 'a\nb', false],
  ['a[^x]b', 0, 'a\nb', true],
  ['ABC', 2, 'xabcx', true],
  ['[A-C]', 2, 'b', true],
  ['[^a]', 2, 'A', false],
  ['É', 2, 'é', false],
  ['^.$', 0, 'é', false],
  ['^..$', 0, 'é', true],
  ['é', 0, 'café', true],
  ['\\w\\s\\W', 0, 'a !', true],
  ['\\<b', 0, 'a b', true],
  ['\\bb', 0, 'ab', false],
  ['a\\>', 0, 'ab', false],
  ['\\.', 0, 'a', false],
  ['\\.', 0, '.', true],
  ['a\\', 0, 'a', INVALID],
  ['\\1', 0, '1', INVALID],
  ['', 0, 'x', true],
  ['', 1, '', true],
]

function search(pattern: string, options: number, text: string | Bytes): unknown {
  try {
    return evaluate(compileExpression(expressionBytes([7, options, raw(pattern), text])), sampleRecord())
  } catch (error) {
    if (error instanceof CommandError) return { code: error.code }
    throw error
  }
}

describe('Regular expressions match as the C library of a server does', () => {
  for (const [pattern, options, text, answer] of RECORDED) {
    it(`${JSON.stringify(pattern)} with options ${options} in ${JSON.stringify(text)}`, () => {
      expect(search(pattern, options, text)).to.deep.equal(answer)
    })
  }

  it('bytes that are not UTF-8 are matched one by one', () => {
    expect(search('^.b$', 0, new Bytes(ParticleType.STRING, Buffer.from([0xff, 0x62])))).to.equal(true)
  })

  it('text ends at a NUL', () => {
    expect(search('b', 0, 'a\0b')).to.equal(false)
  })
})
