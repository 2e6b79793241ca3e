import { expect } from 'chai'
import type { Database, Session } from 'skein'
import { MODES } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'
import { Access, Doc, Feed, Follow, LINKED, Person, Reader, SOFT, Subscription, User } from './link-models.js'

/** Collection as the tests of all classes ask it. */
interface Asked {
  link(member: unknown, values?: object): void
  unlink(member: unknown): void
  keys(): Promise<readonly unknown[]>
  count(): Promise<number>
  contains(member: unknown): Promise<boolean>
  linkOf(member: unknown): Promise<object | null>
}

interface Shape {
  readonly title: string
  readonly near: new () => object
  readonly far: new () => object
  readonly out: string
  readonly back: string
  readonly link: new () => object
  /** Key at the near end, then of a far end that is linked, and one that is not. */
  readonly keys: readonly [near: string | number, linked: string, free: string]
  readonly values: { readonly stored: object; readonly unsent: object }
}

const SHAPES: readonly Shape[] = [
  {
    title: 'listed at both ends',
    near: Person,
    far: Person,
    out: 'follows',
    back: 'followers',
    link: Follow,
    keys: ['ann', 'bob', 'cem'],
    values: { stored: { kind: 'work' }, unsent: { kind: 'friend' } },
  },
  {
    title: 'found by an index at the far end',
    near: User,
    far: Doc,
    out: 'docs',
    back: 'users',
    link: Access,
    keys: [1, 'x', 'y'],
    values: { stored: { role: 'reader' }, unsent: { role: 'writer' } },
  },
  {
    title: 'deleted softly',
    near: Reader,
    far: Feed,
    out: 'feeds',
    back: 'readers',
    link: Subscription,
    keys: ['ann', 'news', 'jazz'],
    values: { stored: { plan: 'free' }, unsent: { plan: 'paid' } },
  },
]

