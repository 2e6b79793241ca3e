import Aerospike from 'aerospike'
import { expect } from 'chai'
import { Bin, collection, Embeddable, Key, ManyToMany, ManyToOne, OneToMany, Record, ref } from 'skein'
import type { Database, Finding, SkeinError } from 'skein'
import { MODES } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { useDatabase } from '../../../use-database.js'

@Record({ set: 'fp_user' })
class User {
  @Key() id!: number
}

@Embeddable()
class Note {
  @Key() id!: number
  @Bin() text?: string
  @Bin() at?: number
  @ManyToOne(() => User) author = ref<User>()
}

@Record({ set: 'fp_post' })
class Post {
  @Key() id!: number
  @Bin() title?: string
  @OneToMany(() => Note, { strategy: 'consolidate' }) notes = collection<Note>()
  @OneToMany(() => Note, { strategy: 'consolidate', sortKey: ['at'], eager: false }) sorted = collection<Note>()
  @OneToMany(() => Note, { strategy: 'consolidate', inverseIndex: { author: { name: 'fp_by' } }, eager: false })
  found = collection<Note>()
  @OneToMany(() => Reply, 'post', { onDelete: 'cascade' }) replies = collection<Reply>()
  @ManyToMany(() => Tag, 'posts', { owner: true }) tags = collection<Tag>()
}

@Record({ set: 'fp_reply' })
class Reply {
  @Key() id!: number
  @ManyToOne(() => Post, 'replies') post = ref<Post>()
}

@Record({ set: 'fp_tag' })
class Tag {
  @Key() id!: number
  @ManyToMany(() => Post, 'tags') posts = collection<Post>()
}

const CLASSES = [User, Post, Reply, Tag]

for (const mode of MODES) {
  describe(`children in a record that another program has written (${mode})`, () => {
    let db: Database
    let namespace: string
    useDatabase(mode, CLASSES, (opened) => ({ db, namespace } = opened))
    const put = (bins: object, id = 1): Promise<unknown> =>
      db.client.put(new Aerospike.Key(namespace, 'fp_post', id), { id, title: 'one', ...bins } as never)
    const bySet = async (): Promise<Finding[]> => {
      const findings: Finding[] = []
      for await (const finding of db.verify(Post, { settle: 0 })) findings.push(finding)
      return findings
    }
    const byEntity = async (): Promise<Finding[]> => {
      const session = db.session()
      return session.verify(await session.load(Post, 1, { only: ['title'] }), { settle: 0 })
    }

    const BINS = {
      notes: 'notes',
      sorted: 'sorted',
      found: 'found',
      sorted_ids: 'sorted',
      found_by: 'found',
    }
    for (const [name, property] of Object.entries(BINS))
      for (const stored of ['text', 5, [1]])
        it(`is reported by both verifies where ${name} is ${JSON.stringify(stored)}`, async () => {
          const relation = db.model.entity(Post).relations.find((each) => each.name === property)!
          const bin = name === property ? relation.bin! : (relation.sortKeyBin ?? relation.inverseIndexes![0].bin)
          await put({ [bin]: stored })
          for (const findings of [await bySet(), await byEntity()])
            expect(findings.map(({ kind, key, property: of, state }) => [kind, key, of, state])).to.deep.equal([
              ['unreadable', 1, property, 'found'],
            ])
        })

    for (const stored of ['text', 5, [1]])
      it(`is a data error of load and of the questions where notes is ${JSON.stringify(stored)}`, async () => {
        await put({ notes: stored, sorted: stored })
        const calls: (() => Promise<unknown>)[] = [
          () => db.session().load(Post, 1),
          () => db.read(Post, [1]),
          async () => (await db.session().load(Post, 1, { only: ['title'] })).notes.load(),
          async () => (await db.session().load(Post, 1, { only: ['title'] })).sorted.load(),
          () => db.session().at(Post, 1).collection('notes').get(1),
          () => db.session().at(Post, 1).collection('notes').count(),
          () => db.session().at(Post, 1).collection('sorted').first(2),
        ]
        for (const call of calls) {
          const error = (await rejection(call)) as SkeinError
          expect(error.code, String(call)).to.equal('SKEIN_3101')
          expect(error.message).to.match(/Post\.(notes|sorted) of 1/)
        }
      })

    it('is a data error where a child has no id, or one of another type', async () => {
      for (const child of [{ text: 'a' }, { id: 'x', text: 'a' }, 'text', [1]]) {
        await put({ notes: { 1: child } })
        for (const call of [() => db.session().load(Post, 1), () => db.read(Post, [1])]) {
          const error = (await rejection(call)) as SkeinError
          expect(error.code, JSON.stringify(child)).to.equal('SKEIN_3101')
          expect(error.message).to.match(/^Post\.notes/)
        }
        for (const findings of [await bySet(), await byEntity()])
          expect(findings.map(({ kind, property }) => [kind, property])).to.deep.equal([['unreadable', 'notes']])
      }
    })

    it('is blamed by its own name where a delete reads several relations of the record at once', async () => {
      for (const bins of [
        { tags: 'text', replies: [] },
        { tags: [], replies: 'text' },
      ]) {
        await put(bins)
        const [wrong] = Object.entries(bins).find(([, stored]) => stored === 'text')!
        const session = db.session()
        const post = await session.load(Post, 1)
        const calls = [
          () => Promise.all([post.tags.count(), post.replies.count()]),
          () => Promise.all([post.replies.count(), post.tags.count()]),
          () => Promise.all([post.replies.contains(1), post.tags.contains(1)]),
          () => session.delete(post),
        ]
        for (const call of calls) {
          const error = (await rejection(call)) as SkeinError
          expect(error.message, wrong).to.contain(`Post.${wrong} of 1`)
          expect(error.details.property).to.equal(wrong)
        }
        const [right] = Object.keys(bins).filter((name) => name !== wrong) as ('tags' | 'replies')[]
        const answers = await Promise.allSettled([post.tags.count(), post.replies.count()])
        expect(answers.map(({ status }) => status)).to.have.members(['fulfilled', 'rejected'])
        expect(await post[right].count()).to.equal(0)
      }
    })
  })
}
