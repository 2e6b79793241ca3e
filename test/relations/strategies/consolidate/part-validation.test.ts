import { IsInt, Length, Max, Min } from 'class-validator'
import { expect } from 'chai'
import { Bin, Embeddable, Key, ManyToMany, OneToMany, Record, collection } from 'skein'
import { ValidationFailedError, type Database } from 'skein'
import { MODES } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { useDatabase } from '../../../use-database.js'

@Embeddable()
class Line {
  @Key() @Length(1, 8) product!: string
  @Bin() @IsInt() @Min(1) quantity!: number
}

@Embeddable()
class Step {
  @Key() number!: number
  @Bin() @Max(9) weight!: number
}

@Embeddable()
class Role {
  @Bin() @Length(2, 9) title!: string
}

@Record({ set: 'rule-order' })
class Order {
  @Key() id!: number
  @Bin() @Min(0) total!: number
  @OneToMany(() => Line, { strategy: 'consolidate' }) lines = collection<Line>()
  @OneToMany(() => Step, { strategy: 'consolidate', sortKey: ['weight'], eager: false }) steps = collection<Step>()
}

@Record({ set: 'rule-person' })
class Person {
  @Key() id!: string
  @ManyToMany(() => Team, 'people', { owner: true, attributes: () => Role }) teams = collection<Team, Role>()
}

@Record({ set: 'rule-team' })
class Team {
  @Key() id!: string
  @ManyToMany(() => Person, 'teams', { attributes: () => Role }) people = collection<Person, Role>()
}

const CLASSES = [Order, Person, Team]
const line = (product: string, quantity: number) => Object.assign(new Line(), { product, quantity })
const step = (number: number, weight: number) => Object.assign(new Step(), { number, weight })

for (const mode of MODES) {
  describe(`rules of parts (${mode})`, () => {
    let db: Database
    useDatabase(mode, CLASSES, (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.withSession(async (session) => {
        const order = session.create(Order, { id: 1, total: 3 })
        order.lines.add(line('bulb', 4), line('lamp', 1))
        order.steps.add(step(1, 5), step(2, 7))
      })
    })

    const failuresOf = async (work: () => Promise<unknown>) => {
      const error = await rejection(work)
      expect(error).to.be.instanceOf(ValidationFailedError)
      return (error as ValidationFailedError).failures
    }
    const brief = async (work: () => Promise<unknown>) =>
      (await failuresOf(work)).map(({ className, key, property, partKey, constraint }) => [
        ...[className, key, property, partKey, constraint],
      ])

    it('are checked for new and changed parts, and the failure names parent, property and part', async () => {
      const session = db.session()
      const order = await session.load(Order, 1)
      order.lines.items[0].quantity = 0
      order.lines.add(line('cable', 1.5))
      order.steps.add(step(3, 10))
      order.total = -1
      const failures = await failuresOf(() => session.flush())
      expect(failures.map(({ message: _message, ...rest }) => rest)).to.deep.equal([
        { className: 'Order', key: 1, property: 'total', constraint: 'min' },
        { className: 'Order', key: 1, property: 'lines["cable"].quantity', partKey: 'cable', constraint: 'isInt' },
        { className: 'Order', key: 1, property: 'lines["bulb"].quantity', partKey: 'bulb', constraint: 'min' },
        { className: 'Order', key: 1, property: 'steps[3].weight', partKey: 3, constraint: 'max' },
      ])
      const stored = await db.session().load(Order, 1)
      expect(stored.lines.items.map(({ quantity }) => quantity)).to.deep.equal([4, 1])
      order.total = 9
      for (const { product } of order.lines.items) order.lines.add(line(product, 6))
      order.steps.add(step(3, 9))
      await session.flush()
      const now = await db.session().load(Order, 1, { with: ['steps'] })
      expect(now.lines.items.map(({ quantity }) => quantity)).to.deep.equal([6, 6, 6])
      expect(now.steps.items.map(({ number }) => number)).to.deep.equal([1, 2, 3])
    })

    it('are checked in the message, too', async () => {
      const session = db.session()
      ;(await session.load(Order, 1)).lines.add(line('cable', 0))
      const error = (await rejection(() => session.flush())) as Error
      expect(error.message).to.contain('Order.lines["cable"].quantity of 1: quantity must not be less than 1')
    })

    it('are checked for all parts of a new record', async () => {
      const order = Object.assign(new Order(), { id: 2, total: 1 })
      order.lines.add(line('far too long', 1), line('a', 1))
      expect(await brief(() => db.session().save(order))).to.deep.equal([
        ['Order', 2, 'lines["far too long"].product', 'far too long', 'isLength'],
      ])
      expect(await db.session().find(Order, 2)).to.equal(null)
    })

    it('do not hold up a save because of parts that it does not touch, removes or never read', async () => {
      const session = db.session({ validate: false })
      const order = await session.load(Order, 1)
      order.lines.add(line('zero', 0), line('none', 0))
      order.steps.add(step(4, 99))
      await session.flush()
      const other = db.session()
      const again = await other.load(Order, 1)
      again.total = 8
      again.lines.remove('none')
      again.lines.add(line('extra', 2))
      await other.flush()
      const now = await db.session().load(Order, 1)
      expect(now.lines.items.map(({ product }) => product)).to.deep.equal(['bulb', 'extra', 'lamp', 'zero'])
    })

    it('are checked for a part that was read alone', async () => {
      const session = db.session()
      const { steps } = await session.load(Order, 1)
      ;(await steps.get(2))!.weight = 11
      expect(await brief(() => session.flush())).to.deep.equal([['Order', 1, 'steps[2].weight', 2, 'max']])
    })

    it('are checked once for the attributes of a link, whether given as an instance or not', async () => {
      const session = db.session()
      const person = session.create(Person, { id: 'ann' })
      const team = session.create(Team, { id: 'red' })
      person.teams.link(team, { title: 'x' })
      expect(await brief(() => session.flush())).to.deep.equal([
        ['Person', 'ann', 'teams["red"].title', 'red', 'isLength'],
      ])
      person.teams.link(team, Object.assign(new Role(), { title: 'lead' }))
      await session.flush()
      const role = (await team.people.attributesOf(person))!
      role.title = 'y'
      expect(await brief(() => session.flush())).to.have.length(1)
      role.title = 'guest'
      await session.flush()
      const stored = await db.session().at(Person, 'ann').collection('teams').attributesOf('red')
      expect(stored).to.deep.equal(Object.assign(new Role(), { title: 'guest' }))
    })
  })
}
