import { expect } from 'chai'
import {
  Bin,
  collection,
  Companion,
  Counter,
  Embeddable,
  Embedded,
  EntityGoneError,
  Key,
  OneToMany,
  Record,
  SkeinError,
  VersionConflictError,
  type Database,
  type Session,
} from 'skein'
import { MODES, type TestServer } from '../server.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Note {
  @Key() id!: string
  @Bin({ type: 'int' }) likes?: number
}

@Embeddable()
class Place {
  @Bin() city?: string
  @Bin() visits?: number
}

@Record({ set: 'herr_user' })
class User {
  @Key() name!: string
  @Bin({ type: { list: 'int' } }) marks: number[] = []
  @Bin({ type: { map: 'int' } }) scores = new Map<string, number>()
  @Bin({ type: { map: { map: 'int' } } }) stats = new Map<string, Map<string, number>>()
  @Bin({ type: 'json' }) settings?: unknown
  @Embedded(() => Place) home?: Place
  @Embedded(() => Place, { as: 'map' }) places = new Map<string, Place>()
  @Embedded(() => Place, { as: 'array' }) visited: Place[] = []
  @Counter() logins = 0
  @Counter({ type: 'bigint' }) total = 0n
  @OneToMany(() => Note, { strategy: 'consolidate' }) notes = collection<Note>()
  @Companion() @OneToMany(() => Note, { strategy: 'consolidate' }) drafts = collection<Note>()
}

const alice = (): User =>
  Object.assign(new User(), {
    name: 'alice',
    marks: [1, 2],
    scores: new Map([['go', 7]]),
    settings: { text: 'x', nothing: null },
  })

/** The type system refuses such calls; programs in plain JavaScript make them. */
type Loose = (...args: readonly unknown[]) => unknown
const loose = (handle: object, name: string): Loose => {
  const method = (handle as { readonly [name: string]: Loose })[name]
  return (...args) => method.apply(handle, args as unknown[])
}

