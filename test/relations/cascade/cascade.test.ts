import { expect } from 'chai'
import { SkeinError, type Database, type DeleteProgress } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import {
  COMPANY,
  Company,
  Department,
  Employee,
  Player,
  Team,
  department,
  employee,
  player,
  team,
} from './departments.js'
import { Agent, Listing, User, agent, listing, user } from '../models.js'

for (const mode of MODES) {
  describe(`a delete that reaches many (${mode})`, function () {
    let db: Database
    useDatabase(mode, [...COMPANY, Agent, Listing, User], (opened) => ({ db } = opened))

    const COUNT = 130
    const step = 50
    const names = Array.from({ length: COUNT }, (_, i) => `e${i}`)

    async function saveAll(entities: object[]): Promise<void> {
      for (let i = 0; i < entities.length; i += 60) {
        const session = db.session()
        for (const entity of entities.slice(i, i + 60)) session.persist(entity)
        await session.flush({ transactions: 'off' })
      }
    }

    async function staff(count = COUNT): Promise<void> {
      await saveAll([department(1)])
      await saveAll(
        names.slice(0, count).map((name) => {
          const each = employee(name)
          each.department.set(1)
          return each
        }),
      )
    }

    it('takes children by index in steps, with progress', async () => {
      await staff()
      const seen: DeleteProgress[] = []
      const session = db.session()
      const home = await session.load(Department, 1)
      expect(await session.delete(home, { step, onProgress: (progress) => seen.push(progress) })).to.equal(true)
      expect(seen.length).to.be.greaterThan(3)
      expect(seen.at(-1)).to.deep.equal({ className: 'Department', property: 'employees', done: COUNT })
      expect(await db.session().find(Department, 1)).to.equal(null)
      expect((await db.session().findMany(Employee, names)).every((each) => each === null)).to.equal(true)
    })

    it('reaches through levels', async () => {
      await staff()
      const session = db.session()
      const firm = Object.assign(new Company(), { id: 'acme' })
      ;(await session.load(Department, 1)).company.set(firm)
      await session.flush()
      await db.session().delete(Company, 'acme', { step })
      expect(await db.session().find(Department, 1)).to.equal(null)
      expect((await db.session().findMany(Employee, names)).every((each) => each === null)).to.equal(true)
    })

    it('takes children of a key list in steps', async () => {
      await saveAll([agent(1)])
      for (let i = 0; i < COUNT; i += 60) {
        const session = db.session()
        const home = await session.load(Agent, 1)
        home.listings.add(...names.slice(i, i + 60).map((name) => listing(name)))
        await session.flush({ transactions: 'off' })
      }
      await db.session().delete(Agent, 1, { step })
      expect(await db.session().find(Agent, 1)).to.equal(null)
      expect((await db.session().findMany(Listing, names)).every((each) => each === null)).to.equal(true)
    })

    it('detaches many children', async () => {
      await saveAll([team(1)])
      await saveAll(
        names.map((name) => {
          const each = player(name)
          each.team.set(1)
          return each
        }),
      )
      await db.session().delete(Team, 1, { step })
      expect(await db.session().find(Team, 1)).to.equal(null)
      const players = await db.session().loadMany(Player, names)
      expect(players.every((each) => each.team.key === null)).to.equal(true)
    })

    it('removes a user from all of many followers', async () => {
      const ids = Array.from({ length: COUNT }, (_, i) => i + 10)
      await saveAll([user(1)])
      for (let i = 0; i < COUNT; i += 60) {
        const session = db.session()
        const star = await session.load(User, 1)
        star.followers.add(...ids.slice(i, i + 60).map((id) => user(id)))
        await session.flush({ transactions: 'off' })
      }
      await db.session().delete(User, 1, { step })
      expect(await db.session().find(User, 1)).to.equal(null)
      const [first] = await db.session().loadMany(User, [10], { with: ['follows'] })
      expect(first.follows.items).to.deep.equal([])
    })

    it('is finished by deleting again, or by a sweep, when it was cut off', async () => {
      for (const finish of [
        () => db.session().delete(Department, 1, { step }),
        async () => expect(await db.sweep(Department, { step })).to.equal(1),
      ]) {
        await staff()
        const stop = new AbortController()
        const cut = await db
          .session()
          .delete(Department, 1, { step, signal: stop.signal, onProgress: () => stop.abort(new Error('power cut')) })
          .catch((error: Error) => error.message)
        expect(cut).to.equal('power cut')
        // A marked parent counts as gone, and takes no child in.
        expect(await db.session().find(Department, 1)).to.equal(null)
        const session = db.session()
        const late = employee('late')
        late.department.set(1)
        const refused = await session.save(late).catch((error: unknown) => error)
        expect(refused).to.be.instanceOf(SkeinError)
        await finish()
        const left = await db.session().findMany(Employee, names)
        expect(left.every((each) => each === null)).to.equal(true)
        expect(await db.sweep(Department)).to.equal(0)
        await db.truncate(Employee)
      }
    })
  })
}
