import { expect } from 'chai'
import type { Database, Session } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { Child, NAMES, Parent, since, type Name } from './order-models.js'

/** Changes of a collection that is not loaded; its parent 1 has children 1 and 2. */
interface Order {
  readonly change: (parent: Parent, name: Name, child: (id: number) => Promise<Child>) => Promise<void> | void
  readonly expected: readonly number[]
}

const ORDERS: { readonly [title: string]: Order } = {
  'a key is added': { change: (parent, name) => parent[name].add(3), expected: [1, 2, 3] },
  'the key of a member is added': { change: (parent, name) => parent[name].add(2), expected: [1, 2] },
  'an entity is added': {
    change: async (parent, name, child) => parent[name].add(await child(3)),
    expected: [1, 2, 3],
  },
  'a member is added': { change: async (parent, name, child) => parent[name].add(await child(2)), expected: [1, 2] },
  'a member is added and removed': {
    change: async (parent, name, child) => {
      const two = await child(2)
      parent[name].add(two)
      parent[name].remove(two)
    },
    expected: [1],
  },
  'the key of a member is added, and the member removed': {
    change: async (parent, name, child) => {
      parent[name].add(2)
      parent[name].remove(await child(2))
    },
    expected: [1],
  },
  'the key of a loaded member is added and removed': {
    change: async (parent, name, child) => {
      await child(2)
      parent[name].add(2)
      parent[name].remove(2)
    },
    expected: [1],
  },
  'the key of a member is added and removed': {
    change: (parent, name) => {
      parent[name].add(2)
      parent[name].remove(2)
    },
    expected: [1],
  },
  'the key of a member is removed and added': {
    change: (parent, name) => {
      parent[name].remove(2)
      parent[name].add(2)
    },
    expected: [1, 2],
  },
  'a member is removed and added': {
    change: async (parent, name, child) => {
      const two = await child(2)
      parent[name].remove(two)
      parent[name].add(two)
    },
    expected: [1, 2],
  },
  'a stranger is removed and added': {
    change: async (parent, name, child) => {
      const three = await child(3)
      parent[name].remove(three)
      parent[name].add(three)
    },
    expected: [1, 2, 3],
  },
  'a stranger is added and removed': {
    change: async (parent, name, child) => {
      const three = await child(3)
      parent[name].add(three)
      parent[name].remove(three)
    },
    expected: [1, 2],
  },
}

