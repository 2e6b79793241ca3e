import { expect } from 'chai'
import { Bin, Index, Key, ManyToOne, OneToMany, Record, collection, ref, type Database } from 'skein'
import { MODES, needMode, type TestServer } from '../server.js'
import { sharedServer } from '../shared-server.js'

const unique = `ix${process.pid}${Date.now() % 1e6}`

@Record({ set: `${unique}d` })
class Department {
  @Key() id!: number
  @OneToMany(() => Employee, 'department', { strategy: 'secondaryIndex' }) employees = collection<Employee>()
}

@Record({ set: `${unique}e` })
class Employee {
  @Key() id!: string
  @Index() @Bin() name!: string
  @Index() @Bin({ type: { list: 'string' } }) skills!: string[]
  @ManyToOne(() => Department, 'employees') department = ref<Department>()
}

@Record({ set: `${unique}e` })
class NumberedEmployee {
  @Key() id!: string
  @Index() @Bin({ type: 'int' }) name!: number
}

for (const mode of MODES) {
  describe(`the indexes of a database (${mode})`, () => {
    let server: TestServer
    let namespace: string
    let db: Database
    before(async function () {
      server = await sharedServer()
      namespace = needMode(this, server, mode)
      db = await server.open({ namespace, entities: [Department, Employee] })
    })
    after(async () => {
      if (db === undefined) return
      for (const name of ALL) await db.client.indexRemove(namespace, name)
      await db.close()
    })

    const names = (indexes: readonly { name: string }[]): string[] => indexes.map(({ name }) => name).sort()
    const ALL = ['department', 'name', 'skills_items'].map((bin) => `${unique}e_${bin}`)

    it('are told apart: what the model needs and what is there', async () => {
      const diff = await db.indexes.diff()
      expect(names(diff.missing)).to.deep.equal(ALL)
      expect(diff.missing.find(({ bin }) => bin === 'department')).to.include({
        className: 'Employee',
        property: 'department',
        type: 'numeric',
        part: 'value',
      })
      expect([...diff.building, ...diff.different, ...diff.unused]).to.deep.equal([])
    })

    it('are created with progress, and then nothing is left to do', async () => {
      const seen: string[] = []
      await db.indexes.sync({
        onProgress: ({ index, percent, done, total }) => {
          if (percent === 100) seen.push(`${index} ${done}/${total}`)
        },
      })
      expect(seen.map((line) => line.split(' ')[0]).sort()).to.deep.equal(ALL)
      expect(seen.at(-1)).to.match(/ 3\/3$/)
      expect(await db.indexes.diff()).to.deep.equal({ missing: [], building: [], different: [], unused: [] })
      await db.indexes.sync({ onProgress: () => expect.fail('nothing to build') })
    })

    it('are waited for, however long their names are', async () => {
      // The client cuts a request for all nodes at 49 bytes.
      const bare = `sindex/${namespace}/`.length
      const long = [50 - bare, 51 - bare, 120].map((length) => `${unique}l`.padEnd(length, 'x'))
      @Record({ set: `${unique}l` })
      class Long {
        @Key() id!: string
        @Index({ name: long[0] }) @Bin() a!: string
        @Index({ name: long[1] }) @Bin() b!: string
        @Index({ name: long[2] }) @Bin() c!: string
      }
      const other = await server.open({ namespace, entities: [Long] })
      const seen: string[] = []
      await other.indexes.sync({ onProgress: ({ index, percent }) => percent === 100 && seen.push(index) })
      expect(seen.sort()).to.deep.equal([...long].sort())
      for (const name of long) await other.client.indexRemove(namespace, name)
      await other.close()
    })

    it('are never replaced or dropped unless asked for', async () => {
      const other = await server.open({ namespace, entities: [NumberedEmployee] })
      const diff = await other.indexes.diff()
      expect(names(diff.different)).to.deep.equal([`${unique}e_name`])
      const error = await other.indexes.sync().catch((e: unknown) => e)
      expect(error).to.have.property('code', 'SKEIN_2502')
      expect(names((await db.indexes.diff()).missing)).to.deep.equal([])

      await other.indexes.sync({ replace: true })
      expect((await other.indexes.diff()).different).to.deep.equal([])
      expect(names((await other.indexes.diff()).unused)).to.deep.equal([ALL[0], ALL[2]])
      await other.indexes.sync({ dropUnused: true })
      expect((await other.indexes.diff()).unused).to.deep.equal([])
      await other.close()
      await db.indexes.sync({ replace: true })
      await db.indexes.sync({ dropUnused: true })
    })
  })
}
