import { expect } from 'chai'
import { BeforeDelete, Bin, Key, Record, VersionConflictError, type Session } from 'skein'
import { CLASSES, Account } from '../models.js'
import { inEachMode, type Bed } from '../modes.js'
import { rejection } from '../rejection.js'

@Record({ set: 'vault' })
class Vault {
  @Key() id!: string
  @Bin() isLocked: boolean = true
  @BeforeDelete() check(): void {
    if (this.isLocked) throw new Error('locked')
  }
}

/** An account that somebody else has changed since this session has loaded it. */
async function stale(bed: Bed, session: Session): Promise<Account> {
  const theirs = bed.db.session()
  const account = theirs.create(Account, { id: bed.freshNumber(), owner: 'Ada' })
  await theirs.flush()
  const mine = await session.load(Account, account.id)
  account.balance = 7
  await theirs.flush()
  return mine
}

inEachMode(
  'a delete that was refused',
  (bed) => {
    const balance = async ({ id }: Account): Promise<number | undefined> =>
      (await bed().db.session().find(Account, id))?.balance

    it('is not carried out by a later flush', async () => {
      let account: Account | undefined
      await bed().db.withSession(async (session) => {
        account = await stale(bed(), session)
        expect(await rejection(() => session.delete(account!))).to.be.instanceOf(VersionConflictError)
        expect(session.isDirty(account)).to.equal(false)
        expect(await session.load(Account, account.id)).to.equal(account)
      })
      expect(await balance(account!)).to.equal(7)
    })

    it('is not carried out after a refresh, when the record is known as it is now', async () => {
      let account: Account | undefined
      await bed().db.withSession(async (session) => {
        account = await stale(bed(), session)
        await rejection(() => session.delete(account!))
        await session.refresh(account)
        expect(session.isDirty(account)).to.equal(false)
      })
      expect(await balance(account!)).to.equal(7)
    })

    it('is refused as often as it was called', async () => {
      const session = bed().db.session()
      const account = await stale(bed(), session)
      const refused = [session.delete(account), session.delete(account)].map((call) => rejection(() => call))
      for (const error of await Promise.all(refused)) expect(error).to.be.instanceOf(VersionConflictError)
      expect(session.isDirty(account)).to.equal(false)
    })

    it('because it was aborted, or a hook forbids it, leaves the entity as it was', async () => {
      let vault: Vault | undefined
      await bed().db.withSession(async (session) => {
        vault = session.create(Vault, { id: bed().fresh() })
        await session.flush()
        expect(await rejection(() => session.delete(vault!, { signal: AbortSignal.abort() }))).to.be.instanceOf(Error)
        expect(session.isDirty(vault)).to.equal(false)
        expect(String(await rejection(() => session.delete(vault!)))).to.contain('locked')
        expect(session.isDirty(vault)).to.equal(false)
        expect(String(await rejection(() => session.delete(Vault, vault!.id)))).to.contain('locked')
        expect(session.isDirty(vault)).to.equal(false)
      })
      expect(await bed().db.session().find(Vault, vault!.id)).to.not.equal(null)
    })

    it('does not undo an earlier remove', async () => {
      const session = bed().db.session()
      const account = await stale(bed(), session)
      session.remove(account)
      await rejection(() => session.delete(account))
      expect(session.changes(account).kind).to.equal('delete')
    })

    it('leaves nothing in the session of an entity that it did not know', async () => {
      const vault = Object.assign(new Vault(), { id: bed().fresh() })
      const session = bed().db.session()
      await rejection(() => session.delete(vault))
      expect(session.isDirty()).to.equal(false)
      await bed().db.session().save(vault)
    })
  },
  { entities: [...CLASSES, Vault] },
)

inEachMode('a remove', (bed) => {
  it('is one of the changes that refresh forgets', async () => {
    const session = bed().db.session()
    const account = session.create(Account, { id: bed().freshNumber(), owner: 'Ada' })
    await session.flush()
    session.remove(account)
    await session.refresh(account)
    expect(session.isDirty(account)).to.equal(false)
    await session.flush()
    expect(await bed().db.session().find(Account, account.id)).to.not.equal(null)
  })

  it('or a delete after a refresh that is under way is carried out', async () => {
    const session = bed().db.session()
    const account = session.create(Account, { id: bed().freshNumber(), owner: 'Ada' })
    await session.flush()
    const refreshing = session.refresh(account)
    const deleting = session.delete(account)
    await refreshing
    expect(await deleting).to.equal(true)
  })
})
