import { expect } from 'chai'
import { Bin, Index, Key, Record, SkeinError, Version, type Database, type Filter, type FilterFields } from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

const unique = `qw${process.pid}${Date.now() % 1e6}`

@Record({ set: `${unique}n` })
class Note {
  @Key() id!: number
  @Index() @Bin() state!: string
  @Bin({ type: 'int' }) price?: number
}

@Record({ set: `${unique}t` })
class Task {
  @Key() id!: number
  @Index() @Bin() state!: string
  @Bin() due?: Date
  @Version() version?: number
}

/** Calls as they come from JavaScript, or from a slip that a cast hides. */
const loose = (given: unknown): never => given as never

for (const mode of MODES) {
  describe(`wrong calls of a query (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Note, Task], (opened) => ({ db } = opened))

    beforeEach(async () => {
      await db.withSession((session) => {
        session.persist(Object.assign(new Note(), { id: 1, state: 'open' }))
        session.persist(Object.assign(new Task(), { id: 1, state: 'open' }))
      })
    })

    async function refusal(work: () => unknown): Promise<SkeinError> {
      try {
        await work()
      } catch (error) {
        expect(error).to.be.instanceOf(SkeinError)
        return error as SkeinError
      }
      return expect.fail('nothing was thrown')
    }

    it('refuses unknown options, and changes nothing', async () => {
      const notes = db.query(Note).where({ state: 'open' })
      const calls: (() => unknown)[] = [
        () => notes.delete(loose({ dryrun: true })),
        () => notes.update({ price: 1 }, loose({ dryrun: true })),
        () => notes.update({ price: 1 }, loose({ dryRun: 'yes' })),
        () => notes.update({ price: 1 }, loose({ onProgress: 5 })),
        () => notes.toArray(loose({ limit: 5 })),
        () => notes.keys(loose({ limit: 5 })),
        () => notes.page(loose({ count: 5, offset: 5 })),
        () => notes.groupBy('state', loose({ limit: 5 })),
      ]
      for (const call of calls) expect((await refusal(call)).code).to.equal('SKEIN_2320')
      expect((await refusal(calls[0])).message).to.include("Did you mean 'dryRun'?")
      expect(await db.query(Note).where({ state: 'open', price: null }).count()).to.equal(1)
    })

    it('refuses a cursor that a bulk operation has no use for, and one of something else', async () => {
      const notes = db.query(Note).where({ state: 'open' })
      const tasks = db.query(Task).where({ state: 'open' })
      expect((await refusal(() => notes.update({ price: 1 }, { after: 'zzz' }))).code).to.equal('SKEIN_2320')
      expect((await refusal(() => notes.delete({ after: 'zzz' }))).code).to.equal('SKEIN_2320')
      expect((await refusal(() => tasks.delete({ after: 'zzz', dryRun: true }))).code).to.equal('SKEIN_2320')
      expect((await refusal(() => tasks.update({ state: 'done' }, { after: 'zzz' }))).code).to.equal('SKEIN_2501')
      expect(await notes.where({ price: null }).count()).to.equal(1)
      expect(await tasks.count()).to.equal(1)
    })

    it('refuses to calculate with a property that is no number, and names both and the operator', async () => {
      for (const operator of ['plus', 'minus', 'times', 'dividedBy', 'mod'] as const) {
        const error = await refusal(() =>
          db.query(Note).filter((note) => note.price[operator](loose(note.state)).gt(1)),
        )
        expect(error).to.include({ code: 'SKEIN_2510' })
        expect(error.message).to.include('Note.price').and.to.include(operator)
        if (operator !== 'mod') expect(error.message).to.include('state')
      }
    })

    it('refuses a condition that was built from what another query was given', async () => {
      let ofTask: Filter | undefined
      let stateOfTask: FilterFields<Task>['state'] | undefined
      let idOfTask: FilterFields<Task>['id'] | undefined
      db.query(Task).filter((task) => {
        ;[stateOfTask, idOfTask] = [task.state, task.id]
        return (ofTask = task.state.eq('open'))
      })
      const notes = db.query(Note)
      const calls: (() => unknown)[] = [
        () => notes.filter(() => ofTask!),
        () => notes.filter((note) => note.state.eq('open').and(ofTask!)),
        () => notes.filter((note) => note.state.eq('open').or(ofTask!)),
        () => notes.filter((note) => note.state.eq(loose(stateOfTask))),
        () => notes.filter((note) => note.price.plus(idOfTask!).gt(3)),
        () => notes.filter((note) => note.price.mod(idOfTask!).gt(3)),
      ]
      for (const call of calls) {
        const error = await refusal(call)
        expect(error.code, call.toString()).to.equal('SKEIN_2510')
        expect(error.message).to.match(/Note\.filter: it is given a condition on Task\.(state|id)/)
      }
      const open = await notes.filter((note) => note.state.eq('open')).toArray()
      expect(open).to.have.length(1)
    })

    it('refuses the sum and the average of a date', async () => {
      const tasks = db.query(Task).where({ state: 'open' })
      for (const call of [
        () => tasks.sum(loose('due')),
        () => tasks.avg(loose('due')),
        () => tasks.groupBy('state').sum(loose('due')),
      ]) {
        const error = await refusal(call)
        expect(error.code).to.equal('SKEIN_2510')
        expect(error.message).to.include('Task.due is not a number')
      }
      expect(await tasks.max('due')).to.equal(null)
    })

    it('answers arguments of a wrong kind with an error of its own', async () => {
      const notes = db.query(Note).where({ state: 'open' })
      const calls: { [code: string]: (() => unknown)[] } = {
        SKEIN_2320: [
          () => notes.page(loose(undefined)),
          () => notes.page(loose(null)),
          () => notes.toArray(loose(null)),
          () => notes.keys(loose(null)),
          () => notes.groupBy('id', loose(null)),
          () => notes.delete(loose(null)),
          () => notes.update({ price: 1 }, loose(null)),
          () => notes.orderBy('id', loose('down')),
          () => db.query(Note, { signal: loose({}) }),
          () => db.query(Note, { onProgress: loose(5) }),
          () => db.withSession((session) => session.query(Note, { signal: loose({}) })),
        ],
        SKEIN_2514: [() => notes.update(loose(null)), () => notes.update(loose('price'))],
        SKEIN_2510: [() => notes.filter(loose(5)), () => notes.filter(() => loose(5))],
      }
      for (const [code, wrong] of Object.entries(calls)) {
        for (const call of wrong) expect((await refusal(call)).code, call.toString()).to.equal(code)
      }
    })
  })
}
