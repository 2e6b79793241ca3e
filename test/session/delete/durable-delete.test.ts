import 'reflect-metadata'
import { expect } from 'chai'
import { Bin, Key, Record, type Database, type SkeinError } from 'skein'
import { inEachMode } from '../modes.js'

@Record({ set: 'kept-deletes', durableDelete: true })
class Kept {
  @Key() id!: string
  @Bin() name?: string
}

@Record({ set: 'expunged', durableDelete: false })
class Expunged {
  @Key() id!: string
  @Bin() name?: string
}

@Record({ set: 'as-namespace' })
class Plain {
  @Key() id!: string
  @Bin() name?: string
}

const entities = [Kept, Expunged, Plain]

const failureOf = (work: Promise<unknown>): Promise<SkeinError | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => error as SkeinError,
  )

/** Deletes by entity, by key, and of several at once. */
async function deleteInEveryWay(
  db: Database,
  entityClass: (typeof entities)[number],
  keys: readonly string[],
): Promise<(SkeinError | undefined)[]> {
  const session = db.session()
  const [one, , ...several] = keys.map((id) => session.create<{ id: string }>(entityClass, { id }))
  await session.flush()
  const byEntity = await failureOf(session.delete(one))
  const byKey = await failureOf(db.session().delete(entityClass, keys[1]))
  several.forEach((each) => session.remove(each))
  return [byEntity, byKey, await failureOf(session.flush({ transactions: 'off' }))]
}

const NONE = [undefined, undefined, undefined]
const ALL_REFUSED = ['SKEIN_4204', 'SKEIN_4204', 'SKEIN_4001']

inEachMode(
  'deletes that leave a tombstone',
  (bed) => {
    const isConsistent = (): boolean => bed().server.sc === bed().namespace
    const keys = (): string[] => Array.from({ length: 4 }, () => bed().fresh())

    it('are what a class asks for with durableDelete: true, and a server that has none says so', async () => {
      const errors = await deleteInEveryWay(bed().db, Kept, keys())
      expect(errors.map((error) => error?.code)).to.deep.equal(isConsistent() ? NONE : ALL_REFUSED)
      if (!isConsistent()) expect(errors[0]!.message).to.contain('no durable deletes').and.to.contain('durableDelete')
    })

    it('are not what a class with durableDelete: false sends, and a namespace that requires them says so', async () => {
      const errors = await deleteInEveryWay(bed().db, Expunged, keys())
      expect(errors.map((error) => error?.code)).to.deep.equal(isConsistent() ? ALL_REFUSED : NONE)
      if (isConsistent()) expect(errors[0]!.message).to.contain('durableDelete: false')
    })

    it('are sent where the namespace requires them when the class does not say', async () => {
      expect(await deleteInEveryWay(bed().db, Plain, keys())).to.deep.equal(NONE)
    })

    for (const policy of ['remove', 'batchRemove'] as const) {
      it(`are asked for with policies.${policy}, for every delete whose class does not say`, async () => {
        const db = await bed().open({ policies: { [policy]: { durableDelete: true } } })
        const errors = await deleteInEveryWay(db, Plain, keys())
        expect(errors.map((error) => error?.code)).to.deep.equal(isConsistent() ? NONE : ALL_REFUSED)
      })
    }
  },
  { entities },
)
