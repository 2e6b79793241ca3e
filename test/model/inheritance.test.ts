import {
  AfterLoad,
  BeforeSave,
  Bin,
  Index,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  collection,
  compileModel,
  ref,
} from 'skein'
import { expect } from 'chai'
import { expectProblem } from './problems-of.js'

abstract class Stored {
  @Key() id!: number
  @Bin() note!: string
  @BeforeSave() stamp() {}
}

describe('inheritance', () => {
  it('reports a wrong property once, at the class that declares it', () => {
    abstract class Base {
      @Key() id!: number
      @Bin() list!: string[]
    }
    @Record({ set: 'a' })
    class A extends Base {}
    @Record({ set: 'b' })
    class B extends Base {}
    expectProblem([A, B], 'SKEIN_1021', 'Base.list', /an array/, /list/)
  })

  it('takes over the properties and hooks of a base class that is not a record', () => {
    @Record({ set: 'a' })
    class A extends Stored {
      @Bin() name!: string
      @AfterLoad() ready() {}
    }
    @Record({ set: 'b' })
    class B extends Stored {
      @Bin({ name: 'remark' }) override note: string = ''
    }
    const model = compileModel([A, B], { namespace: 'test' })
    const bins = (target: typeof A | typeof B) => model.entity(target).properties.map(({ bin }) => bin)
    expect(bins(A)).to.deep.equal(['id', 'note', 'name'])
    expect(bins(B)).to.deep.equal(['id', 'remark'])
    expect(model.entity(A).hooks).to.deep.include({ beforeSave: ['stamp'], afterLoad: ['ready'] })
    expect(model.entity(B).hooks.afterLoad).to.deep.equal([])
  })

  it('tells the classes of one set apart by a discriminator', () => {
    @Record({ set: 'animal', ttl: 60, discriminator: 'kind' })
    abstract class Animal extends Stored {
      @Index() @Bin() name!: string
      @ManyToOne(() => Owner, 'animals') owner = ref<Owner>()
    }
    @Record({ discriminatorValue: 'dog' })
    class Dog extends Animal {
      @Bin() breed!: string
    }
    @Record({ discriminatorValue: 'puppy' })
    class Puppy extends Dog {}
    @Record({ discriminatorValue: 'cat' })
    class Cat extends Animal {}
    @Record({ set: 'owner' })
    class Owner {
      @Key() id!: number
      @OneToMany(() => Animal, 'owner') animals = collection<Animal>()
    }
    const model = compileModel([Animal, Dog, Puppy, Cat, Owner], { namespace: 'test' })
    expect(model.entity(Animal).discriminator).to.deep.equal({
      bin: 'kind',
      subclasses: [
        { value: 'dog', entity: 'Dog' },
        { value: 'puppy', entity: 'Puppy' },
        { value: 'cat', entity: 'Cat' },
      ],
    })
    expect(model.entity(Dog).discriminator).to.deep.equal({
      bin: 'kind',
      value: 'dog',
      subclasses: [
        { value: 'dog', entity: 'Dog' },
        { value: 'puppy', entity: 'Puppy' },
      ],
    })
    expect(model.entity(Puppy)).to.deep.include({ base: 'Dog', set: 'animal', ttl: { seconds: 60, onUpdate: 'keep' } })
    expect(model.entity(Puppy).properties.map(({ name }) => name)).to.deep.equal(['id', 'note', 'name', 'breed'])
    expect(model.entity(Puppy).relations[0]).to.include({ name: 'owner', target: 'Owner', inverse: 'animals' })
    expect(model.describe()).to.include("'kind' is puppy; loads puppy = Puppy").and.include('(abstract)')
  })

  it('gives a subclass with a set of its own records of its own', () => {
    @Record({ set: 'animal', discriminator: 'kind', discriminatorValue: 'animal', sendKey: true })
    class Animal extends Stored {}
    @Record({ set: 'dog' })
    class Dog extends Animal {}
    const model = compileModel([Animal, Dog], { namespace: 'test' })
    expect(model.entity(Dog)).to.include({ set: 'dog', sendKey: true }).and.not.have.any.keys('discriminator', 'base')
    expect(model.entity(Animal).discriminator?.subclasses).to.have.length(1)
  })
})
