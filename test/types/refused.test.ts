import { expect } from 'chai'
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const folder = path.join(root, 'test/types/refused')

// Each `// expect: text` must be followed by a line with an error that says so, and there must be no other error.
// ' … ' stands for anything in between: the compiler lists the members of a union in no fixed order.
describe('what must not compile is refused with a readable message', function () {
  const files = readdirSync(folder).map((name) => path.join(folder, name))
  let errors: { file: string; line: number; text: string }[]

  before(() => {
    const config = ts.readConfigFile(path.join(root, 'test/tsconfig.json'), (name) => ts.sys.readFile(name))
    const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, path.join(root, 'test'))
    const program = ts.createProgram(files, {
      ...options,
      noEmit: true,
      incremental: false,
      tsBuildInfoFile: undefined,
    })
    errors = ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => ({
      file: path.resolve(file?.fileName ?? ''),
      line: file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line : -1,
      text: ts.flattenDiagnosticMessageText(messageText, '\n'),
    }))
  })

  for (const file of files) {
    const lines = readFileSync(file, 'utf8').split('\n')
    const expected = lines.flatMap((line, i) => {
      const text = /^\s*\/\/ expect: (.*)$/.exec(line)?.[1]
      return text === undefined ? [] : [{ text, line: i + 1, member: lines.slice(i + 2).find((l) => l.trim() !== '')! }]
    })
    for (const { text, line, member } of expected) {
      it(`${path.basename(file)}: ${member.trim()}`, () => {
        const said = errors.filter((error) => error.file === file && error.line === line).map((error) => error.text)
        for (const piece of text.split(' … ')) expect(said.join('\n')).to.include(piece)
      })
    }

    it(`${path.basename(file)} has no other errors`, () => {
      const wanted = new Set(expected.map(({ line }) => line))
      expect(errors.filter((error) => error.file === file && !wanted.has(error.line))).to.deep.equal([])
    })
  }
})
