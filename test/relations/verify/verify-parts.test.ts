import Aerospike from 'aerospike'
import { expect } from 'chai'
import { Bin, Embeddable, Key, ManyToOne, OneToMany, Record, collection, open, ref } from 'skein'
import type { Database, EntityClass, Finding } from 'skein'
import { need, startTestServer, type TestServer } from '../../server.js'
import { emptySets } from '../../empty-sets.js'

@Record({ set: 'vp-writer' })
class Writer {
  @Key() id!: number
}

@Embeddable()
class Remark {
  @Key() id!: string
  @Bin() text!: string
  @ManyToOne(() => Writer) author = ref<Writer>()
  @ManyToOne(() => Writer) editor = ref<Writer>()
}

@Record({ set: 'vp-article' })
class Article {
  @Key() id!: number
  @Bin() title!: string
  @OneToMany(() => Remark, {
    strategy: 'consolidate',
    inverseIndex: { author: { name: 'byAuthor' }, editor: { name: 'byEditor' } },
  })
  remarks = collection<Remark>()
}

@Embeddable()
class Score {
  @Key() player!: number
  @Bin() points!: number
  @ManyToOne(() => Writer) fan = ref<Writer>()
}

@Record({ set: 'vp-board' })
class Board {
  @Key() id!: string
  @OneToMany(() => Score, {
    strategy: 'consolidate',
    sortKey: ['points'],
    sortKeyName: 'places',
    eager: false,
    inverseIndex: { fan: { name: 'byFan' } },
  })
  scores = collection<Score>()
}

@Embeddable()
class Item {
  @Key() id!: string
  @Bin() count!: number
}

/** Keeps nothing beside its children. */
@Record({ set: 'vp-basket' })
class Basket {
  @Key() id!: number
  @OneToMany(() => Item, { strategy: 'consolidate' }) items = collection<Item>()
}

const CLASSES = [Writer, Article, Board, Basket]
const WRITERS = [...Array(10).keys()].flatMap((i) => [i, 100 + i])
const { maps, lists } = Aerospike

// The client takes keys of any kind, its types only text.
const put = (name: string, key: unknown, value: unknown): object =>
  maps.put(name, key as string, value as string, { order: maps.order.KEY_ORDERED })
const drop = (name: string, key: unknown): object => maps.removeByKey(name, key as string, maps.returnType.NONE)
/** Wrong values in a list or map under a key. */
const within = (key: unknown, operation: object): object =>
  (operation as { withContext(set: (at: { addMapKey(key: unknown): void }) => void): object }).withContext((at) =>
    at.addMapKey(key),
  )

const remark = (id: string, author: number | null, editor: number | null = null): Remark => {
  const made = Object.assign(new Remark(), { id, text: `text of ${id}` })
  made.author.set(author)
  made.editor.set(editor)
  return made
}
const item = (id: string, count: number): Item => Object.assign(new Item(), { id, count })
const score = (player: number, points: number, fan: number | null = null): Score => {
  const made = Object.assign(new Score(), { player, points })
  made.fan.set(fan)
  return made
}