for (const mode of MODES) {
  describe(`collections that are not loaded and were changed (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Parent, Child], (opened) => ({ db } = opened))

    const store = async (name: Name): Promise<[Session, Parent]> => {
      await db.withSession((session) => {
        const parent = session.create(Parent, { id: 1 })
        session.create(Parent, { id: 2 })
        for (const id of [1, 2, 3, 4]) {
          const child = session.create(Child, { id })
          if (id <= 2) parent[name].add(child)
        }
        return Promise.resolve()
      })
      const session = db.session()
      return [session, await session.load(Parent, 1)]
    }
    const storedOf = async (name: Name): Promise<unknown[]> =>
      [...(await db.session().at(Parent, 1).collection(name).keys())].sort()
    const streamed = async (parent: Parent, name: Name): Promise<number[]> => {
      const ids: number[] = []
      for await (const { id } of parent[name].stream()) ids.push(id)
      return ids.sort()
    }
    const paged = async (parent: Parent, name: Name): Promise<number[]> => {
      const ids: number[] = []
      for (let after: string | undefined, offset = 0, isLast = false; !isLast; offset += 2) {
        const page = await parent[name].page(name === 'found' ? { count: 2, after } : { offset, count: 2 })
        ids.push(...page.map(({ id }) => id))
        after = page.next
        isLast = name === 'found' ? after === undefined : page.length < 2
      }
      return ids.sort()
    }

    for (const name of NAMES) {
      for (const [title, { change, expected }] of Object.entries(ORDERS)) {
        it(`answer every question as the flush will store it: ${name}, ${title}`, async () => {
          const [session, parent] = await store(name)
          await change(parent, name, (id) => session.load(Child, id))
          const contains = await Promise.all([1, 2, 3].map((id) => parent[name].contains(id)))
          expect(contains).to.deep.equal([1, 2, 3].map((id) => expected.includes(id)))
          expect(await parent[name].count()).to.equal(expected.length)
          expect([...(await parent[name].keys())].sort()).to.deep.equal(expected)
          expect(await paged(parent, name)).to.deep.equal(expected)
          expect(await streamed(parent, name)).to.deep.equal(expected)
          await session.flush()
          expect(session.isDirty()).to.equal(false)
          expect(await storedOf(name)).to.deep.equal(expected)
          const items = await parent[name].load()
          expect(items.map(({ id }) => id).sort()).to.deep.equal(expected)
        })
      }

      it(`can be flushed after a stream that met a child whose key was added, here and elsewhere: ${name}`, async () => {
        const [session, parent] = await store(name)
        const other = await session.load(Parent, 2)
        parent[name].add(2)
        other[name].add(1)
        await streamed(parent, name)
        const stream = parent[name].stream()[Symbol.asyncIterator]()
        await stream.next()
        parent[name].add(3)
        while (!(await stream.next()).done);
        await session.flush()
        await session.flush()
        expect(await db.session().at(Parent, 2).collection(name).keys()).to.deep.equal([1])
        const stays = ['kids', 'found'].includes(name) ? [2, 3] : [1, 2, 3]
        expect(await storedOf(name)).to.deep.equal(stays)
      })

      if (name === 'found') continue
      const refreshed: { readonly [title: string]: (parent: Parent, session: Session) => unknown } = {
        'an entity is added': async (parent, session) => parent[name].add(await session.load(Child, 3)),
        'a key is added': (parent) => parent[name].add(3),
        'a member is removed by its key': (parent) => parent[name].remove(1),
        'a member is removed': async (parent, session) => parent[name].remove(await session.load(Child, 1)),
        'another session adds': () =>
          db.withSession((session) => Promise.resolve(session.at(Parent, 1).collection(name).add(3))),
        'a member is deleted': async (_parent, session) => session.delete(await session.load(Child, 1)),
      }
      for (const [title, change] of Object.entries(refreshed)) {
        it(`load what is stored when they were refreshed before: ${name}, ${title}`, async () => {
          const [session, parent] = await store(name)
          await session.refresh(parent)
          await change(parent, session)
          await session.flush()
          const items = await parent[name].load()
          const stored = (await storedOf(name)).filter((id) => !(title === 'a member is deleted' && id === 1))
          expect(items.map(({ id }) => id).sort()).to.deep.equal(stored)
        })
      }

      it(`load what a flush has stored meanwhile: ${name}`, async () => {
        const [session, parent] = await store(name)
        const [one, three] = await session.loadMany(Child, [1, 3])
        parent[name].add(three)
        parent[name].remove(one)
        await Promise.all([parent[name].load(), session.flush()])
        expect(parent[name].items.map(({ id }) => id).sort()).to.deep.equal([2, 3])
        expect(session.isDirty()).to.equal(false)
      })
    }

    for (const how of ['loaded', 'not loaded', 'loaded, by entity'] as const) {
      for (const other of [true, false]) {
        it(`take a link out that was linked again: ${how}, stored by ${other ? 'another session' : 'the same'}`, async () => {
          const [session] = await store('marks')
          const child = await session.load(Child, 1)
          if (other)
            await db.withSession((their) => Promise.resolve(their.at(Child, 1).collection('friends').link(1, since(1))))
          else {
            child.friends.link(1, since(1))
            await session.flush()
          }
          if (how !== 'not loaded') await session.load(Child, 1, { with: ['friends'] })
          child.friends.link(1, since(2))
          child.friends.remove(how === 'loaded, by entity' ? await session.load(Parent, 1) : 1)
          await session.flush()
          expect(session.isDirty()).to.equal(false)
          expect(await db.session().at(Child, 1).collection('friends').keys()).to.deep.equal([])
          expect(await db.session().at(Parent, 1).collection('links').keys()).to.deep.equal([])
        })
      }
    }

    it('show a link as stored when it was linked again and the other end is refreshed', async () => {
      const [session, parent] = await store('marks')
      const child = await session.load(Child, 1)
      child.friends.link(parent, since(1))
      await session.flush()
      await session.load(Child, 1, { with: ['friends'] })
      child.friends.link(parent, since(9))
      await session.refresh(parent)
      expect(child.friends.items).to.deep.equal([parent])
      expect(await child.friends.attributesOf(1)).to.deep.equal(since(1))
      expect(session.isDirty()).to.equal(false)
    })

    for (const from of ['parent', 'child'] as const) {
      for (const loaded of [['links', 'friends'], ['links'], ['friends'], []] as const) {
        const title = `linked again from the ${from}, loaded ${loaded.join(' and ') || 'nowhere'}`
        const linkedAgain = async (): Promise<[Session, Parent, Child]> => {
          const [session, parent] = await store('marks')
          await db.withSession((other) => Promise.resolve(other.at(Parent, 1).collection('links').link(1, since(1))))
          await session.load(Parent, 1, { with: loaded.some((name) => name === 'links') ? ['links'] : [] })
          const child = await session.load(Child, 1, {
            with: loaded.some((name) => name === 'friends') ? ['friends'] : [],
          })
          if (from === 'parent') parent.links.link(child, since(9))
          else child.friends.link(parent, since(9))
          return [session, parent, child]
        }

        for (const end of ['parent', 'child'] as const)
          it(`show the attributes of a link as stored when the ${end} is refreshed: ${title}`, async () => {
            const [session, parent, child] = await linkedAgain()
            await session.refresh(end === 'parent' ? parent : child)
            expect(session.isDirty()).to.equal(false)
            expect(await parent.links.attributesOf(1)).to.deep.equal(since(1))
            expect(await child.friends.attributesOf(1)).to.deep.equal(since(1))
          })

        it(`show the attributes of a link as stored when the ${from} is detached: ${title}`, async () => {
          const [session, parent, child] = await linkedAgain()
          session.detach(from === 'parent' ? parent : child)
          expect(session.isDirty()).to.equal(false)
          const links = from === 'parent' ? child.friends : parent.links
          expect(await links.attributesOf(1)).to.deep.equal(since(1))
        })
      }
    }

    it('store the attributes of a link that is linked again while a flush sends it', async () => {
      const [session, parent] = await store('marks')
      const child = await session.load(Child, 1)
      child.friends.link(parent, since(1))
      const sending = session.flush()
      await new Promise((resolve) => setImmediate(resolve))
      child.friends.link(parent, since(2))
      await sending
      await session.flush()
      expect(await db.session().at(Child, 1).collection('friends').attributesOf(1)).to.deep.equal(since(2))
      expect(await db.session().at(Parent, 1).collection('links').attributesOf(1)).to.deep.equal(since(2))
    })
  })
}
