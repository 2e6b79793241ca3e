import { expect } from 'chai'
import fc from 'fast-check'
import { PartialFailureError, VersionConflictError, type Database, type Session } from 'skein'
import { emptySets } from '../../../empty-sets.js'
import { MODES } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'
import { at, Comment, comment, Hall, Post, Reader, SignedHall, SignedPost } from './nested-models.js'

/** A tree as it should be stored: what each flush that succeeded has changed, in their order. */
interface Node {
  text: string
  likes: number
  author: number | null
  replies: Map<string, Node>
}
type Stored = Map<number, Map<string, Node>>

const nodeOf = ({ text, likes, author, replies }: Comment): Node => ({
  text,
  likes,
  author: author.key,
  replies: new Map([...replies].map((reply) => [reply.id, nodeOf(reply)])),
})

const find = (nodes: Map<string, Node> | undefined, [first, ...rest]: readonly string[]): Node | undefined => {
  const node = nodes?.get(first)
  return rest.length === 0 ? node : find(node?.replies, rest)
}
const listOf = (stored: Stored, post: number, above: readonly string[]): Map<string, Node> | undefined =>
  above.length === 0 ? stored.get(post) : find(stored.get(post), above)?.replies

type Owner = Post | Hall | SignedPost | SignedHall
type OwnerClass = typeof Post | typeof Hall | typeof SignedPost | typeof SignedHall

/** A session with two records, and what it has not sent yet. */
class User {
  session!: Session
  owners!: readonly Owner[]
  pending: ((stored: Stored) => void)[] = []
  last = 0
  readonly moved = new Set<Comment>()
  readonly added = new Set<Comment>()

  constructor(
    readonly db: Database,
    readonly Class: OwnerClass,
  ) {}

  async begin(): Promise<void> {
    this.session = this.db.session()
    this.owners = await this.session.loadMany(this.Class, [0, 1], { with: ['comments'] })
    this.pending = []
    this.moved.clear()
    this.added.clear()
  }

  /** The comment at a path, as far as there is one: numbers choose among those that are there. */
  pick(post: number, path: readonly number[]): readonly string[] {
    const ids: string[] = []
    let list: readonly Comment[] = this.owners[post].comments.items
    for (const number of path) {
      if (list.length === 0) break
      const { id, replies } = list[number % list.length]
      ids.push(id)
      list = replies.items
    }
    return ids
  }

  apply({ what, post, path, to, id, value }: Step): void {
    const ids = this.pick(post, path)
    const { comments } = this.owners[post]
    const collectionAt = (owner: number, above: readonly string[]) =>
      above.length === 0 ? this.owners[owner].comments : at(this.owners[owner].comments, ...above).replies
    if (what === 'add') {
      if (ids.length > 4) return
      const made = comment(id)
      this.added.add(made)
      collectionAt(post, ids).add(made)
      return void this.pending.push((stored) =>
        listOf(stored, post, ids)?.set(id, { text: `text of ${id}`, likes: 0, author: null, replies: new Map() }),
      )
    }
    if (ids.length === 0) return
    const part = at(comments, ...ids)
    const [above, last] = [ids.slice(0, -1), ids.at(-1)!]
    if (what === 'remove') {
      // Parts that were never sent are not taken out of what is stored.
      if (this.added.has(part) || this.moved.has(part)) return
      collectionAt(post, above).remove(value % 2 === 0 ? part : last)
      this.pending.push((stored) => listOf(stored, post, above)?.delete(last))
    } else if (what === 'move') {
      const target = this.pick(to, [value])
      // Taken back to where it was, nothing would have changed.
      if (this.moved.has(part) || this.added.has(part)) return
      const isInside = to === post && ids.every((each, i) => target[i] === each)
      if (isInside || (to === post && target.join() === above.join())) return
      const [from, into] = [collectionAt(post, above), collectionAt(to, target)]
      from.remove(part)
      into.add(part)
      this.moved.add(part)
      const now = nodeOf(part)
      this.pending.push((stored) => {
        listOf(stored, post, above)?.delete(last)
        listOf(stored, to, target)?.set(last, structuredClone(now))
      })
    } else {
      // Never the value that it has: that would be no change.
      const next = ++this.last
      if (what === 'text') part.text = String(next)
      else if (what === 'author') part.author.set(next)
      else part.likes += value
      this.pending.push((stored) => {
        const node = find(stored.get(post), ids)
        if (node === undefined) return
        if (what === 'text') node.text = String(next)
        else if (what === 'author') node.author = next
        else node.likes += value
      })
    }
  }

