import Aerospike from 'aerospike'
import { expect } from 'chai'
import { RestrictedError, SkeinError, type Database } from 'skein'
import { expectRoundTrips } from '../../../expect-round-trips.js'
import { MODES, type TestServer } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'
import { settled } from '../../verify/settled.js'
import { Article, Label, Lock, OWNED, Picture, Remark, Vote } from './several-owners.js'

for (const mode of MODES) {
  describe(`a two-sided reference to several classes (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, OWNED, (opened) => ({ db, server, namespace } = opened))

    beforeEach(() =>
      db.withSession((session) => {
        const article = session.create(Article, { id: 1 })
        const picture = session.create(Picture, { id: '1' })
        session.create(Article, { id: 2 })
        article.remarks.add(session.create(Remark, { id: 1 }), session.create(Remark, { id: 2 }))
        picture.remarks.add(session.create(Remark, { id: 3 }))
        session.create(Vote, { id: 1, subject: article })
        session.create(Vote, { id: 2, subject: picture })
        session.create(Vote, { id: 3, subject: picture })
        article.labels.add(session.create(Label, { id: 1 }))
        picture.labels.add(session.create(Label, { id: 2 }))
      }),
    )

    const subjectOf = async (set: string, key: number): Promise<unknown> => {
      const { bins } = await db.client.get(new Aerospike.Key(namespace, set, key))
      return bins['subject'] ?? bins['on']
    }
    const remarksOf = async () => {
      const session = db.session()
      return [
        await session.at(Article, 1).collection('remarks').keys(),
        await session.at(Picture, '1').collection('remarks').keys(),
      ]
    }
    const votesOf = async () => {
      const session = db.session()
      return [
        await session.at(Article, 1).collection('votes').count(),
        await session.at(Picture, '1').collection('votes').count(),
      ]
    }
    async function verifyAll(repair = false): Promise<string[]> {
      const found = []
      const terms = { repair, ...(await settled(server)) }
      for await (const { message, state } of db.verify(OWNED, terms)) found.push(`${state}: ${message}`)
      return found
    }

    it('is stored with the set, and listed by its owner', async () => {
      expect(await Promise.all([1, 2, 3].map((id) => subjectOf('remark', id)))).to.deep.equal([
        'article:1',
        'article:1',
        'picture:1',
      ])
      expect(await remarksOf()).to.deep.equal([[1, 2], [3]])
      expect(await votesOf()).to.deep.equal([1, 2])
      expect(await verifyAll()).to.deep.equal([])
    })

    it('moves from an article to a picture by the reference, and both sides show it', async () => {
      const session = db.session()
      const [article, picture] = [
        await session.load(Article, 1, { with: ['remarks'] }),
        await session.load(Picture, '1', { with: ['remarks'] }),
      ]
      const [remark] = article.remarks.items
      remark.subject.set(picture)
      expect(article.remarks.items.map(({ id }) => id)).to.deep.equal([2])
      expect(picture.remarks.items.map(({ id }) => id)).to.have.members([1, 3])
      await session.flush()
      expect(await remarksOf()).to.deep.equal([[2], [1, 3]])
      expect(await subjectOf('remark', 1)).to.equal('picture:1')
      expect(await verifyAll()).to.deep.equal([])
    })

    it('moves by key alone, from either side, without a load', async () => {
      await db.withSession(async (session) => {
        const remark = await session.load(Remark, 1)
        remark.subject.set('picture:1')
        session.at(Article, 1).collection('remarks').add(3)
        session.at(Picture, '1').collection('votes').add(1)
      })
      expect(await remarksOf()).to.deep.equal([[2, 3], [1]])
      expect(await votesOf()).to.deep.equal([0, 3])
      expect(await verifyAll()).to.deep.equal([])
    })

    it('moves where another session has moved it before', async () => {
      const [one, two] = [db.session(), db.session()]
      const [mine, theirs] = [await one.load(Remark, 1), await two.load(Remark, 1)]
      theirs.subject.set('picture:1')
      await two.flush()
      mine.subject.set('article:2')
      await one.flush()
      expect(await remarksOf()).to.deep.equal([[2], [3]])
      expect(await db.session().at(Article, 2).collection('remarks').keys()).to.deep.equal([1])
      expect(await verifyAll()).to.deep.equal([])
    })

    it('is taken out by the collection, and only while it is still there', async () => {
      await db.withSession((session) => {
        session.at(Article, 1).collection('remarks').remove(1)
        // Remark 3 belongs to the picture.
        session.at(Article, 1).collection('remarks').remove(3)
        session.at(Picture, '1').collection('votes').remove(2)
      })
      expect(await remarksOf()).to.deep.equal([[2], [3]])
      expect([await subjectOf('remark', 1), await subjectOf('remark', 3)]).to.deep.equal([undefined, 'picture:1'])
      expect(await votesOf()).to.deep.equal([1, 1])
      expect(await verifyAll()).to.deep.equal([])
    })

    it('asks only for its own owner: article 1 has no members of picture 1', async () => {
      const session = db.session()
      const article = await session.load(Article, 1)
      expect(await article.remarks.contains(3)).to.equal(false)
      expect(await article.votes.contains(2)).to.equal(false)
      expect(await article.votes.contains(1)).to.equal(true)
      expect((await article.votes.load()).map(({ id }) => id)).to.deep.equal([1])
    })

    it('deletes or detaches the children of one owner, and none of the other', async () => {
      await db.session().delete(Article, 1)
      expect(await remarksOf()).to.deep.equal([[], [3]])
      expect([await subjectOf('remark', 1), await subjectOf('remark', 3)]).to.deep.equal([undefined, 'picture:1'])
      const session = db.session()
      expect((await session.findMany(Vote, [1, 2, 3])).map((vote) => vote?.id)).to.deep.equal([undefined, 2, 3])
      expect((await session.findMany(Label, [1, 2])).map((label) => label?.id)).to.deep.equal([undefined, 2])
      expect(await verifyAll()).to.deep.equal([])
      await db.session().delete(Picture, '1', { step: 2 })
      expect(await db.session().findMany(Vote, [2, 3])).to.deep.equal([null, null])
      expect(await verifyAll()).to.deep.equal([])
    })

    it('deletes an orphan, but not what moved to an owner of the other class', async () => {
      await db.withSession(async (session) => {
        const article = await session.load(Article, 1, { with: ['labels'] })
        const picture = await session.load(Picture, '1', { with: ['labels'] })
        const [one, two] = [article.labels.items[0], picture.labels.items[0]]
        one.on.set(picture)
        two.on.set(null)
      })
      expect((await db.session().findMany(Label, [1, 2])).map((label) => label?.id)).to.deep.equal([1, undefined])
      expect(await subjectOf('label', 1)).to.equal('picture:1')
      expect(await verifyAll()).to.deep.equal([])
    })

    it('forbids the delete of the owner it has, and not of another under an equal key', async () => {
      await db.withSession((session) => void session.create(Lock, { id: 1, on: 'article:1' }))
      const error = await db
        .session()
        .delete(Article, 1)
        .catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(RestrictedError)
      expect(await db.session().delete(Picture, '1')).to.equal(true)
    })

    it('points to nothing that is not there', async () => {
      for (const [Class, property] of [
        [Remark, 'subject'],
        [Vote, 'subject'],
      ] as const) {
        const session = db.session()
        const entity = await session.load(Class, 1)
        entity[property].set('picture:nobody')
        const error = await session.flush().catch((reason: unknown) => reason)
        expect(error).to.be.instanceOf(SkeinError)
        if (Class === Vote) expect(String(error)).to.include('Picture "nobody"')
      }
      expect([await subjectOf('remark', 1), await subjectOf('vote', 1)]).to.deep.equal(['article:1', 'article:1'])
      expect(await verifyAll()).to.deep.equal([])
    })

    it('is brought back in line by verify on the lists of both classes', async () => {
      const { lists } = Aerospike
      const change = (set: string, key: string | number, ...operations: object[]) =>
        db.client.operate(new Aerospike.Key(namespace, set, key), operations as never)
      await change('article', 1, lists.removeByValue('remarks', 1), lists.append('remarks', 3))
      expect(await verifyAll(true)).to.have.members([
        'repaired: Article 1 lacks Remark 1 in remarks, which names it in subject.',
        'repaired: Article 1 holds Remark 3 in remarks, which does not name it in subject.',
      ])
      expect(await remarksOf()).to.deep.equal([[1, 2], [3]])
      expect(await verifyAll()).to.deep.equal([])
    })

    it('moves in a transaction, all of it or nothing', async () => {
      if (mode === 'ap') return
      await db.transaction(async (session) => {
        const remark = await session.load(Remark, 1)
        remark.subject.set(await session.load(Picture, '1'))
        const vote = await session.load(Vote, 2)
        vote.subject.set('article:1')
      })
      expect(await remarksOf()).to.deep.equal([[2], [1, 3]])
      expect(await votesOf()).to.deep.equal([2, 1])
      const failed = db.transaction(async (session) => {
        const remark = await session.load(Remark, 1)
        remark.subject.set('article:1')
        await session.flush()
        throw new Error('stop')
      })
      expect(await failed.catch((error: Error) => error.message)).to.equal('stop')
      expect(await remarksOf()).to.deep.equal([[2], [1, 3]])
      expect(await verifyAll()).to.deep.equal([])
    })

    it('sends a move in as many round trips as one between owners of one class', async () => {
      const moving = async (to: string) => {
        const session = db.session()
        const vote = await session.load(Vote, 1)
        vote.subject.set(to)
        return (await server.commands.during(() => session.flush())).commands
      }
      const [within, across] = [await moving('article:2'), await moving('picture:1')]
      expectRoundTrips(across, within)
    })

    it('is explained with the sets it names', async () => {
      const session = db.session()
      const remark = await session.load(Remark, 1)
      remark.subject.set('picture:1')
      const text = String(await session.explain())
      expect(text).to.include('picture:1').and.to.include('article/1')
      expect(session.isDirty(remark)).to.equal(true)
    })
  })
}
