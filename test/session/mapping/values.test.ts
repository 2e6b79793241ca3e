import 'reflect-metadata'
import { expect } from 'chai'
import { Bin, Embeddable, Embedded, Key, Record, type SkeinError } from 'skein'
import { inEachMode } from '../modes.js'
import { rejection } from '../rejection.js'

@Embeddable()
class Place {
  @Bin() city?: string
}

@Record({ set: 'keyed-by-bytes' })
class Keyed {
  @Key({ type: 'bytes' }) id!: Buffer
  @Bin() name?: string
  @Bin({ type: { map: 'string', key: 'int' } }) byNumber?: Map<number, string>
  @Bin({ type: { map: 'string' } }) byText?: Map<string, string>
  @Embedded(() => Place) place?: Place
}

inEachMode(
  'values',
  (bed) => {
    const fresh = (): Buffer => Buffer.from(bed().fresh())

    it('bytes of a key that are changed in place after persist are noticed, and nothing is sent', async () => {
      const session = bed().db.session()
      const id = fresh()
      const before = Buffer.from(id)
      session.create(Keyed, { id, name: 'Ada' })
      id[0] = 90
      expect(await rejection(() => session.flush())).to.have.property('code', 'SKEIN_2203')
      expect(await bed().db.read(Keyed, [before, id])).to.deep.equal([null, null])
    })

    it('bytes of a key that are changed after a load was asked for do not change what is loaded', async () => {
      const id = fresh()
      const before = Buffer.from(id)
      await bed()
        .db.session()
        .save(Object.assign(new Keyed(), { id: before, name: 'Ada' }))
      const load = bed().db.session().load(Keyed, id)
      id[0] = 90
      expect((await load).id).to.deep.equal(before)
    })

    for (const wrong of [new Date(5), new Map(), new Set(), Buffer.from('x'), []]) {
      it(`a ${wrong.constructor.name} is not taken for a part`, async () => {
        const keyed = Object.assign(new Keyed(), { id: fresh(), place: wrong })
        const error = (await rejection(() => bed().db.session().save(keyed))) as SkeinError
        expect(error.code).to.equal('SKEIN_2201')
        expect(error.message).to.contain('place')
      })
    }

    it('a Map comes back in the order of its keys, whatever they look like', async () => {
      const id = fresh()
      const numbers = [10, -1, 2 ** 40, 9, 0, -20]
      const texts = ['b', '10', '9', '', 'a', '-1']
      const byNumber = new Map(numbers.map((each) => [each, 'x']))
      const byText = new Map(texts.map((each) => [each, 'x']))
      await bed().db.session().save(Object.assign(new Keyed(), { id, byNumber, byText }))
      const loaded = await bed().db.session().load(Keyed, id)
      expect([...loaded.byNumber!.keys()]).to.deep.equal([-20, -1, 0, 9, 10, 2 ** 40])
      expect([...loaded.byText!.keys()]).to.deep.equal(['', '-1', '10', '9', 'a', 'b'])
    })

    it('a key that is missing twice is named once', async () => {
      const id = fresh()
      const error = (await rejection(() => bed().db.session().loadMany(Keyed, [id, id]))) as SkeinError
      expect(error.message.split(id.toString('hex'))).to.have.length(2)
    })
  },
  { entities: [Keyed] },
)
