import { expect } from 'chai'
import type { Database } from 'skein'
import { isNamedServer, MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { movedFamilies } from './archive-families.js'

/** Times that a record is moved there and back. */
const ROUNDS = 8
const READERS = 2

/** Another than that of records which other tests leave in the archive. */
const ID = 7001

for (const mode of MODES) {
  describe(`a record that is loaded from anywhere while it is moved (${mode})`, function () {
    if (isNamedServer) return
    const families = movedFamilies(mode === 'ap' ? 'test' : 'more')
    const all = families.flatMap((family) => family.all)
    let db: Database
    useDatabase(mode, all, (opened) => ({ db } = opened))

    for (const { title, type, store, shown, expected } of families)
      it(`has ${title}`, async () => {
        await store(db, ID)
        let isDone = false
        let reads = 0
        /** Lets readers go on, which begin again when a record has moved. */
        const untilRead = async (): Promise<void> => {
          const before = reads
          while (!isDone && reads < before + READERS) await new Promise((resolve) => setImmediate(resolve))
        }
        const move = async (): Promise<void> => {
          for (let round = 0; round < ROUNDS; round++) {
            await db.session().archive(type, ID)
            await untilRead()
            await db.session().unarchive(type, ID)
            await untilRead()
          }
        }
        const read = async (): Promise<void> => {
          for (; !isDone; reads++) expect(await shown(db, ID, 'any')).to.deep.equal(['first', ...expected(ID)])
        }
        const end = (): void => void (isDone = true)
        const readers = Array.from({ length: READERS }, () => read().finally(end))
        await Promise.all([move().finally(end), ...readers])
      })
  })
}