  /** True when it was stored; a conflict leaves everything as it was. */
  async flush(stored: Stored): Promise<boolean> {
    try {
      await this.session.flush()
    } catch (error) {
      if (!(error instanceof VersionConflictError || error instanceof PartialFailureError)) throw error
      return false
    }
    expect(this.session.isDirty()).to.equal(false)
    for (const change of this.pending) change(stored)
    this.pending = []
    this.moved.clear()
    this.added.clear()
    return true
  }
}

interface Step {
  readonly what: 'add' | 'remove' | 'move' | 'text' | 'author' | 'likes'
  readonly post: number
  readonly path: readonly number[]
  readonly to: number
  readonly id: string
  readonly value: number
}

const RUNS = { numRuns: Number(process.env.SKEIN_RUNS ?? 25) }
const step = fc.record<Step>({
  what: fc.constantFrom('add', 'add', 'add', 'remove', 'move', 'text', 'author', 'likes'),
  post: fc.constantFrom(0, 1),
  path: fc.array(fc.nat(3), { maxLength: 4 }),
  to: fc.constantFrom(0, 1),
  id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  value: fc.integer({ min: 1, max: 4 }),
})

for (const mode of MODES)
  for (const Class of [Post, Hall, SignedPost, SignedHall]) {
    describe(`trees of children against a plain model (${Class.name}, ${mode})`, () => {
      let db: Database
      useDatabase(mode, [Reader, Class], (opened) => ({ db } = opened))

      const start = async (): Promise<Stored> => {
        await emptySets(db, [Class])
        await db.withSession((session) => {
          for (const id of [0, 1]) session.create(Class, { id }).comments.add(comment('a', comment('b')))
          return Promise.resolve()
        })
        const tree = (): Map<string, Node> => new Map([['a', nodeOf(comment('a', comment('b')))]])
        return new Map([
          [0, tree()],
          [1, tree()],
        ])
      }
      const check = async (stored: Stored): Promise<void> => {
        const owners = await db.session().loadMany(Class, [0, 1], { with: ['comments'] })
        owners.forEach(({ comments }, i) => {
          const found = new Map([...comments].map((each) => [each.id, nodeOf(each)]))
          expect(sorted(found)).to.deep.equal(sorted(stored.get(i)!))
        })
      }
      /** Nobody has a record here: what is left are faults of the indexes. */
      const checkIndexes = async (): Promise<void> => {
        if (Class === Post || Class === Hall) return
        const faults: string[] = []
        for await (const { kind, message } of db.verify(Class, { settle: 0 }))
          if (kind !== 'danglingKey') faults.push(message)
        expect(faults).to.deep.equal([])
      }

      it('one session stores what was done', async () => {
        await fc.assert(
          fc.asyncProperty(fc.array(fc.array(step, { maxLength: 6 }), { maxLength: 4 }), async (flushes) => {
            const stored = await start()
            const user = new User(db, Class)
            await user.begin()
            for (const steps of flushes) {
              for (const each of steps) user.apply(each)
              expect(await user.flush(stored)).to.equal(true)
              await check(stored)
            }
            await checkIndexes()
          }),
          RUNS,
        )
      })

      // Companions are written one by one where there are no transactions: a conflict in one leaves the others.
      if (mode === 'ap' && (Class === Hall || Class === SignedHall)) return

      it('two sessions keep what both did, or one of them learns of a conflict', async () => {
        const turn = fc.record({ who: fc.constantFrom(0, 1), steps: fc.array(step, { maxLength: 3 }) })
        await fc.assert(
          fc.asyncProperty(fc.array(turn, { maxLength: 6 }), async (turns) => {
            const stored = await start()
            const users = [new User(db, Class), new User(db, Class)]
            for (const user of users) await user.begin()
            for (const { who, steps } of turns) {
              for (const each of steps) users[who].apply({ ...each, post: 0, to: 0 })
              if (!(await users[who].flush(stored))) await users[who].begin()
              await check(stored)
            }
            await checkIndexes()
          }),
          RUNS,
        )
      })
    })
  }

const sorted = (nodes: Map<string, Node>): unknown =>
  [...nodes]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, { replies, ...values }]) => ({ id, ...values, replies: sorted(replies) }))
