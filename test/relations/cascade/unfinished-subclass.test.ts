import { expect } from 'chai'
import { Bin, Key, ManyToOne, OneToMany, Record, collection, open, ref, type Database } from 'skein'
import { startEmbedded, type EmbeddedServer } from 'skein/embedded'

@Record({ set: 'bank' })
class Bank {
  @Key() id!: number
  @OneToMany(() => Client, 'bank', { strategy: 'keyList', onDelete: 'cascade' })
  clients = collection<Client>()
}

@Record({ set: 'client', discriminator: 'kind' })
abstract class Client {
  @Key() id!: number
  @ManyToOne(() => Bank, 'clients') bank = ref<Bank>()
  @OneToMany(() => Deposit, 'client', { strategy: 'keyList', onDelete: 'cascade' })
  deposits = collection<Deposit>()
}

@Record({ discriminatorValue: 'person' })
class Person extends Client {
  @Bin() name!: string
}

@Record({ discriminatorValue: 'firm' })
class Firm extends Client {
  @Bin() taxId!: string
}

@Record({ set: 'deposit' })
class Deposit {
  @Key() id!: string
  @ManyToOne(() => Client, 'deposits') client = ref<Client>()
}

describe('a delete of a class with subclasses that was cut short (ap)', () => {
  let server: EmbeddedServer
  let db: Database
  let last = 0
  before(async () => {
    server = await startEmbedded({ namespaces: ['test:ap'] })
    db = await open({ hosts: server.hosts, namespace: 'test', entities: [Bank, Client, Person, Firm, Deposit] })
  })
  after(async () => {
    await db.close()
    await server.stop()
  })

  async function store(): Promise<{ bank: number; firm: number; deposits: string[] }> {
    const firm = Object.assign(new Firm(), { id: ++last, taxId: 'T' })
    const deposits = [0, 1, 2].map((i) => `${last}-${i}`)
    firm.deposits.add(...deposits.map((id) => Object.assign(new Deposit(), { id })))
    const bank = Object.assign(new Bank(), { id: last })
    bank.clients.add(firm)
    await db.session().save(bank)
    return { bank: last, firm: last, deposits }
  }

  /** Nothing can be deleted meanwhile. */
  async function cutShort(work: () => Promise<unknown>): Promise<void> {
    await server.faults.add({ kind: 'delete', answer: 4, times: 1000 })
    await work().then(
      () => expect.fail('it was not cut short'),
      () => undefined,
    )
    await server.faults.clear()
  }

  async function expectGone(firm: number, deposits: string[]): Promise<void> {
    expect(await db.session().findMany(Deposit, deposits)).to.deep.equal(deposits.map(() => null))
    expect(await db.session().delete(Client, firm)).to.equal(false)
  }

  it('is finished by deleting it again as the class or its base', async () => {
    for (const again of [Firm, Client]) {
      const { firm, deposits } = await store()
      await cutShort(() => db.session().delete(Client, firm))
      expect(await db.session().find(Client, firm)).to.equal(null)
      expect(await db.session().delete(Person, firm)).to.equal(false)
      expect(await db.session().delete(again, firm)).to.equal(true)
      await expectGone(firm, deposits)
    }
  })

  it('is finished by a sweep of the class or its base, and left alone by one of another', async () => {
    for (const swept of [Firm, Client]) {
      const { firm, deposits } = await store()
      await cutShort(() => db.session().delete(Firm, firm))
      expect(await db.sweep(Person)).to.equal(0)
      expect(await db.sweep(swept)).to.equal(1)
      await expectGone(firm, deposits)
    }
  })

  it('is finished with the delete in steps that it was part of', async () => {
    const { bank, firm, deposits } = await store()
    await cutShort(() => db.session().delete(Bank, bank, { step: 1 }))
    expect(await db.session().find(Client, firm)).to.equal(null)
    expect(await db.session().delete(Bank, bank, { step: 1 })).to.equal(true)
    await expectGone(firm, deposits)
  })
})
