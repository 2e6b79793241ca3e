import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect } from 'chai'
import { Bin, Key, Record, type CommandEvent, type Database } from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

@Record({ set: 'qs_paper' })
class Paper {
  @Key() id!: number
  @Bin() text!: string
}

@Record({ set: 'qs_picky' })
class Picky {
  @Key() id!: number
  @Bin({ type: 'int' }) size!: number
}

const LIMIT = 400

for (const mode of MODES) {
  describe(`steps of a stream (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Paper, Picky], (opened) => ({ db } = opened), { limits: { queryRecords: LIMIT } })

    const store = (count: number, text: string): Promise<void> =>
      db.withSession((session) => {
        for (let id = 0; id < count; id++) session.create(Paper, { id, text })
        return Promise.resolve()
      })

    /** Records of each query that the work sends. */
    const stepsOf = async (work: () => Promise<unknown>): Promise<number[]> => {
      const steps: number[] = []
      const note = (event: unknown): void => void steps.push((event as CommandEvent).records ?? 0)
      subscribe('skein:command', note)
      await work().finally(() => unsubscribe('skein:command', note))
      return steps
    }

    it('hold about three quarters of the limit, and all records once', async () => {
      await store(3 * LIMIT, 'short')
      const seen: number[] = []
      const [first, ...steps] = await stepsOf(async () => {
        for await (const { id } of db.scan(Paper)) seen.push(id)
      })
      expect(new Set(seen).size)
        .to.equal(seen.length)
        .and.to.equal(3 * LIMIT)
      expect(first).to.equal(LIMIT)
      expect(steps.length).to.be.within(4, 6)
    })

    it('throw nothing away when the same query is asked again, and fit the set that has grown or shrunk since', async () => {
      const seen = async (): Promise<number> => new Set(await db.scan(Paper).keys()).size
      const sum = (steps: readonly number[]): number => steps.reduce((all, each) => all + each, 0)
      await store(3 * LIMIT, 'short')
      expect(sum(await stepsOf(seen))).to.equal(4 * LIMIT)
      expect(sum(await stepsOf(seen))).to.equal(3 * LIMIT)
      await db.withSession((session) => {
        for (let id = 3 * LIMIT; id < 9 * LIMIT; id++) session.create(Paper, { id, text: 'short' })
        return Promise.resolve()
      })
      expect(await seen()).to.equal(9 * LIMIT)
      expect(sum(await stepsOf(seen))).to.equal(9 * LIMIT)
      await db.truncate(Paper)
      await store(10, 'short')
      expect(await seen()).to.equal(10)
      expect(await stepsOf(seen)).to.deep.equal([10])
    })

    it('hold fewer records where these are large', async () => {
      const count = LIMIT + 100
      await store(count, 'x'.repeat(40_000))
      const read = async (only: 'id' | 'text'): Promise<number> => {
        const [, ...steps] = await stepsOf(async () => {
          for await (const _ of db.scan(Paper).only(only));
        })
        return Math.max(...steps)
      }
      expect(await read('text')).to.be.below(200)
      expect(await read('id')).to.be.above(200)
    })

    it('tell with each step how far it reaches', async () => {
      await store(3 * LIMIT, 'short')
      const shares: number[] = []
      for await (const _ of db.scan(Paper, { onProgress: ({ share }) => shares.push(share) }));
      expect(shares[0]).to.be.within(0.1, 0.5)
      expect(shares).to.deep.equal([...shares].sort((a, b) => a - b))
      expect(shares.slice(-2)).to.deep.equal([1, 1])
    })

    it('end with the error of a record that cannot be read', async () => {
      await db.withSession((session) => {
        for (let id = 0; id < 10; id++) session.create(Picky, { id, size: id })
        return Promise.resolve()
      })
      const { namespace, set } = db.model.entity(Picky)
      await db.client.put({ ns: namespace, set, key: 3 }, { size: 'large' })
      const seen: Picky[] = []
      const read = async (): Promise<void> => {
        for await (const each of db.scan(Picky)) seen.push(each)
      }
      const error = await read().catch((e: unknown) => e as Error)
      expect(error).to.have.property('code', 'SKEIN_3101')
      expect((error as Error).message).to.match(/Picky/)
      expect(seen).to.deep.equal([])
    })
  })
}
