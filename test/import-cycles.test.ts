import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url))
const IMPORT = /^(?:import|export)\b[^'"]*?\bfrom '(\.[^']+)'/gms

/** Files that each file of `src` imports, types included. */
function importGraph(): ReadonlyMap<string, readonly string[]> {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  return new Map(files.map((name) => [join(SOURCE, name), importsOf(join(SOURCE, name))]))
}

function importsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, path]) =>
    normalize(join(dirname(file), path)).replace(/\.js$/, '.ts'),
  )
}

/** A way from some file back to itself; undefined when there is none. */
function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>()
  const way: string[] = []
  const follow = (file: string): string[] | undefined => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file]
    if (done.has(file)) return undefined
    way.push(file)
    for (const imported of graph.get(file) ?? []) {
      const cycle = follow(imported)
      if (cycle !== undefined) return cycle
    }
    way.pop()
    done.add(file)
    return undefined
  }
  for (const file of graph.keys()) {
    const cycle = follow(file)
    if (cycle !== undefined) return cycle
  }
  return undefined
}

describe('the imports of src', () => {
  const graph = importGraph()

  it('are found', () => {
    expect(graph.size).to.be.greaterThan(500)
    expect(graph.get(join(SOURCE, 'session', 'session.ts'))).to.include(join(SOURCE, 'session', 'session-reads.ts'))
  })

  it('lead from no file back to itself, types included', () => {
    expect(findCycle(graph)?.join(' → ')).to.equal(undefined)
  })

  it('would be refused where two files need each other', () => {
    const both = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['b']],
    ])
    expect(findCycle(both)).to.deep.equal(['b', 'c', 'b'])
  })
})
