import { expect } from 'chai'
import { Bin, collection, compileModel, Embeddable, Embedded, Key, keysOf, OneToMany, Record, SkeinError } from 'skein'
import { compileCodecs } from '#src/codec/index.js'

@Embeddable({ key: '{regionId}:{storeId}', parent: 'regionId' })
class Store {
  @Bin() regionId!: string
  @Bin() storeId!: number
}
@Embeddable()
class Nameless {
  @Bin() note?: string
}
@Record({ set: 'region' })
class Region {
  @Embedded(() => Nameless) part?: Nameless
  @Key() id!: string
  @OneToMany(() => Store, { strategy: 'consolidate' }) stores = collection<Store>()
}
@Record({ set: 'reading', key: '{tenant}/{sensor}/{hour|YYYYMMDDHH}', tenant: true })
class Reading {
  @Bin() tenant!: string
  @Bin() sensor!: number
  @Bin() hour!: Date
}

compileCodecs(compileModel([Region, Reading], { namespace: 'test' }))

describe('keysOf', () => {
  const range = { from: new Date('2024-05-06T23:30:00Z'), to: new Date('2024-05-07T00:30:00Z') }

  it('makes, checks and takes apart the keys of a class', () => {
    expect(keysOf(Region).of('europe')).to.equal('europe')
    const key = keysOf(Reading).of({ tenant: 'acme', sensor: 7, hour: range.from })
    expect(key).to.equal('acme/7/2024050623')
    expect({ ...keysOf(Reading).parts(key) }).to.deep.equal({
      tenant: 'acme',
      sensor: 7,
      hour: new Date('2024-05-06T23:00:00Z'),
    })
  })

  it('fills in a tenant and refuses another one', () => {
    const acme = keysOf(Reading, { tenant: 'acme' })
    expect(acme.covering({ sensor: 7 }, range)).to.deep.equal(['acme/7/2024050623', 'acme/7/2024050700'])
    expect(() => acme.of('other/7/2024050623'))
      .to.throw(SkeinError)
      .with.property('code', 'SKEIN_2104')
    expect(() => acme.covering({ tenant: 'other', sensor: 7 }, range))
      .to.throw(SkeinError)
      .with.property('code', 'SKEIN_2104')
  })

  it('finds the record of a part by the part’s own id', () => {
    const id = keysOf(Store).of({ regionId: 'europe:north', storeId: 12 })
    expect(id).to.equal('europe:north:12')
    expect(keysOf(Store).recordOf(id as string)).to.deep.equal({ recordKey: 'europe:north', parts: { storeId: 12 } })
  })

  it('says what a class does not have', () => {
    expect(() => keysOf(Nameless)).to.throw(SkeinError, /The parts of Nameless have no id/)
    expect(() => keysOf(Region).recordOf('x'))
      .to.throw(SkeinError, /do not say which record/)
      .with.property('code', 'SKEIN_2107')
    expect(() => keysOf(Region).covering({}, range))
      .to.throw(SkeinError, /has no slice of time/)
      .with.property('code', 'SKEIN_2106')
  })
})