for (const mode of MODES) {
  describe(`an error of a handle (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [User], (opened) => ({ db, server } = opened))
    beforeEach(() => db.session().save(alice()))

    const failure = async (session: Session): Promise<SkeinError> => {
      const error: unknown = await session.flush().then(
        () => undefined,
        (caught: unknown) => caught,
      )
      expect(error).to.be.instanceOf(SkeinError)
      return error as SkeinError
    }
    const stored = (): Promise<User> => db.session().load(User, 'alice')
    const user = (session = db.session()): ReturnType<typeof session.at<User>> => session.at(User, 'alice')

    it('says that a list has no such index, which is not a conflict with another session', async () => {
      for (const change of ['insert', 'set', 'increment'] as const) {
        const session = db.session()
        user(session).list('marks')[change](-9, 1)
        const error = await failure(session)
        expect(error).not.to.be.instanceOf(VersionConflictError)
        expect(error.code).to.equal('SKEIN_3103')
        expect(error.details).to.include({ bin: 'marks', key: 'alice' })
        expect(error.message).to.include('marks[-9]')
      }
      expect((await stored()).marks).to.deep.equal([1, 2])
    })

    it('says before anything is recorded that a loaded list has no such index', async () => {
      const session = db.session()
      const { marks } = await session.load(User, 'alice')
      for (const change of ['insert', 'set', 'increment'] as const) {
        const call = (): void => user(session).list('marks')[change](-3, 1)
        expect(call)
          .to.throw(SkeinError, /marks.*-3/)
          .with.property('code', 'SKEIN_2331')
      }
      user(session).list('marks').insert(-2, 0)
      expect(marks).to.deep.equal([0, 1, 2])
      await session.flush()
      expect((await stored()).marks).to.deep.equal([0, 1, 2])
    })

    it('says that a child or part that was never read does not exist', async () => {
      for (const name of ['notes', 'drafts'] as const) {
        const session = db.session()
        user(session).child(name, 'none').increment('likes')
        const error = await failure(session)
        expect(error).to.be.instanceOf(EntityGoneError)
        expect(error.message).to.match(new RegExp(`none.*${name}|${name}.*none`))
      }
      const session = db.session()
      user(session).map('places').at('none').put('city', 'Bern')
      const error = await failure(session)
      expect(error).to.be.instanceOf(EntityGoneError)
      expect(error.message).to.include('places["none"]')
    })

    it('says that a loaded child which another session removed is no longer there', async () => {
      const writer = db.session()
      const owner = await writer.load(User, 'alice')
      owner.notes.add(Object.assign(new Note(), { id: 'n1', likes: 1 }))
      await writer.flush()
      const session = db.session()
      const note = await user(session).collection('notes').get('n1')
      expect(note?.likes).to.equal(1)
      owner.notes.remove('n1')
      await writer.flush()
      user(session).child('notes', 'n1').increment('likes')
      const error = await failure(session)
      expect(error).to.be.instanceOf(VersionConflictError)
      expect(error.message).to.include('notes["n1"]')
    })

    it('names the property and the entry of a value that cannot be stored', () => {
      const refused = (call: () => unknown, path: string): void => {
        const error = (): SkeinError => {
          try {
            call()
          } catch (caught) {
            return caught as SkeinError
          }
          throw new Error('nothing was thrown')
        }
        const { code, message, details } = error()
        expect(code).to.equal('SKEIN_2201')
        expect(message).to.include(`User.${path}: `)
        expect(details.key).to.equal('alice')
      }
      refused(
        () =>
          user()
            .list('marks')
            .append('x' as never),
        'marks',
      )
      refused(
        () =>
          user()
            .map('scores')
            .put('go', 'x' as never),
        'scores["go"]',
      )
      refused(
        () =>
          user()
            .map('scores')
            .putMany([['go', 'x' as never]]),
        'scores["go"]',
      )
      refused(
        () =>
          user()
            .map('stats')
            .at('a')
            .put('b', 'x' as never),
        'stats["a"]["b"]',
      )
      refused(
        () =>
          user()
            .map('home')
            .put('city', 3 as never),
        'home.city',
      )
      refused(
        () =>
          user()
            .child('notes', 'n')
            .put('likes', 'x' as never),
        'notes["n"].likes',
      )
    })

    it('refuses arguments of the wrong shape before anything is recorded or sent', async () => {
      const session = db.session()
      const [list, map] = [user(session).list('marks'), user(session).map('scores')]
      const calls: readonly [object, string, readonly unknown[]][] = [
        [list, 'byIndex', []],
        [list, 'byRank', [null]],
        [list, 'byIndex', [{ count: 1, from: 2 }]],
        [list, 'top', []],
        [list, 'last', []],
        [map, 'byIndex', []],
        [map, 'byRank', []],
        [map, 'keys', [null]],
        [map, 'putMany', [{}]],
        [map, 'putMany', [[1]]],
        [map, 'getMany', []],
        [map, 'getMany', ['go']],
        [user(session).list('visited').where({}), 'set', []],
        [user(session).list('visited').where({}), 'increment', ['visits', 'x']],
      ]
      const { commands } = await server.commands.during(async () => {
        for (const [handle, name, args] of calls) {
          const error: unknown = await Promise.resolve()
            .then(() => loose(handle, name)(...args))
            .catch((caught: unknown) => caught)
          expect(error, `${name}(${JSON.stringify(args)})`).to.be.instanceOf(SkeinError)
          expect((error as SkeinError).code).to.equal('SKEIN_2331')
          expect((error as SkeinError).details.property).to.be.oneOf(['marks', 'scores', 'visited'])
        }
      })
      expect([commands, session.isDirty()]).to.deep.equal([0, false])
    })

    it('says that a stored value is not a number that can be incremented', async () => {
      const shape: readonly [string, (session: Session) => void][] = [
        ['settings["text"]', (session) => loose(user(session).map('settings'), 'increment')('text')],
        ['settings["nothing"]', (session) => loose(user(session).map('settings'), 'increment')('nothing')],
        ['marks[2]', (session) => user(session).list('marks').increment(2)],
      ]
      const filler = db.session()
      user(filler).list('marks').set(3, 4)
      await filler.flush()
      for (const [path, change] of shape) {
        const session = db.session()
        change(session)
        const error = await failure(session)
        expect([error.code, error.details.key]).to.deep.equal(['SKEIN_4210', 'alice'])
        expect(error.message).to.include(path)
        const loaded = db.session()
        await loaded.load(User, 'alice')
        expect(() => change(loaded))
          .to.throw(SkeinError, /is not a number/)
          .with.property('code', 'SKEIN_2331')
        expect(loaded.isDirty()).to.equal(false)
      }
    })

    it('refuses to add what no number of that type can hold', () => {
      const refused = (call: () => unknown): void =>
        void expect(call).to.throw(SkeinError).with.property('code', 'SKEIN_2331')
      refused(() =>
        user()
          .counter('logins')
          .add(2n ** 53n),
      )
      refused(() =>
        user()
          .counter('total')
          .add(2n ** 63n),
      )
      refused(() =>
        user()
          .map('scores')
          .increment('go', 2 ** 60),
      )
      refused(() =>
        user()
          .map('scores')
          .increment('go', 2n ** 64n),
      )
      refused(() =>
        user()
          .list('marks')
          .increment(0, -(2n ** 53n)),
      )
    })

    it('of a number beyond 2^53 names the property and the type to declare, and leaves the rest readable', async () => {
      const session = db.session()
      for (let i = 0; i < 2; i++) user(session).counter('logins').add(Number.MAX_SAFE_INTEGER)
      for (let i = 0; i < 2; i++) user(session).map('scores').increment('big', Number.MAX_SAFE_INTEGER)
      for (let i = 0; i < 2; i++)
        user(session)
          .counter('total')
          .add(2n ** 60n)
      await session.flush()
      const message = async (call: Promise<unknown>): Promise<string> =>
        String(await call.catch((error: unknown) => error))
      const whole = await message(stored())
      expect(whole)
        .to.match(/User\.(logins|scores\["big"\]) of "alice"/)
        .and.include('bigint')
      expect(await message(user().map('scores').get('big'))).to.include('User.scores["big"] of "alice"')
      expect(await user().map('scores').get('go')).to.equal(7)
      expect(await user().counter('logins').value()).to.equal(BigInt(Number.MAX_SAFE_INTEGER) * 2n)
      const part = await db.session().load(User, 'alice', { only: ['marks', 'total'] })
      expect([part.marks, part.total]).to.deep.equal([[1, 2], 2n ** 61n])
    })
  })
}
