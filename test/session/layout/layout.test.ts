import aerospike from 'aerospike'
import { expect } from 'chai'
import {
  Bin,
  Embeddable,
  Key,
  ManyToMany,
  OneToMany,
  Record,
  SkeinError,
  collection,
  type Database,
  type Finding,
  type LayoutProgress,
} from 'skein'
import { MODES } from '../../server.js'
import { storedFlags } from '../../stored-flags.js'
import { useDatabase } from '../../use-database.js'

@Embeddable()
class Line {
  @Key() id!: string
}

@Record({ set: 'layout_shelf' })
class Shelf {
  @Key() id!: number
  @Bin({ type: { list: 'int', order: 'sorted', persistIndex: true } }) sorted?: number[]
  @Bin({ type: { list: 'int' } }) plain?: number[]
  @Bin({ type: { map: 'int', order: 'keyValue' } }) scores?: Map<string, number>
  @Bin({ type: { set: 'string' } }) tags?: Set<string>
  @OneToMany(() => Line, { strategy: 'consolidate' }) lines = collection<Line>()
  @ManyToMany(() => Shelf, { owner: true }) next = collection<Shelf>()
}

const { lists, maps } = aerospike

for (const mode of MODES) {
  describe(`db.layout (${mode})`, () => {
    let db: Database
    let namespace: string
    useDatabase(mode, [Shelf], (opened) => ({ db, namespace } = opened))

    const flags = (id: number): Promise<{ [bin: string]: number }> => storedFlags(db, namespace, 'layout_shelf', id)
    const operate = async (id: number, ...operations: unknown[]): Promise<void> => {
      await db.client.operate(new aerospike.Key(namespace, 'layout_shelf', id), operations as never)
    }
    const save = (id: number, values: Partial<Shelf> = {}): Promise<Shelf> =>
      db.session().save(Object.assign(new Shelf(), { id, ...values }))

    /** A record as a program without orders would have stored it. */
    const foreign = async (id: number): Promise<void> => {
      await save(id)
      await operate(id, aerospike.operations.write('lines', null), aerospike.operations.write('next', null))
      await operate(
        id,
        lists.appendItems('sorted', [3, 1, 2]),
        lists.appendItems('plain', [2, 1], { order: lists.order.ORDERED }),
        maps.put('scores', 'a', 1, { order: maps.order.KEY_ORDERED }),
        lists.appendItems('tags', ['b', 'a']),
        maps.put('lines', 'x', { id: 'x' }),
        lists.append('next', 1),
      )
    }

    it('finds nothing where records were stored by their class', async () => {
      await save(1, { sorted: [2, 1], plain: [2, 1], scores: new Map([['a', 1]]), tags: new Set(['b']) })
      const shelf = await save(2)
      shelf.lines.add(Object.assign(new Line(), { id: 'a' }))
      shelf.next.add(1)
      expect(await db.layout.diff()).to.deep.equal([])
    })

    it('finds lists and maps in another order, of values and of relations, and converts them', async () => {
      await save(1, { sorted: [5] })
      await foreign(2)
      await foreign(3)
      const found = await db.layout.diff()
      expect(found.map(({ bin, declared, stored, records }) => [bin, stored, declared, records])).to.have.deep.members([
        ['sorted', 'unordered', 'ordered', 2],
        ['plain', 'ordered', 'unordered', 2],
        ['scores', 'ordered', 'keyValue', 2],
        ['tags', 'unordered', 'ordered', 2],
        ['lines', 'unordered', 'ordered', 2],
        ['next', 'unordered', 'ordered', 2],
      ])
      expect(found[0].className).to.equal('Shelf')
      expect(found[0].examples).to.have.members([2, 3])
      expect(await flags(2), 'diff changes nothing').to.deep.include({ sorted: 0 })

      const done = await db.layout.sync()
      expect(done).to.deep.include({ className: 'Shelf', records: 3, different: 2, converted: 2, failed: 0 })
      expect(await flags(2)).to.deep.include({ sorted: 1, plain: 0, scores: 3, tags: 1, lines: 1, next: 1 })
      expect(await db.layout.diff()).to.deep.equal([])
      const { sorted, plain, scores, tags } = await db.session().load(Shelf, 2)
      expect({ sorted, plain, scores, tags }).to.deep.equal({
        sorted: [1, 2, 3],
        plain: [1, 2],
        scores: new Map([['a', 1]]),
        tags: new Set(['a', 'b']),
      })
    })

    it('is checked by verify, which converts where it repairs', async () => {
      await save(1, { sorted: [5], tags: new Set(['a']) })
      await foreign(2)
      const verify = async (repair: boolean): Promise<readonly Finding[]> => {
        const found: Finding[] = []
        for await (const finding of db.verify(Shelf, { repair, settle: 0 })) found.push(finding)
        return found.filter(({ kind }) => kind === 'wrongLayout')
      }
      const found = await verify(false)
      expect(found.map(({ key, property, repair, state }) => [key, property, repair, state])).to.have.deep.members(
        ['sorted', 'plain', 'scores', 'tags', 'lines', 'next'].map((bin) => [2, bin, 'convert', 'found']),
      )
      expect(found.find(({ property }) => property === 'next')!.message).to.equal(
        'Shelf 2 stores the list of next unordered, and the class declares it ordered; a save does not change that, db.layout.sync() does.',
      )
      expect(await flags(2), 'nothing is written').to.deep.include({ sorted: 0 })
      expect((await verify(true)).map(({ state }) => state)).to.deep.equal(Array(6).fill('repaired'))
      expect(await flags(2)).to.deep.include({ sorted: 1, plain: 0, scores: 3, tags: 1, lines: 1, next: 1 })
      expect(await verify(false)).to.deep.equal([])
    })

    it('is checked and converted by verify of one entity, with one read of its own', async () => {
      await save(1, { sorted: [5], tags: new Set(['a']) })
      await foreign(2)
      await foreign(3)
      const verify = async (id: number, repair: boolean): Promise<readonly Finding[]> => {
        const session = db.session()
        const found = await session.verify(await session.load(Shelf, id), { repair, settle: 0 })
        return found.filter(({ kind }) => kind === 'wrongLayout')
      }
      expect(await verify(1, false)).to.deep.equal([])
      const found = await verify(2, false)
      expect(found.map(({ key, property, repair, state }) => [key, property, repair, state])).to.have.deep.members(
        ['sorted', 'plain', 'scores', 'tags', 'lines', 'next'].map((bin) => [2, bin, 'convert', 'found']),
      )
      expect(await flags(2), 'nothing is written').to.deep.include({ sorted: 0 })
      expect((await verify(2, true)).map(({ state }) => state)).to.deep.equal(Array(6).fill('repaired'))
      expect(await flags(2)).to.deep.include({ sorted: 1, plain: 0, scores: 3, tags: 1, lines: 1, next: 1 })
      expect(await flags(3), 'another record is left alone').to.deep.include({ sorted: 0 })
      expect(await verify(2, false)).to.deep.equal([])
    })

    it('gives the index to everything that declares one, where it is asked to', async () => {
      await save(1, { sorted: [1] })
      expect(await db.layout.sync()).to.deep.include({ records: 1, different: 0, converted: 0 })
      expect(await db.layout.sync({ indexes: true })).to.deep.include({ records: 1, different: 0, converted: 1 })
    })

    it('goes on where a run was stopped, and converts each record once', async () => {
      for (let id = 0; id < 1200; id += 100)
        await Promise.all(Array.from({ length: 100 }, (_, i) => operate(id + i, aerospike.operations.write('id', id + i), lists.append('sorted', 1)))) // prettier-ignore
      const stop = new AbortController()
      let last: LayoutProgress | undefined
      const stopped = db.layout.sync({
        signal: stop.signal,
        progress: (progress) => {
          last = progress
          stop.abort()
        },
      })
      await stopped.then(
        () => expect.fail('ended'),
        (error: unknown) => expect((error as Error).name).to.equal('AbortError'),
      )
      expect(last).to.deep.include({ records: 1000, converted: 1000 })
      expect(await db.layout.sync({ after: last!.position })).to.deep.include({ records: 200, converted: 200 })
      expect(await db.layout.diff()).to.deep.equal([])
    })

    it('refuses positions of other runs', async () => {
      for (const after of ['', 'Other:done', 'Shelf:nonsense']) {
        const error = await db.layout.sync({ after }).then(() => undefined, (reason: unknown) => reason) // prettier-ignore
        expect(error, after).to.be.instanceOf(SkeinError)
      }
    })
  })
}
