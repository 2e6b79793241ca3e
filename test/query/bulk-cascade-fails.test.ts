import 'reflect-metadata'
import { expect } from 'chai'
import { BulkStoppedError, Key, ManyToOne, OneToMany, Record, collection, ref, type Database } from 'skein'
import type { EmbeddedServer } from 'skein/embedded'
import { MODES, need } from '../server.js'
import { useDatabase } from '../use-database.js'

const unique = `qc${process.pid}${Date.now() % 1e6}`
const COUNT = 30
const DONE = 5

@Record({ set: `${unique}p` })
class Parent {
  @Key() id!: number
  @OneToMany(() => Child, 'parent', { onDelete: 'cascade' }) children = collection<Child>()
}

@Record({ set: `${unique}c` })
class Child {
  @Key() id!: number
  @ManyToOne(() => Parent, 'children') parent = ref<Parent>()
}

for (const mode of MODES) {
  describe(`a bulk delete that cascades while the server keeps failing (${mode})`, () => {
    let db: Database
    let server: EmbeddedServer | undefined
    useDatabase(mode, [Parent, Child], (opened) => {
      db = opened.db
      server = opened.server.embedded
    })
    afterEach(() => server?.faults.clear())

    it('stops at the first record that fails, counts what is deleted, and names what db.sweep completes', async function () {
      need(this, server, 'faults need the embedded server')
      await db.withSession((session) => {
        for (let id = 0; id < COUNT; id++) session.create(Parent, { id }).children.add(session.create(Child, { id }))
      })
      const { set } = db.model.entity(Child)
      const refused = { kind: ['write', 'delete'] as const, set, skip: DONE, times: 10_000, answer: 9 }
      let error: unknown
      const { log } = await server!.commands.during(async () => {
        await server!.faults.add({ ...refused, kind: [...refused.kind] })
        error = await db
          .scan(Parent)
          .delete()
          .catch((e: unknown) => e)
      })
      await server!.faults.clear()
      expect(error).to.be.instanceOf(BulkStoppedError)
      const { written, keys, partlyWritten, incomplete, message } = error as BulkStoppedError
      const begun = mode === 'ap' ? 1 : 0
      expect({ written, begun: partlyWritten.length, incomplete }).to.deep.equal({
        written: DONE,
        begun,
        incomplete: [],
      })
      expect(keys).to.have.length(COUNT - DONE - begun)
      if (mode === 'ap') expect(message).to.include('db.sweep(Parent)').and.to.include('marked as being deleted')
      expect(log.length, 'no other record is tried').to.be.below(150)
      expect(await db.scan(Parent).count()).to.equal(COUNT - DONE - begun)
      expect(await db.sweep(Parent)).to.equal(begun)
      expect(await db.scan(Child).count()).to.equal(COUNT - DONE - begun)
      expect(await db.scan(Parent).delete()).to.include({ written: COUNT - DONE - begun })
      expect(await db.scan(Child).count()).to.equal(0)
    })
  })
}
