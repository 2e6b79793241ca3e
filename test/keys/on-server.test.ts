import { expect } from 'chai'
import { Bin, Embeddable, Key, OneToMany, Record, collection, hashIdBytes, keysOf, open, type Database } from 'skein'
import { need, startTestServer, type TestServer } from '../server.js'
import { emptySets } from '../empty-sets.js'

@Record({ set: 'key-file' })
class File {
  @Key({ type: 'bytes', generate: { hash: ['owner', 'path'] } }) id!: Buffer
  @Bin() owner!: number
  @Bin() path!: string
}

@Embeddable()
class Block {
  @Key({ type: 'bytes', generate: { hash: ['text'] } }) id!: Buffer
  @Bin() text!: string
}

@Record({ set: 'key-page' })
class Page {
  @Key() id!: number
  @OneToMany(() => Block, { strategy: 'consolidate' }) blocks = collection<Block>()
}

@Record({ set: 'key-odd', key: '{constructor}:{__proto__}:{toString}' })
class Odd {
  @Bin({ type: 'string' }) ['constructor']!: never;
  @Bin({ type: 'int', name: 'proto' }) ['__proto__']!: number;
  @Bin({ type: 'string' }) ['toString']!: never
  @Bin() note!: string
}

const odd = (values: { [name: string]: unknown }): Odd => {
  const made = new Odd()
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true })
  return made
}

for (const mode of ['ap', 'sc'] as const) {
  describe(`keys on the server (${mode})`, () => {
    let server: TestServer
    let db: Database
    before(async function () {
      server = await startTestServer()
      const namespace = need(this, server[mode], `no ${mode} namespace`)
      db = await open({ hosts: server.hosts, namespace, entities: [File, Page, Odd] })
      await emptySets(db, [File, Page, Odd])
    })
    after(async () => {
      await db?.close()
      await server.stop()
    })

    it('made by hashing are bytes where the key is bytes, of records and of parts', async () => {
      const file = await db.session().save(Object.assign(new File(), { owner: 7, path: '/a' }))
      expect(file.id).to.deep.equal(hashIdBytes({ path: '/a', owner: 7 }))
      expect((await db.session().load(File, file.id)).path).to.equal('/a')
      const page = Object.assign(new Page(), { id: 1 })
      page.blocks.add(Object.assign(new Block(), { text: 'hello' }))
      await db.session().save(page)
      const { blocks } = await db.session().load(Page, 1)
      expect(blocks.items[0].id).to.deep.equal(hashIdBytes({ text: 'hello' }))
      expect((await blocks.get(hashIdBytes({ text: 'hello' })))?.text).to.equal('hello')
    })

    it('may be made of properties that are called like those of every object', async () => {
      const parts = JSON.parse('{"constructor":"a:b","__proto__":5,"toString":"c"}') as { [name: string]: unknown }
      await db.session().save(odd({ ...parts, ['__proto__']: 5, note: 'odd' }))
      const key = keysOf(Odd).of(parts)
      expect(key).to.equal('a%3Ab:5:c')
      for (const found of [await db.session().load(Odd, key), await db.session().load(Odd, parts)]) {
        expect(found.note).to.equal('odd')
        expect(Object.getOwnPropertyDescriptor(found, '__proto__')?.value).to.equal(5)
        expect(Object.getPrototypeOf(found)).to.equal(Odd.prototype)
      }
    })
  })
}
