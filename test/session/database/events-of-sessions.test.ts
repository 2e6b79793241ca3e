import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect } from 'chai'
import { Bin, Key, ManyToOne, OneToMany, Record, collection, ref } from 'skein'
import type { CommandEvent, Database, FlushEvent, Session } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'evs-ship' })
class Ship {
  @Key() id!: string
  @Bin() name?: string
  @OneToMany(() => Sailor, 'ship', { strategy: 'secondaryIndex' }) crew = collection<Sailor>()
  @OneToMany(() => Crate, 'ship', { onDelete: 'cascade' }) cargo = collection<Crate>()
}

@Record({ set: 'evs-sailor' })
class Sailor {
  @Key() id!: string
  @ManyToOne(() => Ship, 'crew') ship = ref<Ship>()
}

@Record({ set: 'evs-crate' })
class Crate {
  @Key() id!: string
  @ManyToOne(() => Ship, 'cargo') ship = ref<Ship>()
}

interface Heard {
  readonly kind: string
  readonly session: number | undefined
  readonly caller: number | undefined
}

const caller = new AsyncLocalStorage<number>()

async function heardIn(work: () => Promise<unknown>): Promise<Heard[]> {
  const heard: Heard[] = []
  const command = (event: unknown): void => {
    const { kind, session } = event as CommandEvent
    heard.push({ kind, session, caller: caller.getStore() })
  }
  const flush = (event: unknown): void => {
    const { session } = event as FlushEvent
    heard.push({ kind: 'flush', session, caller: session })
  }
  subscribe('skein:command', command)
  subscribe('skein:flush', flush)
  try {
    await work()
  } finally {
    unsubscribe('skein:command', command)
    unsubscribe('skein:flush', flush)
  }
  return heard
}

async function sail(session: Session, id: string): Promise<void> {
  const ship = session.create(Ship, { id, name: 'new' })
  ship.crew.add(session.create(Sailor, { id: `${id}-1` }))
  ship.cargo.add(session.create(Crate, { id: `${id}-1` }), session.create(Crate, { id: `${id}-2` }))
  await session.flush()
  session.clear()
  const [again] = await Promise.all([session.load(Ship, id), session.find(Ship, `${id}?`)])
  await Promise.all([again.cargo.count(), again.crew.load(), session.load(Crate, `${id}-1`)])
  await session.at(Ship, id).collection('cargo').contains(`${id}-2`)
  again.name = 'old'
  await session.save(again)
  await session.refresh(again)
  for await (const one of session.query(Ship).scan().only('name')) expect(one.id).to.be.a('string')
  await session.delete(Sailor, `${id}-1`)
  await session.delete(again)
}

for (const mode of MODES) {
  describe(`events of sessions (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Ship, Sailor, Crate], (opened) => ({ db } = opened))

    it('name the session, also where several share a batch, in the context of its caller', async () => {
      const sessions = Array.from({ length: 8 }, () => db.session())
      const work = sessions.map((session) => () => caller.run(session.id, () => sail(session, `s${session.id}`)))
      const heard = await heardIn(() => Promise.all(work.map((each) => each())))
      for (const { kind, session, caller: by } of heard) expect([kind, session]).to.deep.equal([kind, by])
      expect(new Set(heard.map(({ session }) => session))).to.deep.equal(new Set(sessions.map(({ id }) => id)))
      expect(new Set(heard.map(({ kind }) => kind)).size).to.equal(6)
    })

    it('name it when the listener comes after the session has begun, and no session for calls of the database', async () => {
      const session = db.session()
      const ship = await session.save(Object.assign(new Ship(), { id: 'early' }))
      const heard = await heardIn(async () => {
        await ship.cargo.count()
        ship.name = 'late'
        await session.flush()
        await db.read(Ship, ['early'])
        await db.withSession((own) => caller.run(own.id, () => own.load(Ship, 'early')))
      })
      expect(heard.map(({ kind }) => kind)).to.deep.equal(['read', 'write', 'flush', 'read', 'read'])
      expect(heard.slice(0, 4).map((each) => each.session)).to.deep.equal([
        session.id,
        session.id,
        session.id,
        undefined,
      ])
      expect(heard[4].session).to.equal(heard[4].caller)
    })

    if (mode === 'sc')
      it('name the session of a transaction', async () => {
        const ids: number[] = []
        const heard = await heardIn(() =>
          db.transaction(async (session) => {
            ids.push(session.id)
            const ship = session.create(Ship, { id: 'tx' })
            ship.cargo.add(session.create(Crate, { id: 'tx-1' }))
            await session.flush()
            session.clear()
            const again = await session.load(Ship, 'tx', { with: ['cargo'] })
            expect(await again.cargo.count()).to.equal(1)
            await session.delete(again, { outsideTransaction: true })
          }),
        )
        expect(heard.length).to.be.greaterThan(5)
        for (const { kind, session } of heard) expect([kind, session]).to.deep.equal([kind, ids[0]])
      })
  })
}