for (const mode of ['ap', 'sc'] as const) {
  describe(`verify of what is kept beside parts (${mode})`, () => {
    let server: TestServer
    let namespace: string
    let db: Database
    before(async function () {
      server = await startTestServer()
      namespace = need(this, server[mode], `no ${mode} namespace`)
      db = await open({ hosts: server.hosts, namespace, entities: CLASSES })
    })
    after(async () => {
      await db?.close()
      await server.stop()
    })
    beforeEach(async () => {
      await emptySets(db, CLASSES)
      await db.withSession(async (session) => {
        const article = session.create(Article, { id: 1, title: 'one' })
        article.remarks.add(remark('a', 7, 9), remark('b', 8), remark('c', 7), remark('d', null, 9))
        for (const id of WRITERS) session.create(Writer, { id })
        session.create(Basket, { id: 1 }).items.add(item('a', 1), item('b', 2))
        session.create(Board, { id: 'chess' }).scores.add(score(1, 500, 7), score(2, -3, 7), score(-5, 40, 8))
      })
    })

    const keyOf = (set: string, id: string | number) => new Aerospike.Key(namespace, set, id)
    const change = (set: string, id: string | number, ...operations: object[]) =>
      db.client.operate(keyOf(set, id), operations as never)
    const binOf = async (set: string, id: string | number, name: string): Promise<unknown> =>
      (await db.client.get(keyOf(set, id))).bins[name]
    async function verify(entity: EntityClass, options: { repair?: boolean; settle?: number } = {}) {
      const findings: Finding[] = []
      for await (const finding of db.verify(entity, { settle: 0, ...options })) findings.push(finding)
      return findings
    }
    const brief = (findings: readonly Finding[]) =>
      findings.map(({ kind, property, partKey, otherKey, repair, state }) => [
        ...[kind, property, partKey, otherKey, repair, state],
      ])

    it('finds nothing while all agree, whatever was done to the parts through Skein', async () => {
      const session = db.session()
      const article = await session.load(Article, 1)
      const board = await session.load(Board, 'chess', { with: ['scores'] })
      article.remarks.items[0].author.set(8)
      article.remarks.remove('c')
      article.remarks.add(remark('e', 1, 2))
      board.scores.items[0].points = 800
      board.scores.items[1].fan.set(null)
      board.scores.remove(1)
      board.scores.add(score(9, 0, 7))
      await session.flush()
      expect([...(await verify(Article)), ...(await verify(Board)), ...(await session.verify(article))]).to.deep.equal(
        [],
      )
    })

    it('finds what the index of a reference lacks and what it has too many, and mends it by the parts', async () => {
      await change(
        'vp-article',
        1,
        within(7, lists.removeByValue('byAuthor', 'a')),
        within(7, lists.append('byAuthor', 'b')),
        within(8, lists.append('byAuthor', 'gone')),
        put('byEditor', 55, []),
        drop('byEditor', 9),
      )
      const expected = (state: string) => [
        ['wrongIndex', 'remarks', 'b', 7, 'remove', state],
        ['wrongIndex', 'remarks', 'gone', 8, 'remove', state],
        ['wrongIndex', 'remarks', 'a', 7, 'add', state],
        ['wrongIndex', 'remarks', undefined, 55, 'remove', state],
        ['wrongIndex', 'remarks', 'a', 9, 'add', state],
        ['wrongIndex', 'remarks', 'd', 9, 'add', state],
      ]
      const found = await verify(Article)
      expect(brief(found)).to.deep.equal(expected('found'))
      expect(found.map(({ message }) => message)).to.include.members([
        'Article 1 lists "b" under 7 in byAuthor, which points elsewhere.',
        'Article 1 lists "gone" under 8 in byAuthor, which is not in remarks.',
        'Article 1 does not list "a" of remarks under 7 in byAuthor.',
      ])
      expect(found[0]).to.include({ className: 'Article', key: 1, otherClass: 'Writer', truth: 'Article.remarks' })
      const session = db.session()
      const article = await session.load(Article, 1)
      expect(brief(await session.verify(article, { settle: 0 }))).to.deep.equal(expected('found'))
      expect(brief(await verify(Article, { repair: true }))).to.deep.equal(expected('repaired'))
      expect(await binOf('vp-article', 1, 'byAuthor')).to.deep.equal({ 7: ['c', 'a'], 8: ['b'] })
      expect(await binOf('vp-article', 1, 'byEditor')).to.deep.equal({ 9: ['a', 'd'] })
      expect(await verify(Article)).to.deep.equal([])
    })

    it('finds wrong and missing places, and mends them so that parts are found by their keys again', async () => {
      const places = (await binOf('vp-board', 'chess', 'places')) as { [id: string]: string }
      await change('vp-board', 'chess', put('places', 1, places[2]), drop('places', 2), put('places', 33, 'x'))
      expect(brief(await verify(Board)).sort()).to.deep.equal([
        ['wrongSortKey', 'scores', 1, undefined, 'add', 'found'],
        ['wrongSortKey', 'scores', 2, undefined, 'add', 'found'],
        ['wrongSortKey', 'scores', 33, undefined, 'remove', 'found'],
      ])
      const states = (await verify(Board, { repair: true })).map(({ state }) => state)
      expect(states).to.deep.equal(['repaired', 'repaired', 'repaired'])
      expect(await binOf('vp-board', 'chess', 'places')).to.deep.equal(places)
      const { scores } = await db.session().load(Board, 'chess')
      expect([await scores.indexOf(2), await scores.indexOf(-5), await scores.indexOf(1)]).to.deep.equal([0, 1, 2])
      expect((await scores.get(1))?.points).to.equal(500)
    })

    it('mends bins that are missing altogether', async () => {
      await db.client.put(keyOf('vp-board', 'chess'), { places: null, byFan: null })
      await db.client.put(keyOf('vp-article', 1), { byEditor: null })
      expect(await verify(Board, { repair: true })).to.have.length(6)
      expect(await verify(Article, { repair: true })).to.have.length(2)
      expect([...(await verify(Board)), ...(await verify(Article))]).to.deep.equal([])
      const session = db.session()
      const board = await session.load(Board, 'chess')
      board.scores.remove(2)
      await session.flush()
      expect(await verify(Board)).to.deep.equal([])
      expect(await binOf('vp-board', 'chess', 'byFan')).to.deep.equal({ 7: [1], 8: [-5] })
    })

    it('finds a part whose values were changed past Skein at its old place, and moves it', async () => {
      const places = (await binOf('vp-board', 'chess', 'places')) as { [id: string]: string }
      await change('vp-board', 'chess', within(places[2], put('scores', 'points', 9000)))
      expect(brief(await verify(Board))).to.deep.equal([['misplacedPart', 'scores', 2, undefined, 'move', 'found']])
      await verify(Board, { repair: true })
      expect(await verify(Board)).to.deep.equal([])
      const { scores } = await db.session().load(Board, 'chess')
      expect((await scores.last(1))[0].points).to.equal(9000)
      expect(await scores.indexOf(2)).to.equal(2)
    })

    it('finds a part under another key than its own, though nothing is kept beside it, and moves it', async () => {
      await change('vp-basket', 1, put('items', 'x', { id: 'zzz', count: 3 }))
      const found = await verify(Basket)
      expect(brief(found)).to.deep.equal([['misplacedPart', 'items', 'zzz', undefined, 'move', 'found']])
      expect(found[0].message).to.equal(
        'Basket 1 keeps "zzz" in items under the key "x", and not where its own values say.',
      )
      const session = db.session()
      expect(brief(await session.verify(await session.load(Basket, 1), { settle: 0 }))).to.deep.equal(brief(found))
      expect((await verify(Basket, { repair: true })).map(({ state }) => state)).to.deep.equal(['repaired'])
      expect(await verify(Basket)).to.deep.equal([])
      expect((await db.session().at(Basket, 1).collection('items').get('zzz'))?.count).to.equal(3)
    })

    it('reports two parts with one key, and one that cannot be read, where nothing is kept beside them', async () => {
      await change('vp-basket', 1, put('items', 'x', { id: 'a', count: 3 }))
      expect(brief(await verify(Basket, { repair: true }))).to.deep.equal([
        ['duplicatePart', 'items', 'a', undefined, 'none', 'found'],
      ])
      await change('vp-basket', 1, put('items', 'x', { count: 'many' }))
      expect(brief(await verify(Basket, { repair: true }))).to.deep.equal([
        ['unreadable', 'items', 'x', undefined, 'none', 'found'],
      ])
    })

    it('finds parts that point to a record that is gone, in a bounded number of batches, and unlinks them', async () => {
      for (const id of [7, 9]) await db.session().delete(Writer, id)
      const expected = (state: string) => [
        ['danglingKey', 'remarks', 'a', 7, 'remove', state],
        ['danglingKey', 'remarks', 'a', 9, 'remove', state],
        ['danglingKey', 'remarks', 'c', 7, 'remove', state],
        ['danglingKey', 'remarks', 'd', 9, 'remove', state],
      ]
      const found = await verify(Article)
      expect(brief(found)).to.deep.equal(expected('found'))
      expect(found[0]).to.include({ className: 'Article', key: 1, otherClass: 'Writer', truth: 'Writer' })
      expect(found[0].message).to.equal(
        'Article 1 has "a" in remarks, which points in author to Writer 7, which has no record.',
      )
      const session = db.session()
      const article = await session.load(Article, 1)
      // The record, what is inside of it, those it points to, and both once more; before that, whether a transaction holds one of them, and at last its maps as bytes.
      const { commands } = await server.commands.during(() => session.verify(article, { settle: 0 }))
      expect(commands).to.equal(mode === 'sc' ? 8 : 5)
      expect(await verify(Article, { settle: 3600 })).to.deep.equal([])
      expect(brief(await verify(Article, { repair: true }))).to.deep.equal(expected('repaired'))
      expect(await binOf('vp-article', 1, 'byAuthor')).to.deep.equal({ 8: ['b'] })
      expect(await binOf('vp-article', 1, 'byEditor')).to.deep.equal({})
      expect(await verify(Article)).to.deep.equal([])
      expect(await verify(Board, { repair: true })).to.have.length(2)
      expect(await verify(Board)).to.deep.equal([])
      const { remarks } = await db.session().load(Article, 1)
      expect(remarks.items.map(({ author, editor }) => [author.key, editor.key])).to.deep.equal([
        [null, null],
        [8, null],
        [null, null],
        [null, null],
      ])
    })

    it('reports parts that only people can judge: two with one key, and one that is unreadable', async () => {
      const stored = (await binOf('vp-board', 'chess', 'scores')) as { [place: string]: object }
      const [[first]] = Object.entries(stored).sort()
      await change('vp-board', 'chess', maps.put('scores', `${first}0`, { ...stored[first], points: 3 }))
      expect(brief(await verify(Board, { repair: true }))).to.deep.include([
        ...['duplicatePart', 'scores', 2, undefined, 'none', 'found'],
      ])
      await change('vp-article', 1, put('remarks', 'z', { id: 'z', text: [1], author: 3 }))
      const found = await verify(Article, { repair: true })
      expect(brief(found)).to.deep.equal([['unreadable', 'remarks', 'z', undefined, 'none', 'found']])
      expect(found[0].error).to.be.instanceOf(Error)
    })

    it('leaves alone what changed a moment ago, but says so', async () => {
      await change('vp-article', 1, drop('byAuthor', 8))
      expect(brief(await verify(Article, { repair: true, settle: 3600 }))).to.deep.equal([
        ['wrongIndex', 'remarks', 'b', 8, 'add', 'leftAlone'],
      ])
      expect(await binOf('vp-article', 1, 'byAuthor')).to.deep.equal({ 7: ['a', 'c'] })
    })

    it('reports nothing false while writers change the parts and others repair', async () => {
      const done = new AbortController()
      const writers = [1, 2].map(async (writer) => {
        for (let i = 0; i < 25; i++) {
          const session = db.session()
          const article = await session.load(Article, 1)
          const board = await session.load(Board, 'chess', { with: ['scores'] })
          const id = `${writer}-${i % 5}`
          if (article.remarks.items.some((each) => each.id === id)) article.remarks.remove(id)
          else article.remarks.add(remark(id, 7 + (i % 2), i % 3))
          board.scores.add(score(writer * 100 + (i % 4), i * 7, writer))
          // The other writer may have been faster; that is for the next round.
          await session.flush().catch(() => undefined)
        }
      })
      const verifying = (async () => {
        const findings: Finding[] = []
        while (!done.signal.aborted) {
          for (const entity of [Article, Board]) findings.push(...(await verify(entity, { repair: true })))
        }
        return findings
      })()
      await Promise.all(writers)
      done.abort()
      expect(await verifying).to.deep.equal([])
      expect([...(await verify(Article)), ...(await verify(Board))]).to.deep.equal([])
    })

    it('mends a record that others write to at the same time without undoing what they do', async () => {
      await change('vp-article', 1, drop('byAuthor', 8))
      const writing = (async () => {
        for (let i = 0; i < 10; i++) {
          await db.withSession(async (session) => {
            ;(await session.load(Article, 1)).remarks.add(remark(`n${i}`, 100 + i))
          })
        }
      })()
      for (let i = 0; i < 5; i++) await verify(Article, { repair: true })
      await writing
      await verify(Article, { repair: true })
      expect(await verify(Article)).to.deep.equal([])
      const { remarks } = await db.session().load(Article, 1)
      expect(remarks.items).to.have.length(14)
    })
  })
}
