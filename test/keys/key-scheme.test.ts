import { expect } from 'chai'
import fc from 'fast-check'
import { SkeinError } from 'skein'
import { KeyScheme } from '#src/keys/index.js'

const code = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    if (error instanceof SkeinError) return error.code
    throw error
  }
  return 'none'
}

const user = new KeyScheme({ className: 'User', kind: 'int', properties: ['id'], types: { id: 'int' }, tenant: false })
const note = new KeyScheme({ className: 'Note', kind: 'int', properties: ['id'], types: { id: 'int' }, tenant: true })
const order = new KeyScheme({
  className: 'Order',
  kind: 'string',
  properties: ['tenant', 'orderId'],
  template: 'tenant:{tenant}:order:{orderId}',
  types: { tenant: 'string', orderId: 'int' },
  tenant: true,
})

describe('the keys of a class', () => {
  it('are its key property, checked', () => {
    expect(user.keyOf({ id: 17 })).to.equal(17)
    expect(user.toKey(17)).to.equal(17)
    expect(user.parts(17)).to.deep.equal({ id: 17 })
    expect(code(() => user.keyOf({}))).to.equal('SKEIN_2101')
    expect(() => user.keyOf({ id: '17' })).to.throw(/User\.id: "17" is not an integer key/)
    expect(() => user.keyOf({ id: () => 17 })).to.throw(/User\.id: a function is not an integer key/)
    expect(() => user.keyOf({ id: [1, 7] })).to.throw(/User\.id: an array of 2 is not an integer key/)
  })

  const refused: [kind: 'string' | 'int' | 'bigint' | 'bytes', value: unknown][] = [
    ['string', ''],
    ['string', 'a\0b'],
    ['string', '\udc00'],
    ['string', 5],
    ['int', 1.5],
    ['int', 2 ** 53],
    ['int', NaN],
    ['int', 5n],
    ['bigint', 2n ** 63n],
    ['bigint', 5],
    ['bytes', Buffer.alloc(0)],
    ['bytes', 'ff'],
    ['string', null],
    ['string', { id: 'a' }],
  ]
  for (const [kind, value] of refused) {
    it(`refuse ${typeof value === 'bigint' ? `${value}n` : JSON.stringify(value)} as a ${kind}`, () => {
      const scheme = new KeyScheme({ className: 'A', kind, properties: ['id'], types: { id: kind }, tenant: false })
      expect(code(() => scheme.toKey(value))).to.equal('SKEIN_2101')
    })
  }

  it('take parts as well as the finished key, where a template makes them', () => {
    expect(order.toKey({ tenant: 'acme', orderId: 5 })).to.equal('tenant:acme:order:5')
    expect(order.toKey('tenant:acme:order:5')).to.equal('tenant:acme:order:5')
    expect(code(() => order.toKey('order:5'))).to.equal('SKEIN_2103')
    expect(code(() => order.toKey({ orderId: 5 }))).to.equal('SKEIN_2102')
  })
})

describe('a tenant', () => {
  it('given to the session fills the template', () => {
    expect(order.toKey({ orderId: 5 }, 'acme')).to.equal('tenant:acme:order:5')
  })

  it('is put in front of the key of a class without a placeholder for it', () => {
    expect(note.toKey(5, 'acme')).to.equal(5)
    expect(note.toStored(5, 'acme')).to.equal('acme:5')
    expect(note.fromStored('acme:5', 'acme')).to.equal(5)
  })

  it('is needed by classes that belong to tenants', () => {
    expect(code(() => note.toStored(5))).to.equal('SKEIN_2105')
    expect(code(() => note.toStored(5, ''))).to.equal('SKEIN_2105')
  })

  it('refuses keys of another tenant wherever they come from', () => {
    expect(code(() => order.toKey({ tenant: 'other', orderId: 5 }, 'acme'))).to.equal('SKEIN_2104')
    expect(code(() => order.toKey('tenant:other:order:5', 'acme'))).to.equal('SKEIN_2104')
    expect(code(() => order.toStored('tenant:other:order:5', 'acme'))).to.equal('SKEIN_2104')
    expect(code(() => order.fromStored('tenant:other:order:5', 'acme'))).to.equal('SKEIN_2104')
    expect(code(() => note.fromStored('other:5', 'acme'))).to.equal('SKEIN_2104')
  })

  it('leaves classes that are shared by all tenants alone', () => {
    expect(user.toStored(5, 'acme')).to.equal(5)
    expect(user.fromStored(5, 'acme')).to.equal(5)
  })

  it('never lets one tenant’s key be another’s (property)', () => {
    const name = fc.string({ minLength: 1 })
    const text = new KeyScheme({
      className: 'A',
      kind: 'string',
      properties: ['id'],
      types: { id: 'string' },
      tenant: true,
    })
    fc.assert(
      fc.property(name, name, name, name, (tenantA, keyA, tenantB, keyB) => {
        const [a, b] = [text.toStored(keyA, tenantA), text.toStored(keyB, tenantB)]
        expect(a === b).to.equal(tenantA === tenantB && keyA === keyB)
        expect(text.fromStored(a, tenantA)).to.equal(keyA)
      }),
    )
  })
})
