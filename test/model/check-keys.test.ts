import { Bin, Embeddable, Embedded, Key, ManyToOne, Record, compileModel, ref } from 'skein'
import { expect } from 'chai'
import { expectProblem } from './problems-of.js'

describe('a model with a wrong key is refused', () => {
  it('when a record has none', () => {
    @Record({ set: 'agent' })
    class Agent {
      @Bin() name!: string
    }
    expectProblem([Agent], 'SKEIN_1001', 'Agent', /no key/, /@Key\(\)/)
  })

  it('when a record has two', () => {
    @Record({ set: 'agent' })
    class Agent {
      @Key() id!: number
      @Key() other!: number
    }
    expectProblem([Agent], 'SKEIN_1002', 'Agent.other', /second @Key, beside id/, /'\{id\}:\{other\}'/)
  })

  it('when a @Key is not in the template', () => {
    @Record({ set: 'order', key: '{tenant}:{no}' })
    class Order {
      @Key() id!: number
      @Bin() tenant!: string
      @Bin() no!: number
    }
    expectProblem([Order], 'SKEIN_1002', 'Order.id', /the template '\{tenant\}:\{no\}'/, /\{id\}/)
  })

  it('when its type cannot be a key', () => {
    @Record({ set: 'agent' })
    class Agent {
      @Key({ type: 'double' as 'int' }) id!: number
    }
    expectProblem([Agent], 'SKEIN_1003', 'Agent.id', /double cannot be a key/, /string, an integer/)
  })

  it('when a template is malformed', () => {
    @Record({ set: 'order', key: '{tenant}{no}' })
    class Order {
      @Bin() tenant!: string
      @Bin() no!: number
    }
    expectProblem([Order], 'SKEIN_1004', 'Order', /need a delimiter/, /option key/)
  })

  it('when a template prints a property in a way its type does not allow', () => {
    @Record({ set: 'order', key: '{tenant|YYYY}:{flag|YYYY}' })
    class Order {
      @Bin() tenant!: string
      @Bin() flag!: boolean
    }
    expectProblem([Order], 'SKEIN_1004', 'Order', /\{flag\}.*boolean/, /option key/)
  })

  it('when a template names an unknown property', () => {
    @Record({ set: 'order', key: 'order:{tenat}:{no}' })
    class Order {
      @Bin() tenant!: string
      @Bin() no!: number
    }
    expectProblem([Order], 'SKEIN_1005', 'Order', /names \{tenat\}/, /Did you mean 'tenant'\?/)
  })

  it('when a template names a property that cannot be part of a key', () => {
    @Record({ set: 'order', key: '{data}' })
    class Order {
      @Bin({ type: 'json' }) data!: object
    }
    expectProblem([Order], 'SKEIN_1003', 'Order.data', /cannot be part of a key/, /string, int/)
  })

  it('when a part names a parent that is not in its template', () => {
    @Embeddable({ key: '{regionId}:{storeId}', parent: 'region' })
    class Store {
      @Bin() regionId!: string
      @Bin() storeId!: string
    }
    @Record({ set: 'region' })
    class Region {
      @Key() id!: string
      @Embedded(() => Store) store?: Store
    }
    expectProblem([Region], 'SKEIN_1005', 'Store', /parent: 'region'/, /Did you mean 'regionId'\?/)
  })

  it('when it cannot be generated', () => {
    @Record({ set: 'a' })
    class NumberKey {
      @Key({ generate: 'uuid' }) id!: number
    }
    expectProblem([NumberKey], 'SKEIN_1006', 'NumberKey.id', /uuid is a string, and the key is int/, /string/)

    @Record({ set: 'b' })
    class UnknownWay {
      @Key({ generate: 'random' as 'uuid' }) id!: string
    }
    expectProblem([UnknownWay], 'SKEIN_1006', 'UnknownWay.id', /'random'/, /'uuid', 'sortable'/)

    @Record({ set: 'c' })
    class UnknownPart {
      @Key({ generate: { hash: ['emial'] } }) id!: string
      @Bin() email!: string
    }
    expectProblem([UnknownPart], 'SKEIN_1006', 'UnknownPart.id', /names 'emial'/, /Did you mean 'email'\?/)

    @Record({ set: 'e' })
    class WrongPart {
      @Key({ generate: { hash: ['data'] } }) id!: string
      @Bin({ type: 'json' }) data!: object
    }
    expectProblem([WrongPart], 'SKEIN_1006', 'WrongPart.id', /'data'.*can be part of a key/, /string, int/)

    @Record({ set: 'd' })
    class WrongHashType {
      @Key({ generate: { hash: ['email'] } }) id!: bigint
      @Bin() email!: string
    }
    expectProblem([WrongHashType], 'SKEIN_1006', 'WrongHashType.id', /the key is bigint/, /string/)
  })
})

describe('the key of a model', () => {
  it('takes its type from reflection or from the decorator', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
    }
    @Record({ set: 'b' })
    class B {
      @Key({ type: 'bytes', generate: { hash: ['name'] } }) id!: Uint8Array
      @Bin() name!: string
    }
    const model = compileModel([A, B], { namespace: 'test' })
    expect(model.entity(A).key).to.deep.equal({ kind: 'int', storedKind: 'int', properties: ['id'], tenant: false })
    expect(model.entity(B).key).to.deep.equal({
      kind: 'bytes',
      storedKind: 'bytes',
      properties: ['id'],
      generate: { hash: ['name'] },
      tenant: false,
    })
  })

  it('may be a template over properties, a date and the key of a parent', () => {
    @Record({ set: 'sensor' })
    class Sensor {
      @Key() id!: number
    }
    @Record({ set: 'day', key: 'sensor:{sensor}:{day|YYYY-MM-DD}', tenant: true })
    class SensorDay {
      @ManyToOne(() => Sensor) sensor = ref<Sensor>()
      @Bin() day!: Date
      @Bin() readings!: number
    }
    const { key, properties } = compileModel([Sensor, SensorDay], { namespace: 'test' }).entity(SensorDay)
    expect(key).to.deep.equal({
      kind: 'string',
      storedKind: 'string',
      properties: ['sensor', 'day'],
      template: 'sensor:{sensor}:{day|YYYY-MM-DD}',
      parent: 'sensor',
      tenant: true,
    })
    expect(properties.map(({ name, role }) => [name, role])).to.deep.equal([
      ['day', 'key'],
      ['readings', 'plain'],
    ])
  })
})
