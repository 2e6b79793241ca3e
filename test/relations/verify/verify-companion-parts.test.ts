import { expect } from 'chai'
import type { Database, Finding } from 'skein'
import { hashShard } from '#src/keys/index.js'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { expectMended, findingsOf } from './mends.js'
import {
  Board,
  COMPANION_PART_CLASSES,
  Post,
  SHARDS,
  comment,
  post,
  score,
} from '../strategies/companion-parts/companion-part-models.js'

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `c${100 + i}`)

for (const mode of MODES) {
  describe(`verifying consolidated children in companion records (${mode})`, () => {
    let db: Database
    let namespace: string
    useDatabase(mode, COMPANION_PART_CLASSES, (opened) => ({ db, namespace } = opened))

    beforeEach(async () => {
      await db.session().save(post('p', ...names(12).map((id, i) => comment(id, id, i))))
      const board = Object.assign(new Board(), { id: 1 })
      board.scores.add(...names(9).map((_, i) => score(i, 10 * i)))
      await db.session().save(board)
    })

    const verify = (repair = false): Promise<Finding[]> => findingsOf(db, COMPANION_PART_CLASSES, repair)
    const shown = (findings: readonly Finding[]): string[] =>
      findings.map(({ kind, className, property, key, partKey, state }) =>
        [kind, `${className}.${property}`, key, partKey, state].join(' '),
      )
    const keyOf = (set: string, key: string | number): never => ({ ns: namespace, set, key }) as never
    const put = (set: string, key: string | number, bins: object): Promise<unknown> =>
      db.client.put(keyOf(set, key), bins as never)
    const binsOf = async (set: string, key: string | number): Promise<{ [bin: string]: never }> =>
      (await db.client.get(keyOf(set, key))).bins as { [bin: string]: never }

    const mends = (expected: readonly string[]): Promise<void> =>
      expectMended(expected, async (repair) => shown(await verify(repair)))

    it('finds nothing where nothing is wrong', async () => {
      expect(shown(await verify())).to.deep.equal([])
    })

    it('moves children from a wrong shard to their own, with their places and orders', async () => {
      const [from, to] = [hashShard('c103', SHARDS), (hashShard('c103', SHARDS) + 1) % SHARDS]
      const right = await binsOf('ppost_comments', `p:${from}`)
      const wrong = await binsOf('ppost_comments', `p:${to}`)
      const { c103, ...rest } = right.comments as { [id: string]: unknown }
      await put('ppost_comments', `p:${from}`, {
        comments: rest,
        comments_recent: (right.comments_recent as [number, string][]).filter(([, id]) => id !== 'c103'),
      })
      await put('ppost_comments', `p:${to}`, {
        comments: { ...(wrong.comments as object), c103 },
        comments_recent: [...(wrong.comments_recent as unknown[]), [3, 'c103']],
      })
      await mends(['misplacedMember Post.comments p c103'])
      const { comments } = await db.session().load(Post, 'p')
      expect(await comments.keys()).to.deep.equal(names(12))
      expect((await comments.by('recent').page({ offset: 3, count: 1 }))[0].id).to.equal('c103')
    })

    it('takes a child out of a second shard, and keeps the one where it belongs', async () => {
      const [from, to] = [hashShard('c103', SHARDS), (hashShard('c103', SHARDS) + 1) % SHARDS]
      const { comments } = await binsOf('ppost_comments', `p:${from}`)
      const wrong = await binsOf('ppost_comments', `p:${to}`)
      const copy = { ...(comments as { [id: string]: object }).c103, text: 'a copy' }
      await put('ppost_comments', `p:${to}`, {
        comments: { ...(wrong.comments as object), c103: copy },
        comments_recent: [...(wrong.comments_recent as unknown[]), [3, 'c103']],
      })
      await mends(['misplacedMember Post.comments p c103'])
      expect((await (await db.session().load(Post, 'p')).comments.get('c103'))?.text).to.equal('c103')
    })

    it('moves children that the class kept in the record of their owner before', async () => {
      const at = (i: number): object => ({ id: `o${i}`, text: 'old', likes: 1, tags: [], at: i })
      const old = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`o${i}`, at(i)]))
      await put('ppost', 'old', {
        id: 'old',
        comments: old,
        comments_recent: Array.from({ length: 30 }, (_, i) => [i, `o${i}`]),
      })
      await mends(Object.keys(old).map((id) => `misplacedMember Post.comments old ${id}`))
      expect(await binsOf('ppost', 'old')).to.deep.include({ subkeys: ['hash-shards', SHARDS] })
      const { comments } = await db.session().load(Post, 'old')
      expect(await comments.count()).to.equal(30)
      expect((await comments.by('recent').last(1))[0]).to.deep.include({ id: 'o29', likes: 1 })
    })

    it('checks each companion inside: places of sorted children and lists of orders', async () => {
      const shard = hashShard(4, SHARDS)
      await put('pboard_scores', `1:${shard}`, { 'scores.ids': {} })
      const here = Array.from({ length: 9 }, (_, i) => i).filter((i) => hashShard(i, SHARDS) === shard)
      const other = hashShard('c103', SHARDS)
      const { comments_recent: recent } = await binsOf('ppost_comments', `p:${other}`)
      await put('ppost_comments', `p:${other}`, {
        comments_recent: (recent as [number, string][]).filter(([, id]) => id !== 'c103'),
      })
      await mends([...here.map((i) => `wrongSortKey Board.scores 1 ${i}`), 'wrongOrder Post.comments p c103'])
    })

    it('opens a companion that a delete left marked, and deletes those without an owner', async () => {
      await put('ppost_comments', `p:${hashShard('c103', SHARDS)}`, { '_sk.deleting': true })
      await mends(['staleMarker Post.comments p '])
      await db.client.remove(keyOf('ppost', 'p'), { durableDelete: mode === 'sc' } as never)
      await mends(Array.from({ length: SHARDS }, () => 'companionWithoutRoot Post.comments p '))
    })
  })
}
