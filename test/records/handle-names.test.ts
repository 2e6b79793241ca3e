import { expect } from 'chai'
import {
  Bin,
  collection,
  CountOf,
  Embeddable,
  Embedded,
  Key,
  ManyToMany,
  Record,
  type Database,
  type SkeinError,
} from 'skein'
import { MODES } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Home {
  @Bin() city?: string
}

@Record({ set: 'handle_names' })
class User {
  @Key() id!: string
  @Embedded(() => Home) home?: Home
  @ManyToMany(() => User, { owner: true }) friends = collection<User>()
  @CountOf('friends') friendCount = 0
}

for (const mode of MODES) {
  describe(`names that a handle does not know (${mode})`, () => {
    let db: Database
    useDatabase(mode, [User], (opened) => ({ db } = opened))

    it('are rejected by indexOf and rankOf of a part, whether the part is stored or not', async () => {
      await db.session().save(Object.assign(new User(), { id: 'a' }))
      await db.session().save(Object.assign(new User(), { id: 'b', home: Object.assign(new Home(), { city: 'Bern' }) }))
      for (const id of ['a', 'b', 'none'])
        for (const ask of ['indexOf', 'rankOf'] as const) {
          const home = db.session().at(User, id).map('home')
          expect(((await rejection(() => home[ask]('nope' as never))) as SkeinError).code).to.equal('SKEIN_2330')
        }
    })

    it('as a record that is not stored, lead to an error that tells how a handle makes it', async () => {
      const session = db.session()
      session.at(User, 'none').map('home').put('city', 'Bern')
      const error = (await rejection(() => session.flush())) as SkeinError
      expect(error.code).to.equal('SKEIN_3003')
      expect(error.details.fix).to.include('{ create: true }')
    })

    it('as a counter, because a collection counts them, are said to be kept by it', async () => {
      const user = db.session().at(User, 'a')
      const error = (await rejection(async () => user.counter('friendCount'))) as SkeinError
      expect([error.code, error.details.fix]).to.deep.equal([
        'SKEIN_2330',
        'Its collection keeps it: load it to read it.',
      ])
    })
  })
}