for (const mode of MODES) {
  describe(`unsent changes of link records (${mode})`, () => {
    let db: Database
    let session: Session
    useDatabase(mode, [...LINKED, ...SOFT], (opened) => ({ db } = opened))
    afterEach(async () => {
      await session.close()
      const found: string[] = []
      for await (const { message } of db.verify([...LINKED, ...SOFT], { settle: 0 })) found.push(message)
      expect(found).to.deep.equal([])
    })

    for (const { title, near, far, out, back, link, keys, values } of SHAPES)
      for (const how of ['entities', 'keys', 'handles'] as const) {
        const [from, linked, free] = keys
        const at = (place: new () => object, key: unknown, relation: string): Asked =>
          session.at(place, key as never).collection(relation as never)
        const begin = async (): Promise<Asked> => {
          session = db.session()
          await db.withSession(async (one) => {
            const [owner] = [one.create(near, { id: from })]
            const [there] = [linked, free].map((id) => one.create(far, { id }))
            ;((owner as never)[out] as Asked).link(there, values.stored)
          })
          if (how === 'handles') return at(near, from, out)
          return (await session.load(near, from))[out as never]
        }
        const member = (key: string): Promise<unknown> =>
          how === 'entities' ? session.load(far, key) : Promise.resolve(key)
        /** Answers of one far end about the near one. */
        const asked = async (key: string): Promise<object> => {
          const collection = at(far, key, back)
          return {
            keys: await collection.keys(),
            count: await collection.count(),
            contains: await collection.contains(from),
            linkOf: (await collection.linkOf(from)) !== null,
            ofSession: (await session.linkOf(link, from, key)) !== null,
          }
        }
        const walked = (key: string): Promise<unknown> =>
          session
            .walk(far, key as never)
            .out(back as never)
            .keys()
        const yes = { keys: [from], count: 1, contains: true, linkOf: true, ofSession: true }
        const no = { keys: [], count: 0, contains: false, linkOf: false, ofSession: false }

        it(`are shown by the other end of links ${title}, changed by ${how}`, async () => {
          const collection = await begin()
          collection.unlink(await member(linked))
          collection.link(await member(free), values.unsent)
          expect(await asked(linked)).to.deep.equal(no)
          expect(await asked(free)).to.deep.equal(yes)
          await session.flush()
          expect([await asked(linked), await asked(free)]).to.deep.equal([no, yes])
          session = db.session()
          expect([await asked(linked), await asked(free)]).to.deep.equal([no, yes])
        })

        it(`are walked from both ends of links ${title}, changed by ${how}`, async () => {
          const collection = await begin()
          collection.unlink(await member(linked))
          collection.link(await member(free), values.unsent)
          const walk = session.walk(near, from as never)
          expect(await walk.out(out as never).keys()).to.deep.equal([free])
          expect([await walked(linked), await walked(free)]).to.deep.equal([[], [from]])
          const where = (of: object): Promise<unknown> => walk.out(out as never, { where: of } as never).keys()
          expect([await where(values.stored), await where(values.unsent)]).to.deep.equal([[], [free]])
        })

        it(`are forgotten where links ${title} are as before, changed by ${how}`, async () => {
          const collection = await begin()
          const [one, other] = [await member(linked), await member(free)]
          collection.unlink(one)
          collection.link(one, values.stored)
          collection.link(other, values.unsent)
          collection.unlink(other)
          expect([await asked(linked), await asked(free)]).to.deep.equal([yes, no])
          expect([await walked(linked), await walked(free)]).to.deep.equal([[from], []])
          await session.flush()
          session = db.session()
          expect([await asked(linked), await asked(free)]).to.deep.equal([yes, no])
        })

        it(`stay where the session loads the links ${title} meanwhile, made by ${how}`, async () => {
          for (const load of [
            () => session.load(near, from, { with: [out] as never }),
            () => session.load(far, linked, { with: [back] as never }),
            async () => Promise.all((await db.scan(link).keys()).map((key) => session.find(link, key as never))),
          ]) {
            const collection = await begin()
            const one = await member(linked)
            collection.unlink(one)
            collection.link(one, values.unsent)
            await load()
            expect(await session.linkOf(link, from, linked)).to.deep.include(values.unsent)
            expect(await asked(linked)).to.deep.equal(yes)
            await session.flush()
            session = db.session()
            expect(await session.linkOf(link, from, linked)).to.deep.include(values.unsent)
            await db.withSession((other) => other.delete(near, from as never))
            await db.withSession(async (other) => {
              for (const id of [linked, free]) await other.delete(far, id as never)
            })
          }
        })

        it(`replace a link and then end it, with links ${title}, by ${how}`, async () => {
          const collection = await begin()
          const one = await member(linked)
          collection.link(one, values.unsent)
          expect(await asked(linked)).to.deep.equal(yes)
          collection.unlink(one)
          expect(await asked(linked)).to.deep.equal(no)
          expect(await walked(linked)).to.deep.equal([])
          await session.flush()
          session = db.session()
          expect(await asked(linked)).to.deep.equal(no)
        })
      }

    const changes: { readonly [what: string]: (from: Asked) => void } = {
      'an unlink': (from) => from.unlink('bob'),
      'another link in place of one': (from) => from.link('bob', { kind: 'friend' }),
      'a link that is ended': (from) => {
        from.link('bob', { kind: 'friend' })
        from.unlink('bob')
      },
      'a link that is ended and made again': (from) => {
        from.unlink('bob')
        from.link('bob', { kind: 'friend' })
      },
      'a new link': (from) => from.link('cem', { kind: 'friend' }),
    }
    const undoings: { readonly [what: string]: (...all: Person[]) => unknown } = {
      'a refresh': (ann) => session.refresh(ann),
      'a detach': (ann) => session.detach(ann),
      'a refresh of the other ends and of this one': async (ann, ...others) => {
        for (const each of [...others, ann]) await session.refresh(each)
      },
    }
    for (const [undoing, undo] of Object.entries(undoings))
      for (const [what, change] of Object.entries(changes))
        it(`are forgotten at both ends by ${undoing}: ${what}`, async () => {
          await db.withSession(async (one) => {
            const [ann, bob] = ['ann', 'bob', 'cem'].map((id) => one.create(Person, { id }))
            ann.follows.link(bob, { kind: 'work' })
          })
          for (const isLoaded of [true, false])
            for (const isFarFirst of [true, false]) {
              session = db.session()
              const ann = await session.load(Person, 'ann')
              if (isFarFirst) await session.loadMany(Person, ['bob', 'cem'])
              if (isLoaded) await session.load(Follow, 'ann:bob')
              change(ann.follows)
              const others = await session.loadMany(Person, ['bob', 'cem'])
              await undo(ann, ...others)
              const [bob, cem] = others.map(({ followers }) => followers)
              expect([await bob.keys(), await cem.keys(), await bob.contains('ann')]).to.deep.equal([['ann'], [], true])
              expect(await session.walk(Person, 'bob').out('followers').keys()).to.deep.equal(['ann'])
              expect((await session.linkOf(Follow, 'ann', 'bob'))?.from.key).to.equal('ann')
              await session.flush()
              const reading = db.session()
              expect(await reading.at(Person, 'ann').collection('follows').keys()).to.deep.equal(['bob'])
              expect(await reading.at(Person, 'bob').collection('followers').keys()).to.deep.equal(['ann'])
              expect(await db.scan(Follow).keys()).to.deep.equal(['ann:bob'])
            }
        })
  })
}
