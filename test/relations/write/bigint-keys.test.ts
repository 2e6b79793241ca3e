import { expect } from 'chai'
import {
  Embeddable,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  collection,
  ref,
  type Database,
} from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'wide-node' })
class Node {
  @Key({ type: 'bigint' }) id!: bigint
  @OneToMany(() => Node, 'parent', { onDelete: 'cascade' }) children = collection<Node>()
  @ManyToOne(() => Node, 'children') parent = ref<Node>()
  @ManyToMany(() => Node, 'followers', { owner: true }) follows = collection<Node>()
  @ManyToMany(() => Node, 'follows') followers = collection<Node>()
  @OneToOne(() => Node, 'twinOf', { owner: true }) twin = ref<Node>()
  @OneToOne(() => Node, 'twin') twinOf = ref<Node>()
}

@Embeddable()
class Remark {
  @Key({ type: 'bigint' }) id!: bigint
  @ManyToOne(() => Node) about = ref<Node>()
}

@Record({ set: 'wide-page' })
class Page {
  @Key() id!: number
  @OneToMany(() => Remark, { strategy: 'consolidate' }) remarks = collection<Remark>()
}

const CLASSES = [Node, Page]
const LARGE = 2n ** 62n

for (const mode of MODES) {
  // The client gives integers as numbers wherever they fit one, whatever they were stored as.
  describe(`relations between records with bigint keys (${mode})`, () => {
    let db: Database
    useDatabase(mode, CLASSES, (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.withSession(async (session) => {
        const [one, two, large] = [1n, 2n, LARGE].map((id) => session.create(Node, { id }))
        one.children.add(two, large)
        one.follows.add(two, large)
        one.twin.set(two)
        const remark = Object.assign(new Remark(), { id: 5n })
        remark.about.set(one)
        session.create(Page, { id: 1 }).remarks.add(remark)
      })
    })

    it('load along any path, small keys and large ones', async () => {
      const one = await db.session().load(Node, 1n, { with: ['children', 'follows', 'twin'] })
      expect(one.children.items.map(({ id }) => id)).to.deep.equal([2n, LARGE])
      expect(one.follows.items.map(({ id }) => id)).to.deep.equal([2n, LARGE])
      expect(one.twin.value!.id).to.equal(2n)
      const page = await db.session().load(Page, 1, { with: ['remarks.about'] })
      expect(page.remarks.items.map(({ id, about }) => [id, about.value!.id])).to.deep.equal([[5n, 1n]])
    })

    it('tell keys as they were declared', async () => {
      const node = db.session().at(Node, 1n)
      expect(await node.collection('children').keys()).to.deep.equal([2n, LARGE])
      expect(await node.collection('follows').keys()).to.deep.equal([2n, LARGE])
      const two = await db.session().load(Node, 2n)
      expect([two.parent.key, two.twinOf.key]).to.deep.equal([1n, 1n])
      const [page] = await db.read(Page, [1])
      expect(page!.remarks.items.map(({ id, about }) => [id, about.key])).to.deep.equal([[5n, 1n]])
    })

    it('move and are deleted', async () => {
      const session = db.session()
      session.create(Node, { id: 3n })
      session.at(Node, 3n).collection('children').add(2n)
      await session.flush()
      expect(await db.session().at(Node, 1n).collection('children').keys()).to.deep.equal([LARGE])
      await db.session().delete(Node, 1n)
      expect(await db.session().findMany(Node, [1n, LARGE])).to.deep.equal([null, null])
      const two = await db.session().load(Node, 2n, { with: ['followers'] })
      expect([two.parent.key, two.twinOf.key, two.followers.items.length]).to.deep.equal([3n, null, 0])
    })
  })
}
