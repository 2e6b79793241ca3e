import 'reflect-metadata'
import { expect } from 'chai'
import { Bin, Key, Record } from 'skein'
import { inEachMode } from '../modes.js'

@Record({ set: 'foreign' })
class Reading {
  @Key() id!: number
  @Bin() value?: string
  @Bin() unit?: string
}

@Record({ set: 'foreignPart', key: '{station}:{day|YYYY-MM-DD}' })
class Forecast {
  @Bin() station!: string
  @Bin() day!: Date
  @Bin() text?: string
}

@Record({ set: 'foreignOwn', tenant: true })
class Note {
  @Key() id!: string
  @Bin() text?: string
}

inEachMode(
  'a record that others have written',
  (bed) => {
    const put = (set: string, key: string | number, bins: object): Promise<unknown> =>
      bed().db.client.put({ ns: bed().namespace, set, key }, bins as never)

    for (const [what, bins] of [
      ['without its key', { value: 'a' }],
      ['with another key in it', { id: 99, value: 'a' }],
    ] as const) {
      it(`${what} loads under the key it was asked for, and can be changed, upserted and deleted`, async () => {
        const id = bed().freshNumber()
        await put('foreign', id, bins)
        const session = bed().db.session()
        const reading = await session.load(Reading, id)
        expect(reading).to.deep.include({ id, value: 'a' })
        expect(session.isDirty()).to.equal(false)
        reading.unit = 'm'
        await session.save(reading)
        await session.refresh(reading)
        expect(reading).to.deep.include({ id, value: 'a', unit: 'm' })
        expect(session.isDirty()).to.equal(false)
        const [plain] = await bed().db.read(Reading, [id])
        expect(plain).to.deep.include({ id, unit: 'm' })
        await bed().db.session().upsert(plain!)
        expect(
          await bed()
            .db.session()
            .load(Reading, id, { only: ['unit'] }),
        ).to.include({ id, unit: 'm' })
        await session.upsert(reading)
        expect(await session.delete(reading)).to.equal(true)
      })
    }

    it('is known by the parts of its key, of a tenant too', async () => {
      const station = bed().fresh()
      await put('foreignPart', `${station}:2024-05-06`, { text: 'sun' })
      const forecast = await bed()
        .db.session()
        .load(Forecast, { station, day: new Date('2024-05-06') })
      expect(forecast).to.deep.include({ station, day: new Date('2024-05-06'), text: 'sun' })
      const id = bed().fresh()
      await put('foreignOwn', `acme:${id}`, { text: 'mine' })
      expect(await bed().db.session({ tenant: 'acme' }).load(Note, id)).to.deep.include({ id, text: 'mine' })
      expect((await bed().db.read(Note, [id], { tenant: 'acme' }))[0]).to.deep.include({ id, text: 'mine' })
    })

    it('keeps what its key says only in part', async () => {
      const station = bed().fresh()
      const day = new Date('2024-05-06T07:08:09Z')
      await bed().db.session().save(Object.assign(new Forecast(), { station, day }))
      expect((await bed().db.session().load(Forecast, { station, day })).day).to.deep.equal(day)
      expect((await bed().db.read(Forecast, [{ station, day }]))[0]!.day).to.deep.equal(day)
    })
  },
  { entities: [Reading, Forecast, Note] },
)
