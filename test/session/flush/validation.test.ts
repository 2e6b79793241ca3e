import 'reflect-metadata'
import { expect } from 'chai'
import { IsDate, IsInt, IsString, Length, Min, ValidateNested } from 'class-validator'
import { describeKey } from '#src/keys/index.js'
import { AlreadyExistsError, Bin, CreatedAt, Embeddable, Embedded, Key, Record, ValidationFailedError } from 'skein'
import { inEachMode } from '../modes.js'
import { rejection } from '../rejection.js'

@Embeddable()
class Size {
  @Bin() @Min(1) width!: number
}

@Record({ set: 'product' })
class Product {
  @Key() id!: string
  @Bin() @IsString() @Length(2, 20) name!: string
  @Bin() @IsInt() @Min(0) stock!: number
  @Embedded(() => Size) @ValidateNested() size?: Size
  @CreatedAt() @IsDate() createdAt?: Date
}

inEachMode(
  'validation',
  (bed) => {
    const product = (values: Partial<Product>): Product =>
      Object.assign(new Product(), { id: bed().fresh(), name: 'lamp', stock: 1, ...values })

    it('reports every failure of a flush in one error, and nothing is sent', async () => {
      const session = bed().db.session()
      const good = session.persist(product({}))
      const bad = session.persist(product({ name: 'x', stock: -1 }))
      const nested = session.persist(product({ size: Object.assign(new Size(), { width: 0 }) }))
      const error = (await rejection(() => session.flush())) as ValidationFailedError
      expect(error).to.be.instanceOf(ValidationFailedError)
      expect(error.message).to.include(`Product.name of ${describeKey(bad.id)}: name must be longer`)
      expect(error.failures.map(({ key, property, constraint }) => [key, property, constraint])).to.deep.equal([
        [bad.id, 'name', 'isLength'],
        [bad.id, 'stock', 'min'],
        [nested.id, 'size.width', 'min'],
      ])
      expect(await bed().db.session().findMany(Product, [good.id, bad.id])).to.deep.equal([null, null])
      bad.name = 'chair'
      bad.stock = nested.size!.width = 5
      await session.flush()
      expect(await bed().db.session().findMany(Product, [good.id, bad.id])).to.not.include(null)
    })

    it('of an upsert leaves no request to replace the record to a later save', async () => {
      const { id } = await bed().db.session().save(product({}))
      const session = bed().db.session()
      const mine = product({ id, name: 'x' })
      expect(await rejection(() => session.upsert(mine))).to.be.instanceOf(ValidationFailedError)
      mine.name = 'chair'
      expect(await rejection(() => session.save(mine))).to.be.instanceOf(AlreadyExistsError)
      expect((await bed().db.session().load(Product, id)).name).to.equal('lamp')
      await session.upsert(mine)
      expect((await bed().db.session().load(Product, id)).name).to.equal('chair')
    })

    it('does not ask for what only the write itself sets', async () => {
      const { createdAt } = await bed().db.session().save(product({}))
      expect(createdAt).to.be.instanceOf(Date)
    })

    it('checks only the loaded properties of a partial entity', async () => {
      const { id } = await bed().db.session().save(product({}))
      const session = bed().db.session()
      const partial = await session.load(Product, id, { only: ['stock'] })
      partial.stock = 7
      await session.flush()
      partial.stock = -1
      expect(await rejection(() => session.flush())).to.be.instanceOf(ValidationFailedError)
    })

    it('does not look at what is not saved', async () => {
      const { id } = await bed()
        .db.session({ validate: false })
        .save(product({ stock: -5 }))
      const session = bed().db.session()
      const loaded = await session.load(Product, id)
      await session.flush()
      expect(await session.delete(loaded)).to.equal(true)
    })

    it('can be turned off for a session and for a database', async () => {
      await bed()
        .db.session({ validate: false })
        .save(product({ stock: -1 }))
      const db = await bed().open({ validate: false })
      await db.session().save(product({ stock: -1 }))
      expect(await rejection(() => db.session({ validate: true }).save(product({ stock: -1 })))).to.be.instanceOf(
        ValidationFailedError,
      )
    })
  },
  { entities: [Product] },
)
