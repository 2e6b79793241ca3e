import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { decodeEntry, encodeEntry } from '#src/embedded/journal/entry-codec.js'
import type { JournalEntry } from '#src/embedded/journal/entry.js'
import { JournalFile } from '#src/embedded/journal/journal-file.js'
import { UnusableFileError } from '#src/embedded/journal/unusable-file.js'
import { RecordState } from '#src/embedded/store/record-state.js'
import { Particle } from '#src/embedded/value/particle.js'
import { value } from '../cdt/values.js'

const digest = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => Buffer.from(bytes))
const name = (maxLength: number) => fc.string({ maxLength, unit: 'grapheme-ascii' })
const particle = value.filter((each) => each !== null).map((each) => Particle.fromValue(each))
const state = fc
  .record({
    digest,
    setName: name(63),
    bins: fc.dictionary(name(15), particle, { maxKeys: 4 }),
    generation: fc.integer({ min: 1, max: 65535 }),
    voidTime: fc.nat(0xffffffff),
    lastUpdate: fc.nat(2 ** 45),
    version: fc.nat(2 ** 47),
    storedKey: fc.option(particle, { nil: undefined }),
  })
  .map(
    (of) =>
      new RecordState(
        of.digest,
        of.setName,
        new Map(Object.entries(of.bins)),
        of.generation,
        of.voidTime,
        of.lastUpdate,
        of.version,
        of.storedKey,
      ),
  )
const change = fc.oneof(
  digest.map((bytes) => ({ digest: bytes, state: undefined })),
  state.map((present) => ({ digest: present.digest, state: present })),
)
const entry: fc.Arbitrary<JournalEntry> = fc.oneof(
  fc.record({
    kind: fc.constant('records' as const),
    namespace: name(31),
    changes: fc.array(change, { maxLength: 5 }),
  }),
  fc.record({ kind: fc.constant('index' as const), definition: fc.string() }),
  fc.record({ kind: fc.constant('no index' as const), namespace: name(31), name: name(60) }),
  fc.record({ kind: fc.constant('clock' as const), offset: fc.integer() }),
)

/** Entries are equal when their bytes are. */
const hex = (each: JournalEntry): string => encodeEntry(each).toString('hex')

describe('Entries of a data file', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(entry, (each) => {
        expect(hex(decodeEntry(encodeEntry(each)))).to.equal(hex(each))
      }),
    )
  })

  it('that are random bytes are refused, or read as some entry', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        try {
          decodeEntry(Buffer.from(bytes))
        } catch (error) {
          expect((error as Error).message).to.match(/^an? (entry|record)/)
        }
      }),
      { numRuns: 3000 },
    )
  })
})

describe('A data file', () => {
  let folder: string
  let path: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'skein-journal-'))
    path = join(folder, 'file')
  })
  after(() => rmSync(folder, { recursive: true }))
  const silent = console.error
  before(() => (console.error = () => undefined))
  after(() => (console.error = silent))

  const written = (entries: readonly JournalEntry[]): Buffer => {
    rmSync(path, { force: true })
    const file = JournalFile.open(path, () => undefined)
    for (const each of entries) file.add(each)
    file.close()
    return readFileSync(path)
  }
  const read = (bytes: Buffer): string[] => {
    writeFileSync(path, bytes)
    const found: string[] = []
    JournalFile.open(path, (each) => found.push(hex(each))).close()
    return found
  }
  const several = fc.array(entry, { minLength: 1, maxLength: 6 })

  it('gives back its entries, and after it was written anew the new ones', () => {
    fc.assert(
      fc.property(several, several, (first, second) => {
        expect(read(written(first))).to.deep.equal(first.map(hex))
        const file = JournalFile.open(path, () => undefined)
        file.replace(second)
        file.add(first[0])
        file.close()
        expect(read(readFileSync(path))).to.deep.equal([...second, first[0]].map(hex))
      }),
      { numRuns: 50 },
    )
  })

  it('that is cut off anywhere gives back the entries before the cut, and can be added to', () => {
    fc.assert(
      fc.property(several, fc.nat(), (entries, at) => {
        const bytes = written(entries)
        const found = read(bytes.subarray(0, at % bytes.length))
        expect(found).to.deep.equal(entries.slice(0, found.length).map(hex))
        const file = JournalFile.open(path, () => undefined)
        file.add(entries[0])
        file.close()
        expect(read(readFileSync(path))).to.deep.equal([...found, hex(entries[0])])
      }),
      { numRuns: 100 },
    )
  })

  it('with damaged bytes gives back a beginning of its entries, or is refused and left as it is', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(several, damage, fc.uint8Array({ maxLength: 30 }), (entries, changes, more) => {
        const bytes = Buffer.concat([written(entries), more])
        for (const [at, to] of changes) bytes[at % bytes.length] = to
        try {
          const found = read(bytes)
          expect(found).to.deep.equal(entries.slice(0, found.length).map(hex))
        } catch (error) {
          expect(error).to.be.instanceOf(UnusableFileError)
          expect(readFileSync(path)).to.deep.equal(bytes)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('of random bytes is refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 300 }), (bytes) => {
        expect(() => read(Buffer.from(bytes))).to.throw(UnusableFileError)
      }),
    )
  })
})
